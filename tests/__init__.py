"""Tests: reference engines, conformance, properties, adapters."""
