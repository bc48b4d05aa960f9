"""What a query means: expressions, plan nodes, and the reference evaluator that defines them."""
