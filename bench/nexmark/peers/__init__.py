"""The engines that Penstock is measured beside: their queries, and the process of each."""
