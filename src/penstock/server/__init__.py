"""A pipeline as a service: its sources, views, changes and metrics over HTTP.

settings ─ tokens ─ guard       who may ask what, from where, and how much
service ─ http                  a session that runs in the background, and the server beside it
problems ─ encoding             what goes wrong and what is answered, as it is sent
positions ─ changefeed          the changes of a view, read once for all that follow it
api ─ app                       the paths, by what they are about
metrics ─ logs                  what can be seen from outside

Law: the event loop never waits for the session. All that asks a session runs in threads, whose
number is bounded, and holds no lock that a step waits for.
"""

from penstock.server.http import Server
from penstock.server.logs import write_logs
from penstock.server.service import Service
from penstock.server.settings import Settings, load
from penstock.server.tokens import Tokens, load_tokens

__all__ = [
    "Server",
    "Service",
    "Settings",
    "Tokens",
    "load",
    "load_tokens",
    "write_logs",
]
