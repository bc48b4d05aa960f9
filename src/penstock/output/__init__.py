"""How answers go out: what views are, their readers, the data source, and sinks."""
