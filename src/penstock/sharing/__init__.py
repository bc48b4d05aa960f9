"""What is contained in what: queries answered from the views that run already.

    planning     which views a query reads, and the plan that is left
    answering    rows from rows, groups from rows, larger groups from smaller ones
    matching     the conditions, windows and points that are left to see to
    deriving     expressions from the columns that there are
    facts        what follows from conditions
    form         queries in a form in which they can be compared
    points       points of synchronization and their subsets

After "SyncSQL", sections 4.3 and 5. The worst that could happen here is a match that is none: a
query is answered from a view only where the answer is known to be the same at all times.
"""

from penstock.sharing.planning import Running, Shared, Sharing, leaf_name

__all__ = ["Running", "Shared", "Sharing", "leaf_name"]
