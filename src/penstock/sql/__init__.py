"""What users say: text becomes statements, statements become plans, and both become text again.

    text ── parsing ── statements ── rendering ── text
               │                         │
               └── dialect ──────────────┘
                      │
                      └── statement_parser ── query_parser ── pipe_parser ── word_parser

The only room that knows sqlglot.
"""

from penstock.sql.parsing import parse
from penstock.sql.rendering import to_sql

__all__ = ["parse", "to_sql"]
