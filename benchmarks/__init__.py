"""Measurements: throughput, start-up, the goals, and the C yardstick they are held against."""
