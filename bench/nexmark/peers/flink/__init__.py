"""Apache Flink: SQL in streaming mode."""
