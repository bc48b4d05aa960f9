"""Whether a query can be evaluated in bounded memory, and what happens if not.

predicates   atoms between attributes and integers      domains      other values as integers
closure      what a conjunction implies                 conditions   disjunctions as disjoint parts
query        select-project-join and aggregate queries  references   MaxRef and MinRef
growth       joins that need memory, in closed form     folding      redundant self-joined streams
check        the verdict on a query                     aggregation  the verdict with aggregates
verdict      the verdict as data                        witness      prefixes nobody can forget
enumeration  the check by definition, exponential       evaluate     answers by brute force
"""
