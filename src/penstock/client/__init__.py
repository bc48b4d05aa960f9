"""A service in Python: its sources, its views and their changes. Needs neither Spark nor Java.

    client = Client("http://127.0.0.1:8420", token)
    client.source("bids").append([{"auction": 1, "price": 20}], batch="loader/1")
    for update in client.view("highest").subscribe():
        ...

client ─ requests      what is asked, and errors as they are told
subscription           following a view: again and again, from where it was
answers                what is answered
"""

from penstock.client.answers import (
    Appended,
    Changes,
    Page,
    Progress,
    Row,
    Rows,
    Snapshot,
    SourceInfo,
    Status,
    Update,
    ViewInfo,
)
from penstock.client.client import Client, Source, View
from penstock.client.requests import ServiceError

__all__ = [
    "Appended",
    "Changes",
    "Client",
    "Page",
    "Progress",
    "Row",
    "Rows",
    "ServiceError",
    "Snapshot",
    "Source",
    "SourceInfo",
    "Status",
    "Update",
    "View",
    "ViewInfo",
]
