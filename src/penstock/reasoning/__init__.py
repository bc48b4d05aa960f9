"""What follows from what plans and conditions say: asked by rewriting, sharing and memory alike.

products      queries as selections of products of relations, and groups of them
identity      what a plan says, as a short name
points        points of synchronization and their subsets
implication   what follows from conditions on records
closure       what follows from comparisons of integers
conditions    predicates as such comparisons, and as disjoint conjunctions of them
printing      expressions as text
to_sql        plans as SQL

What time and punctuations close is said by operators, in `penstock.algebra.closing`.
"""
