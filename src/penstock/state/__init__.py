"""What an operator remembers: sweep areas of immutable sorted runs, in memory or in files."""
