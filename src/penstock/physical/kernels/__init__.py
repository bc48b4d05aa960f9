"""One file per kernel: pure functions of (state tables, deltas, step) to (output, writes).

Each file opens with what the operator means, the law it obeys, what it remembers and what it costs.
Kernels know neither Spark nor files; whoever hosts them brings time, state and tasks.
"""
