"""Files that come to a source: read in tasks, record by record, taken exactly or rejected."""
