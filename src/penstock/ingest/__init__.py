"""How rows come in: sources and their formats, what is late or rejected, how far time has come."""
