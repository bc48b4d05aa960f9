"""Nexmark: the auction benchmark of this field, as yardstick and end-to-end test."""
