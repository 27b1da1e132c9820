"""Slow, plain engines written from the rulebook alone, to check the fast ones against."""
