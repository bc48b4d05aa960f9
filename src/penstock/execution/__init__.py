"""What tasks do: the operators of a step over files, and the expressions that Spark evaluates."""
