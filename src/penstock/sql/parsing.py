"""From text to statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from penstock.errors import ParseError, SqlContext
from penstock.sql.dialect import Penstock
from penstock.sql.statement_parser import StatementParser
from penstock.sql.statements import Output, Statement
from penstock.sql.text import closest
from penstock.sql.word_parser import UnexpectedTokenError

# words that a query is built of, and that a misspelt word may have been meant to be
SKELETON = (
    *("BETWEEN", "CROSS JOIN", "DISTINCT", "EMIT", "EXCEPT", "FROM", "FULL JOIN", "GROUP BY"),
    *("HAVING", "INNER JOIN", "INTERSECT", "JOIN", "LATERAL", "LEFT JOIN", "LIMIT", "ORDER BY"),
    *("RIGHT JOIN", "SYNC BY", "UNION", "USING", "WHERE"),
)
BY_FIRST_WORD = {phrase.split()[0]: phrase for phrase in SKELETON}

MOST_NESTED = 64
"""How many brackets, calls, queries and CASEs may be open at once."""
OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE)
CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END)
PREFIXES = (TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE)
MOST_DIGITS = 400
NOT_TEXT = re.compile("[\ud800-\udfff\0]")

UNCLOSED = {
    "'": "This string does not end: close it with '.",
    '"': 'This string does not end: close it with ".',
    "`": "This name does not end: close it with `.",
    "/": "This comment does not end: close it with */.",
}


def parse(sql: str) -> list[Statement]:
    """The statements of a text, in order; they are separated by semicolons."""
    if found := NOT_TEXT.search(sql):
        raise ParseError(
            f"The character {found[0]!r} is no part of a text. Leave it out, or write what it "
            "was read from in its right encoding.",
            context=SqlContext(sql, found.start(), found.end()),
        )
    dialect = Penstock()
    statements = list(_split(_tokenize(sql, dialect)))
    for tokens in statements:
        _check_nesting(tokens, sql)
    return [_parse_one(tokens, sql, dialect) for tokens in statements]


def _check_nesting(tokens: Sequence[Token], sql: str) -> None:
    """What is nested is read, bound and printed by functions that call themselves."""
    depth = prefixes = 0
    for token in tokens:
        kind = token.token_type
        prefixes = prefixes + 1 if kind in PREFIXES else 0
        depth += (kind in OPENING) - (kind in CLOSING and depth > 0)
        if depth + prefixes > MOST_NESTED:
            raise ParseError(
                f"This is nested too deeply: {depth + prefixes} brackets, CASEs or signs are open, "
                f"and {MOST_NESTED} is the most. Make parts of it views, or queries in WITH.",
                context=SqlContext(sql, token.start, token.end + 1),
            )


def _tokenize(sql: str, dialect: Penstock) -> list[Token]:
    tokenizer = dialect.tokenizer()
    try:
        tokens = tokenizer.tokenize(sql)
    except TokenError as error:
        start = tokenizer._core._start
        message = UNCLOSED.get(sql[start], f"This cannot be read: {error.__cause__}.")
        raise ParseError(message, context=SqlContext(sql, start, len(sql))) from None
    for token in tokens:
        if token.token_type == TokenType.NUMBER and len(token.text) > MOST_DIGITS:
            raise ParseError(
                f"This number has {len(token.text):,} digits. DECIMAL has 38 at most, and the "
                "largest DOUBLE is 1.8e308.",
                context=SqlContext(sql, token.start, token.end + 1),
            )
    for token, following in pairwise(tokens):
        if token.token_type == TokenType.WINDOW and following.token_type == TokenType.L_PAREN:
            token.token_type = TokenType.VAR  # Spark's function, not the clause that names windows
    return tokens


def _split(tokens: list[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens:
        if token.token_type != TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _parse_one(tokens: list[Token], sql: str, dialect: Penstock) -> Statement:
    parser = StatementParser(dialect=dialect)
    try:
        return parser.parse_tokens(tokens, sql)
    except UnexpectedTokenError as error:
        raise _translated(error, tokens, parser) from None
    except TokenError:  # hints are tokenized when they are read
        hint = next((t for t in tokens if t.token_type == TokenType.HINT), tokens[0])
        context = SqlContext(sql, hint.start, hint.end + 1)
        raise ParseError("This hint cannot be read. Leave it out.", context=context) from None
    except RecursionError:
        context = SqlContext(sql, tokens[0].start, tokens[-1].end + 1)
        message = "This is nested too deeply. Make parts of it views, or queries in WITH."
        raise ParseError(message, context=context) from None


def _translated(
    error: UnexpectedTokenError, tokens: list[Token], parser: StatementParser
) -> ParseError:
    """What sqlglot says, in the words of this language, at the word that may be misspelt."""
    token, said = error.token, error.description
    found = f"Found {parser.found(token)}"
    if said.startswith("Invalid expression"):
        message = f"{found}, expected the next clause or the end of the statement."
    elif said.startswith("Expected table name"):
        message = f"{found}, expected the name of a table, stream or view."
    elif said.startswith("Required keyword"):
        message = f"{found}, expected an expression."
    elif said.startswith(("Expected", "Expecting")):
        message = f"{found}, expected {said.split(maxsplit=1)[1].replace('TYPE', 'a type')}."
    else:
        message = f"{said}."
    if many := re.match(r"The number of provided arguments \((\d+)\).*arguments \((\d+)\)", said):
        message = f"This function takes {many[2]} at most, and {many[1]} arguments are given."
    place = parser.span(token)
    index = tokens.index(token) if token else len(tokens)
    for suspect in reversed(tokens[max(0, index - 1) : index + 1]):
        meant = closest(suspect.text, BY_FIRST_WORD, cutoff=0.7)
        if meant and suspect.token_type == TokenType.VAR and suspect.text.upper() not in SKELETON:
            message += f" Did you mean {BY_FIRST_WORD[meant]} instead of {suspect.text}?"
            place = parser.span(suspect)
            break
    for before, word in pairwise(tokens[max(0, index - 3) : index]):
        output = closest(word.text, Output, cutoff=0.75)
        if before.token_type == TokenType.SELECT and word.token_type == TokenType.VAR and output:
            message += f" Did you mean SELECT {output} instead of {word.text}?"
            place = parser.span(word)
    return ParseError(message, context=SqlContext(parser.sql, place.start, place.end))
