"""Pathway: its queries are functions of tables."""
