"""What runs: the engine with its log and locks, the step loop, maintenance, Spark."""
