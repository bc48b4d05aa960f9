"""Running on Spark: start-up, ingest, advance, sinks."""
