"""Whether a query can be evaluated in bounded memory, and what happens if not.

The theory: select-project-join queries and aggregates over streams.

query        select-project-join and aggregate queries
joins        joins that need memory, in closed form; MaxRef and MinRef
self_joins   redundant occurrences of a stream, and its orders
check        the verdict on a query              verdict      the verdict as data
witness      prefixes nobody can forget

Plans and queries: what users ask about.

values       how many values columns take        cardinality  how many records there are at a time
operators    one operator at a time              blocks       parts of plans for the theory
theory       its verdict on a block, in words    plans        the verdict on a plan
report       verdicts, printed                   repairs      queries like it that are bounded
check_context  what a query is judged against    api          penstock.check

Summaries: what bounded joins run on.

products     products of streams in words of the theory
joined       what is implied of them             summaries    what to keep of each stream
rankings     which rows are enough
"""
