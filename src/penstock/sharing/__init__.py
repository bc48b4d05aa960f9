"""What is contained in what: queries answered from the views that run already.

    views                which views a query reads, and the plan that is left
    matching             rows from rows, groups from rows, larger groups from smaller ones
    expression_matching  expressions from the columns that there are
    join_order           the order of joins

After "SyncSQL", sections 4.3 and 5. The worst that could happen here is a match that is none: a
query is answered from a view only where the answer is known to be the same at all times.
"""

from penstock.sharing.views import Running, Shared, Sharing, leaf_name

__all__ = ["Running", "Shared", "Sharing", "leaf_name"]
