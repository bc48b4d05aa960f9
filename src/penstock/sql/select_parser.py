"""The clauses of a SELECT: each once, in its place; GROUP BY in all spellings; EMIT at the end."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from penstock.sql.pipe_parser import PipeParser
from penstock.sql.statements import Emit
from penstock.sql.text import one_of

CLAUSES = (
    {TokenType.WHERE},
    {TokenType.GROUP_BY},
    {TokenType.HAVING},
    {TokenType.QUALIFY, TokenType.WINDOW},
    {
        TokenType.CLUSTER_BY,
        TokenType.DISTRIBUTE_BY,
        TokenType.ORDER_BY,
        TokenType.SORT_BY,
        TokenType.WINDOW,
    },
    {TokenType.FETCH, TokenType.LIMIT, TokenType.OFFSET},
)
"""In their order; those of one place in any."""
Modifier: t.TypeAlias = Callable[..., tuple[str, t.Any]]


def _in_its_place(parse: Modifier) -> Modifier:
    def parsed(self: SelectParser) -> tuple[str, t.Any]:
        self._check_place()
        return parse(self)

    return parsed


class SelectParser(PipeParser):
    QUERY_MODIFIER_PARSERS: t.ClassVar = {
        kind: _in_its_place(parse) for kind, parse in PipeParser.QUERY_MODIFIER_PARSERS.items()
    }

    def reset(self) -> None:
        self._read: list[list[Token]] = []
        """The clauses so far of each query around this place."""
        self._keys_end = -1
        """Where WITH ROLLUP or GROUP BY ALL has ended the keys."""
        super().reset()

    def _parse_query_modifiers(self, this: t.Any) -> t.Any:
        self._read.append([])
        try:
            query = super()._parse_query_modifiers(this)
        finally:
            self._read.pop()
        if isinstance(query, exp.Query) and self._at_emit():
            emit = self._curr
            self._advance()
            if not self._match_texts(Emit.__members__):
                self.complain(one_of(Emit), among=Emit)
            if query.args.get("emit"):
                self.refuse("EMIT stands once, at the end of the query.", emit)
            query.set("emit", exp.var(self._prev.text.upper()).update_positions(emit))
        return query

    def _check_place(self) -> None:
        """A clause that stands after one that is carried out later could be read in two ways."""
        clause, read = self._curr, self._read[-1]
        place = 0
        for token in (*read, clause):
            later = [i for i in range(place, len(CLAUSES)) if token.token_type in CLAUSES[i]]
            if later:
                place = later[0]
            elif any(token.token_type in kinds for kinds in CLAUSES):
                before, word = read[-1].text.upper(), clause.text.upper()
                self.refuse(
                    f"{word} stands before {before}. Change their order; or, for a {word} of what "
                    f"{before} leaves, write SELECT * FROM (... {before} ...) {word} ..."
                )
        read.append(clause)

    def _at_emit(self) -> bool:
        return self._next.token_type in (TokenType.VAR, TokenType.FINAL) and self.at_words("EMIT")

    # GROUP BY

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        around, self._keys_end = self._keys_end, -1
        if self._curr.token_type == TokenType.GROUP_BY and self._next.token_type == TokenType.ALL:
            self._keys_end = self._index + 2
        group = super()._parse_group(skip_group_by_token)
        end, self._keys_end = self._keys_end, around
        if group is None:
            return None
        if group.args.get("all") is False:
            self.refuse("GROUP BY DISTINCT is not supported. List each grouping set once.")
        if group.args.get("all") and sum(map(bool, group.args.values())) > 1:
            self.refuse("GROUP BY ALL stands alone: it groups by all that is not aggregated.")
        if not any(group.args.values()):
            self.complain("what to group by")
        if -1 < end < self._index:
            word = self._tokens[end - 1].text.upper()
            self.refuse(
                f"WITH {word} is of all keys before it, and ends GROUP BY. Write "
                f"GROUP BY a, {word}(b, c).",
                self._tokens[end],
            )
        return group

    def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
        found = super()._parse_cube_or_rollup(with_prefix)
        if with_prefix and found is not None and self._keys_end < 0:
            self._keys_end = self._index
        return found

    def _parse_disjunction(self) -> exp.Expr | None:
        """After the keys of GROUP BY, EMIT is no column."""
        ended = self._index == self._keys_end and self._at_emit()
        return None if ended else super()._parse_disjunction()
