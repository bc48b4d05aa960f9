==== a condition that is a number
SELECT * FROM hot WHERE temp
----
[INVALID_PLAN] A condition is true or false, and this is INT. Compare it with something. SQLSTATE: 42000
== SQL (line 1, position 25) ==
SELECT * FROM hot WHERE temp
                        ^^^^

==== a condition that is text
SELECT * FROM hot WHERE room AND temp > 1
----
[INVALID_PLAN] A condition is true or false, and this is STRING. Compare it with something. SQLSTATE: 42000
== SQL (line 1, position 25) ==
SELECT * FROM hot WHERE room AND temp > 1
                        ^^^^

==== text plus a boolean
SELECT room + true FROM hot
----
[INVALID_PLAN] This operator is for numbers and intervals, not for BOOLEAN. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT room + true FROM hot
       ^^^^

==== a boolean compared with a number
SELECT * FROM doors WHERE open > 5
----
[INVALID_PLAN] BOOLEAN and INT do not go together here. Cast one of them. SQLSTATE: 42000
== SQL (line 1, position 27) ==
SELECT * FROM doors WHERE open > 5
                          ^^^^^^^^

==== an array compared with text
SELECT * FROM items WHERE tags = 'a'
----
[INVALID_PLAN] ARRAY<STRING> and STRING do not go together here. Cast one of them. SQLSTATE: 42000
== SQL (line 1, position 27) ==
SELECT * FROM items WHERE tags = 'a'
                          ^^^^^^^^^^

==== the sum of text
SELECT sum(tags) FROM items
----
[INVALID_PLAN] sum is of numbers, and this is ARRAY<STRING>. SQLSTATE: 42000
== SQL (line 1, position 12) ==
SELECT sum(tags) FROM items
           ^^^^

==== the sum of a boolean
SELECT sum(open) FROM doors
----
[INVALID_PLAN] sum is of numbers, and this is BOOLEAN. SQLSTATE: 42000
== SQL (line 1, position 12) ==
SELECT sum(open) FROM doors
           ^^^^

==== too many arguments
SELECT upper(room, temp) FROM hot
----
[PARSE_SYNTAX_ERROR] This function takes 1 at most, and 2 arguments are given. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT upper(room, temp) FROM hot
                       ^

==== the wrong type of argument
SELECT explode(room) FROM hot
----
[UNSUPPORTED_FEATURE] This makes several rows of one, which is not supported. Explode the rows before they are appended, or join with a table of positions. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT explode(room) FROM hot
       ^^^^^^^^^^^^

==== a field of what has none
SELECT temp.x FROM hot
----
[INVALID_PLAN] INT has no fields: STRUCT, MAP and ARRAY have. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT temp.x FROM hot
       ^^^^^^

==== a cast that cannot be
SELECT CAST(tags AS INT) FROM items
----
[INVALID_PLAN] ARRAY<STRING> cannot be cast to INT. SQLSTATE: 42000
== SQL (line 1, position 13) ==
SELECT CAST(tags AS INT) FROM items
            ^^^^

==== an interval added to a number
SELECT temp + INTERVAL 5 MINUTES FROM hot
----
[INVALID_PLAN] The first operand must be a timestamp, and here it is INT. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT temp + INTERVAL 5 MINUTES FROM hot
       ^^^^

==== branches of different types
SELECT CASE WHEN temp > 1 THEN tags ELSE 1 END FROM items, hot
----
[INVALID_PLAN] All values of CASE have one type, and here they are ARRAY<STRING>, INT. Cast some. SQLSTATE: 42000
== SQL (line 1, position 18) ==
SELECT CASE WHEN temp > 1 THEN tags ELSE 1 END FROM items, hot
                 ^^^^^^^^^^^^^^^^^^^^^^^^^

==== the two sides of a union
SELECT room FROM hot UNION ALL SELECT tags FROM items
----
[INVALID_PLAN] STRING and ARRAY<STRING> cannot be brought together; cast one of them. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT room FROM hot UNION ALL SELECT tags FROM items
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== sides of different width
SELECT room FROM hot UNION SELECT room, temp FROM hot
----
[INVALID_PLAN] The two sides have 1 and 2 columns; they need the same number. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT room FROM hot UNION SELECT room, temp FROM hot
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== keys of different types
SELECT * FROM hot JOIN items ON hot.room = items.tags
----
[INVALID_PLAN] STRING and ARRAY<STRING> cannot be brought together; cast one of them. SQLSTATE: 42000
== SQL (line 1, position 33) ==
SELECT * FROM hot JOIN items ON hot.room = items.tags
                                ^^^^^^^^^^^^^^^^^^^^^

==== IN with the wrong type
SELECT * FROM hot WHERE temp IN (SELECT tags FROM items)
----
[INVALID_PLAN] INT and ARRAY<STRING> cannot be brought together; cast one of them. SQLSTATE: 42000
== SQL (line 1, position 25) ==
SELECT * FROM hot WHERE temp IN (SELECT tags FROM items)
                        ^^^^^^^^^^^^^^^^^^^^

==== VALUES of different length
SELECT * FROM (VALUES (1, 2), (3)) AS v
----
[INVALID_PLAN] The rows of VALUES have 1 or 2 values; all need the same number. SQLSTATE: 42000
== SQL (line 1, position 24) ==
SELECT * FROM (VALUES (1, 2), (3)) AS v
                       ^^^^^^^^^^^^^^^^

==== VALUES that are not constant
SELECT * FROM (VALUES (room)) AS v
----
[INVALID_PLAN] Expected a constant, not column room. SQLSTATE: 42000
== SQL (line 1, position 24) ==
SELECT * FROM (VALUES (room)) AS v
                       ^^^^

==== a limit that is text
SELECT * FROM hot LIMIT 'a'
----
[INVALID_PLAN] LIMIT needs a whole number. SQLSTATE: 42000
== SQL (line 1, position 25) ==
SELECT * FROM hot LIMIT 'a'
                        ^^^

==== a limit that is a column
SELECT * FROM hot LIMIT temp
----
[INVALID_PLAN] Expected a constant, not column temp. SQLSTATE: 42000
== SQL (line 1, position 25) ==
SELECT * FROM hot LIMIT temp
                        ^^^^

==== an unknown type of a column
CREATE SOURCE s (a NUMBER, at TIMESTAMP) EVENT TIME at
----
[PARSE_SYNTAX_ERROR] Found 'NUMBER', expected the type of column a. The types are ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTERVAL, MAP, SMALLINT, STRING, STRUCT, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TINYINT, VARCHAR, VARIANT. SQLSTATE: 42601
== SQL (line 1, position 20) ==
CREATE SOURCE s (a NUMBER, at TIMESTAMP) EVENT TIME at
                   ^^^^^^

==== a constant that is malformed
SELECT temp FROM hot WHERE temp > CAST('abc' AS INT)
----
[INVALID_PLAN] 'abc' is not of type INT. With try_cast it is NULL. SQLSTATE: 42000
== SQL (line 1, position 40) ==
SELECT temp FROM hot WHERE temp > CAST('abc' AS INT)
                                       ^^^^^
