"""How plans run: kernels that do the data work, and the planner that puts them together."""
