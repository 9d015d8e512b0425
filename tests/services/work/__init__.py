"""Tests of background work of any kind."""
