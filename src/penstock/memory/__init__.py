"""Whether a query can be evaluated in bounded memory, and what happens if not.

The theory: select-project-join queries and aggregates over streams.

predicates   atoms between attributes and integers      domains      other values as integers
closure      what a conjunction implies                 conditions   disjunctions as disjoint parts
query        select-project-join and aggregate queries  references   MaxRef and MinRef
growth       joins that need memory, in closed form     folding      redundant self-joined streams
check        the verdict on a query                     aggregation  the verdict with aggregates
verdict      the verdict as data                        witness      prefixes nobody can forget
enumeration  the check by definition, exponential       evaluate     answers by brute force

Plans and queries: what users ask about.

sizes        formulas of what is kept                   spans        for how long a record is needed
translation  predicates of plans for the theory         values       how many values columns take
extents      how many records are there at a time       outcome      verdicts on operators, as data
operators    one operator at a time                     blocks       parts of plans for the theory
theory       its verdict on a block, in words           wording      expressions as users write them
plans        the verdict on a plan                      scene        what a query is judged against
repairs      queries like it that are bounded           report       the verdict, printed
asking       penstock.check

Summaries: what bounded joins run on.

products     plans as products of streams               joined       products in the theory's words
summaries    what to keep of each stream                rankings     which rows are enough
prefixes     witnesses as rows of sources
"""
