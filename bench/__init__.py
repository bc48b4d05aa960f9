"""Measurements, run by hand: `make bench-kernels`."""
