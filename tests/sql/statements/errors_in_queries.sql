==== FROM misspelt
SELECT a FORM s
----
[PARSE_SYNTAX_ERROR] Found 's', expected the next clause or the end of the statement. Did you mean FROM instead of FORM? SQLSTATE: 42601
== SQL (line 1, position 10) ==
SELECT a FORM s
         ^^^^

==== WHERE misspelt
SELECT a FROM s WERE a > 1
----
[PARSE_SYNTAX_ERROR] Found 'a', expected the next clause or the end of the statement. Did you mean WHERE instead of WERE? SQLSTATE: 42601
== SQL (line 1, position 17) ==
SELECT a FROM s WERE a > 1
                ^^^^

==== GROUP BY misspelt
SELECT a FROM s GRUOP BY a
----
[PARSE_SYNTAX_ERROR] Found 'BY', expected the next clause or the end of the statement. Did you mean GROUP BY instead of GRUOP? SQLSTATE: 42601
== SQL (line 1, position 17) ==
SELECT a FROM s GRUOP BY a
                ^^^^^

==== ORDER without BY
SELECT a FROM s ORDER a
----
[PARSE_SYNTAX_ERROR] Found 'a', expected the next clause or the end of the statement. Did you mean ORDER BY instead of ORDER? SQLSTATE: 42601
== SQL (line 1, position 17) ==
SELECT a FROM s ORDER a
                ^^^^^

==== one word too many
SELECT a b c FROM s
----
[PARSE_SYNTAX_ERROR] Found 'c', expected the next clause or the end of the statement. SQLSTATE: 42601
== SQL (line 1, position 12) ==
SELECT a b c FROM s
           ^

==== no select list
SELECT FROM s
----
[PARSE_SYNTAX_ERROR] Found 'FROM', expected a select list. Write SELECT * for all columns. SQLSTATE: 42601
== SQL (line 1, position 8) ==
SELECT FROM s
       ^^^^

==== no select list after an output
SELECT STREAMED DISTINCT FROM s
----
[PARSE_SYNTAX_ERROR] Found 'FROM', expected a select list. Write SELECT * for all columns. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT STREAMED DISTINCT FROM s
                         ^^^^

==== a comma before FROM
SELECT a, FROM s
----
[PARSE_SYNTAX_ERROR] Found 'FROM', expected an item after the comma. SQLSTATE: 42601
== SQL (line 1, position 11) ==
SELECT a, FROM s
          ^^^^

==== a comma in a function
SELECT f(a, ) FROM s
----
[PARSE_SYNTAX_ERROR] Found ')', expected an item after the comma. SQLSTATE: 42601
== SQL (line 1, position 13) ==
SELECT f(a, ) FROM s
            ^

==== no table
SELECT a FROM
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected the name of a table, stream or view. SQLSTATE: 42601
== SQL (line 1, position 14) ==
SELECT a FROM
             ^

==== no table after JOIN
SELECT a FROM s JOIN
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected the name of a table, stream or view. SQLSTATE: 42601
== SQL (line 1, position 21) ==
SELECT a FROM s JOIN
                    ^

==== no condition
SELECT a FROM s WHERE
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected an expression. SQLSTATE: 42601
== SQL (line 1, position 22) ==
SELECT a FROM s WHERE
                     ^

==== no condition before the next clause
SELECT a FROM s WHERE GROUP BY a
----
[PARSE_SYNTAX_ERROR] Found 'GROUP BY', expected an expression. SQLSTATE: 42601
== SQL (line 1, position 23) ==
SELECT a FROM s WHERE GROUP BY a
                      ^^^^^^^^

==== nothing to group by
SELECT a FROM s GROUP BY
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected what to group by. SQLSTATE: 42601
== SQL (line 1, position 25) ==
SELECT a FROM s GROUP BY
                        ^

==== nothing to order by
SELECT a FROM s ORDER BY
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected an expression. SQLSTATE: 42601
== SQL (line 1, position 25) ==
SELECT a FROM s ORDER BY
                        ^

==== an operator without its right side
SELECT a + FROM s
----
[PARSE_SYNTAX_ERROR] Found 'FROM', expected an expression. SQLSTATE: 42601
== SQL (line 1, position 12) ==
SELECT a + FROM s
           ^^^^

==== a parenthesis that is not closed
SELECT a FROM s WHERE (a > 3
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected ). SQLSTATE: 42601
== SQL (line 1, position 29) ==
SELECT a FROM s WHERE (a > 3
                            ^

==== a parenthesis that is not opened
SELECT a FROM s WHERE a > 3)
----
[PARSE_SYNTAX_ERROR] Found ')', expected the next clause or the end of the statement. SQLSTATE: 42601
== SQL (line 1, position 28) ==
SELECT a FROM s WHERE a > 3)
                           ^

==== CASE without END
SELECT CASE WHEN a THEN b FROM s
----
[PARSE_SYNTAX_ERROR] Found 'FROM', expected END after CASE. SQLSTATE: 42601
== SQL (line 1, position 27) ==
SELECT CASE WHEN a THEN b FROM s
                          ^^^^

==== CAST to what is no type
SELECT CAST(a AS FOO) FROM s
----
[PARSE_SYNTAX_ERROR] Found 'FOO', expected a type after CAST. SQLSTATE: 42601
== SQL (line 1, position 18) ==
SELECT CAST(a AS FOO) FROM s
                 ^^^

==== a string without an end
SELECT a FROM s
WHERE b = 'abc
----
[PARSE_SYNTAX_ERROR] This string does not end: close it with '. SQLSTATE: 42601
== SQL (line 2, position 11) ==
WHERE b = 'abc
          ^^^^

==== a name without an end
SELECT `a FROM s
----
[PARSE_SYNTAX_ERROR] This name does not end: close it with `. SQLSTATE: 42601
== SQL (line 1, position 8) ==
SELECT `a FROM s
       ^^^^^^^^^

==== a comment without an end
SELECT a /* the first
FROM s
----
[PARSE_SYNTAX_ERROR] This comment does not end: close it with */. SQLSTATE: 42601
== SQL (line 1, position 10) ==
SELECT a /* the first
         ^^^^^^^^^^^^

==== two WHERE clauses
SELECT a FROM s WHERE a > 1 WHERE b > 1
----
[PARSE_SYNTAX_ERROR] Found multiple 'WHERE' clauses. SQLSTATE: 42601
== SQL (line 1, position 29) ==
SELECT a FROM s WHERE a > 1 WHERE b > 1
                            ^^^^^

==== ALL and DISTINCT
SELECT STREAMED ALL DISTINCT a FROM s
----
[PARSE_SYNTAX_ERROR] A SELECT is either ALL or DISTINCT. SQLSTATE: 42601
== SQL (line 1, position 21) ==
SELECT STREAMED ALL DISTINCT a FROM s
                    ^^^^^^^^

==== STREAMED within a query
SELECT a FROM (SELECT STREAMED a FROM s)
----
[PARSE_SYNTAX_ERROR] STREAMED is said of a whole query, not of one within it: leave it out. SQLSTATE: 42601
== SQL (line 1, position 23) ==
SELECT a FROM (SELECT STREAMED a FROM s)
                      ^^^^^^^^

==== COMPLETE in a common table expression
WITH x AS (SELECT COMPLETE a FROM s) SELECT a FROM x
----
[PARSE_SYNTAX_ERROR] COMPLETE is said of a whole query, not of one within it: leave it out. SQLSTATE: 42601
== SQL (line 1, position 19) ==
WITH x AS (SELECT COMPLETE a FROM s) SELECT a FROM x
                  ^^^^^^^^

==== an output in the second part of a union
SELECT a FROM s UNION ALL SELECT ISTREAM a FROM t
----
[PARSE_SYNTAX_ERROR] ISTREAM stands after the first SELECT and is said of the whole. To say it of one part, put that part in parentheses. SQLSTATE: 42601
== SQL (line 1, position 34) ==
SELECT a FROM s UNION ALL SELECT ISTREAM a FROM t
                                 ^^^^^^^

==== EMIT within a query
SELECT a FROM (SELECT a FROM s EMIT FINAL)
----
[PARSE_SYNTAX_ERROR] EMIT stands at the end of the whole query. To read what an inner query emits, make it a view. SQLSTATE: 42601
== SQL (line 1, position 32) ==
SELECT a FROM (SELECT a FROM s EMIT FINAL)
                               ^^^^

==== EMIT misspelt
SELECT a FROM s EMIT FINEL
----
[PARSE_SYNTAX_ERROR] Found 'FINEL', expected CHANGES or FINAL. Did you mean FINAL? SQLSTATE: 42601
== SQL (line 1, position 22) ==
SELECT a FROM s EMIT FINEL
                     ^^^^^

==== EMIT something else
SELECT a FROM s EMIT ROWS
----
[PARSE_SYNTAX_ERROR] Found 'ROWS', expected the next clause or the end of the statement. SQLSTATE: 42601
== SQL (line 1, position 22) ==
SELECT a FROM s EMIT ROWS
                     ^^^^

==== EMIT twice
SELECT a FROM s EMIT FINAL EMIT CHANGES
----
[PARSE_SYNTAX_ERROR] EMIT stands once, at the end of the query. SQLSTATE: 42601
== SQL (line 1, position 28) ==
SELECT a FROM s EMIT FINAL EMIT CHANGES
                           ^^^^

==== an insertion after WITH
WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x
----
[PARSE_SYNTAX_ERROR] Only a query may follow WITH. SQLSTATE: 42601
== SQL (line 1, position 1) ==
WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== the second statement of a text
CREATE SOURCE s (a INT);
-- the view
CREATE VIEW v AS
  SELECT a FROM s
  WERE a > 3;
SHOW VIEWS
----
[PARSE_SYNTAX_ERROR] Found 'a', expected the next clause or the end of the statement. Did you mean WHERE instead of WERE? SQLSTATE: 42601
== SQL (line 5, position 3) ==
  WERE a > 3;
  ^^^^

==== NOW of something
SELECT NOW(a) FROM s
----
[PARSE_SYNTAX_ERROR] Found 'a', expected ) after NOW(. SQLSTATE: 42601
== SQL (line 1, position 12) ==
SELECT NOW(a) FROM s
           ^

==== a comma after the last table
SELECT a FROM s, WHERE a > 1
----
[PARSE_SYNTAX_ERROR] Found 'WHERE', expected the name of a table, stream or view. SQLSTATE: 42601
== SQL (line 1, position 18) ==
SELECT a FROM s, WHERE a > 1
                 ^^^^^

==== ON and nothing
SELECT a FROM s JOIN t ON
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected the condition of the join. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT a FROM s JOIN t ON
                         ^

==== IN and nothing
SELECT a FROM s WHERE a IN
----
[PARSE_SYNTAX_ERROR] IN needs a list that is not empty, or a query. SQLSTATE: 42601
== SQL (line 1, position 25) ==
SELECT a FROM s WHERE a IN
                        ^^

==== IN an empty list
SELECT a FROM s WHERE a IN ()
----
[PARSE_SYNTAX_ERROR] IN needs a list that is not empty, or a query. SQLSTATE: 42601
== SQL (line 1, position 29) ==
SELECT a FROM s WHERE a IN ()
                            ^

==== STREAMED after DISTINCT
SELECT DISTINCT STREAMED a FROM s
----
[PARSE_SYNTAX_ERROR] Write STREAMED before DISTINCT. SQLSTATE: 42601
== SQL (line 1, position 17) ==
SELECT DISTINCT STREAMED a FROM s
                ^^^^^^^^

==== a condition after LIMIT
SELECT a FROM s LIMIT 1 WHERE a = 1
----
[PARSE_SYNTAX_ERROR] WHERE stands before LIMIT. Change their order; or, for a WHERE of what LIMIT leaves, write SELECT * FROM (... LIMIT ...) WHERE ... SQLSTATE: 42601
== SQL (line 1, position 25) ==
SELECT a FROM s LIMIT 1 WHERE a = 1
                        ^^^^^

==== groups after HAVING
SELECT a FROM s HAVING a = 1 GROUP BY a
----
[PARSE_SYNTAX_ERROR] GROUP BY stands before HAVING. Change their order; or, for a GROUP BY of what HAVING leaves, write SELECT * FROM (... HAVING ...) GROUP BY ... SQLSTATE: 42601
== SQL (line 1, position 30) ==
SELECT a FROM s HAVING a = 1 GROUP BY a
                             ^^^^^^^^

==== a condition after an order in a query in FROM
SELECT * FROM (SELECT a FROM s ORDER BY a WHERE a = 1)
----
[PARSE_SYNTAX_ERROR] WHERE stands before ORDER BY. Change their order; or, for a WHERE of what ORDER BY leaves, write SELECT * FROM (... ORDER BY ...) WHERE ... SQLSTATE: 42601
== SQL (line 1, position 43) ==
SELECT * FROM (SELECT a FROM s ORDER BY a WHERE a = 1)
                                          ^^^^^

==== a limit before a window
SELECT sum(a) OVER w FROM s LIMIT 3 WINDOW w AS (ORDER BY a)
----
[PARSE_SYNTAX_ERROR] WINDOW stands before LIMIT. Change their order; or, for a WINDOW of what LIMIT leaves, write SELECT * FROM (... LIMIT ...) WINDOW ... SQLSTATE: 42601
== SQL (line 1, position 37) ==
SELECT sum(a) OVER w FROM s LIMIT 3 WINDOW w AS (ORDER BY a)
                                    ^^^^^^

==== a key after WITH ROLLUP
SELECT a, b FROM s GROUP BY a WITH ROLLUP b
----
[PARSE_SYNTAX_ERROR] WITH ROLLUP is of all keys before it, and ends GROUP BY. Write GROUP BY a, ROLLUP(b, c). SQLSTATE: 42601
== SQL (line 1, position 43) ==
SELECT a, b FROM s GROUP BY a WITH ROLLUP b
                                          ^

==== a comma after WITH CUBE
SELECT a, b FROM s GROUP BY a WITH CUBE, b
----
[PARSE_SYNTAX_ERROR] Found ',', expected an item before the comma. SQLSTATE: 42601
== SQL (line 1, position 40) ==
SELECT a, b FROM s GROUP BY a WITH CUBE, b
                                       ^

==== two words of grouping sets
SELECT a, b FROM s GROUP BY a WITH ROLLUP WITH CUBE
----
[PARSE_SYNTAX_ERROR] WITH ROLLUP is of all keys before it, and ends GROUP BY. Write GROUP BY a, ROLLUP(b, c). SQLSTATE: 42601
== SQL (line 1, position 43) ==
SELECT a, b FROM s GROUP BY a WITH ROLLUP WITH CUBE
                                          ^^^^

==== a comma before the first key
SELECT a FROM s GROUP BY , a
----
[PARSE_SYNTAX_ERROR] Found ',', expected an item before the comma. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT a FROM s GROUP BY , a
                         ^

==== a comma before the first column
SELECT , a FROM s
----
[PARSE_SYNTAX_ERROR] Found ',', expected an item before the comma. SQLSTATE: 42601
== SQL (line 1, position 8) ==
SELECT , a FROM s
       ^
