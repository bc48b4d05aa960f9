"""Plain Structured Streaming, on the pyspark of Penstock."""
