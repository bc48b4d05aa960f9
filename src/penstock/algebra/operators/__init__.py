"""What a query can say: one operator in each file, with all that is asked of it."""
