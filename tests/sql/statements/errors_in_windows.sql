==== a kind misspelt
SELECT * FROM s [RAGNE 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] Found 'RAGNE', expected a window: RANGE, FIXED, ROWS, PARTITION BY, NOW or UNBOUNDED. Did you mean RANGE? SQLSTATE: 42601
== SQL (line 1, position 18) ==
SELECT * FROM s [RAGNE 5 MINUTES]
                 ^^^^^

==== no such kind
SELECT * FROM s [TUMBLING 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] Found 'TUMBLING', expected a window: RANGE, FIXED, ROWS, PARTITION BY, NOW or UNBOUNDED. SQLSTATE: 42601
== SQL (line 1, position 18) ==
SELECT * FROM s [TUMBLING 5 MINUTES]
                 ^^^^^^^^

==== an index
SELECT * FROM s [0]
----
[PARSE_SYNTAX_ERROR] Found '0', expected a window: RANGE, FIXED, ROWS, PARTITION BY, NOW or UNBOUNDED. SQLSTATE: 42601
== SQL (line 1, position 18) ==
SELECT * FROM s [0]
                 ^

==== nothing
SELECT * FROM s []
----
[PARSE_SYNTAX_ERROR] Found ']', expected a window: RANGE, FIXED, ROWS, PARTITION BY, NOW or UNBOUNDED. SQLSTATE: 42601
== SQL (line 1, position 18) ==
SELECT * FROM s []
                 ^

==== a unit misspelt
SELECT * FROM s [RANGE 5 MINTUES]
----
[PARSE_SYNTAX_ERROR] Found 'MINTUES', expected a unit of time. Did you mean MINUTES? The units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS, WEEKS. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT * FROM s [RANGE 5 MINTUES]
                         ^^^^^^^

==== no such unit
SELECT * FROM s [RANGE INTERVAL 5 FORTNIGHTS]
----
[PARSE_SYNTAX_ERROR] Found 'FORTNIGHTS', expected a unit of time. The units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS, WEEKS. SQLSTATE: 42601
== SQL (line 1, position 35) ==
SELECT * FROM s [RANGE INTERVAL 5 FORTNIGHTS]
                                  ^^^^^^^^^^

==== a month
SELECT * FROM s [RANGE 1 MONTH]
----
[PARSE_SYNTAX_ERROR] A MONTH has no fixed length. Write it in smaller units, such as 30 DAYS. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM s [RANGE 1 MONTH]
                       ^^^^^^^

==== years in a string
SELECT * FROM s [RANGE INTERVAL '2 years']
----
[PARSE_SYNTAX_ERROR] A YEAR has no fixed length. Write it in smaller units, such as 30 DAYS. SQLSTATE: 42601
== SQL (line 1, position 33) ==
SELECT * FROM s [RANGE INTERVAL '2 years']
                                ^^^^^^^^^

==== an interval without a unit
SELECT * FROM s [RANGE INTERVAL 5]
----
[PARSE_SYNTAX_ERROR] Found ']', expected a unit of time. The units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS, WEEKS. SQLSTATE: 42601
== SQL (line 1, position 34) ==
SELECT * FROM s [RANGE INTERVAL 5]
                                 ^

==== a fraction of a tick
SELECT * FROM s [RANGE 1.5]
----
[PARSE_SYNTAX_ERROR] Found ']', expected a unit of time. The units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS, WEEKS. SQLSTATE: 42601
== SQL (line 1, position 27) ==
SELECT * FROM s [RANGE 1.5]
                          ^

==== a fraction of a microsecond
SELECT * FROM s [RANGE 0.5 MICROSECONDS]
----
[PARSE_SYNTAX_ERROR] 0.5 MICROSECONDS is not a whole number of microseconds. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM s [RANGE 0.5 MICROSECONDS]
                       ^^^

==== no length
SELECT * FROM s [RANGE]
----
[PARSE_SYNTAX_ERROR] Found ']', expected the size of a window, such as 5 MINUTES, or 5 where time is integers. SQLSTATE: 42601
== SQL (line 1, position 23) ==
SELECT * FROM s [RANGE]
                      ^

==== zero
SELECT * FROM s [RANGE 0 MINUTES]
----
[PARSE_SYNTAX_ERROR] The size of a window must be longer than 0. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM s [RANGE 0 MINUTES]
                       ^^^^^^^^^

==== zero ticks
SELECT * FROM s [FIXED 0]
----
[PARSE_SYNTAX_ERROR] The size of a window must be longer than 0. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM s [FIXED 0]
                       ^

==== negative
SELECT * FROM s [RANGE -5 MINUTES]
----
[PARSE_SYNTAX_ERROR] The size of a window cannot be negative. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM s [RANGE -5 MINUTES]
                       ^

==== negative in a string
SELECT * FROM s [RANGE INTERVAL '-5 minutes']
----
[PARSE_SYNTAX_ERROR] Expected a number of MINUTES that is not negative. SQLSTATE: 42601
== SQL (line 1, position 33) ==
SELECT * FROM s [RANGE INTERVAL '-5 minutes']
                                ^^^^^^^^^^^^

==== three words in a string
SELECT * FROM s [RANGE INTERVAL '5 minutes 3']
----
[PARSE_SYNTAX_ERROR] Expected pairs of a number and a unit of time. SQLSTATE: 42601
== SQL (line 1, position 33) ==
SELECT * FROM s [RANGE INTERVAL '5 minutes 3']
                                ^^^^^^^^^^^^^

==== no number in a string
SELECT * FROM s [RANGE INTERVAL 'five minutes']
----
[PARSE_SYNTAX_ERROR] Expected a number before MINUTES, found 'five'. SQLSTATE: 42601
== SQL (line 1, position 33) ==
SELECT * FROM s [RANGE INTERVAL 'five minutes']
                                ^^^^^^^^^^^^^^

==== a unit misspelt in a string
SELECT * FROM s [RANGE INTERVAL '5 minuts']
----
[PARSE_SYNTAX_ERROR] 'MINUTS' is not a unit of time. Did you mean MINUTES? The units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS, WEEKS. SQLSTATE: 42601
== SQL (line 1, position 33) ==
SELECT * FROM s [RANGE INTERVAL '5 minuts']
                                ^^^^^^^^^^

==== too long
SELECT * FROM s [RANGE 99999999999 WEEKS]
----
[PARSE_SYNTAX_ERROR] The size of a window is too long: more than 9223372036854775807 microseconds. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM s [RANGE 99999999999 WEEKS]
                       ^^^^^^^^^^^^^^^^^

==== SLIDE misspelt
SELECT * FROM s [RANGE 5 MINUTES SLIED 2 MINUTES]
----
[PARSE_SYNTAX_ERROR] Found 'SLIED', expected SLIDE or ]. Did you mean SLIDE? SQLSTATE: 42601
== SQL (line 1, position 34) ==
SELECT * FROM s [RANGE 5 MINUTES SLIED 2 MINUTES]
                                 ^^^^^

==== SLIDE in another kind of time
SELECT * FROM s [RANGE 5 MINUTES SLIDE 2]
----
[PARSE_SYNTAX_ERROR] RANGE and SLIDE are of one kind: both with a unit of time, or both integers. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM s [RANGE 5 MINUTES SLIDE 2]
                       ^^^^^^^^^^^^^^^^^

==== SLIDE of nothing
SELECT * FROM s [RANGE 5 MINUTES SLIDE]
----
[PARSE_SYNTAX_ERROR] Found ']', expected the slide of a window, such as 5 MINUTES, or 5 where time is integers. SQLSTATE: 42601
== SQL (line 1, position 39) ==
SELECT * FROM s [RANGE 5 MINUTES SLIDE]
                                      ^

==== SLIDE of a fixed window
SELECT * FROM s [FIXED 1 HOUR SLIDE 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] Found 'SLIDE', expected ] at the end of the window. SQLSTATE: 42601
== SQL (line 1, position 31) ==
SELECT * FROM s [FIXED 1 HOUR SLIDE 5 MINUTES]
                              ^^^^^

==== no rows
SELECT * FROM s [ROWS 0]
----
[PARSE_SYNTAX_ERROR] Found '0', expected a positive whole number of rows. SQLSTATE: 42601
== SQL (line 1, position 23) ==
SELECT * FROM s [ROWS 0]
                      ^

==== a fraction of rows
SELECT * FROM s [ROWS 1.5]
----
[PARSE_SYNTAX_ERROR] Found '1.5', expected a positive whole number of rows. SQLSTATE: 42601
== SQL (line 1, position 23) ==
SELECT * FROM s [ROWS 1.5]
                      ^^^

==== ROWS without a number
SELECT * FROM s [ROWS]
----
[PARSE_SYNTAX_ERROR] Found ']', expected a positive whole number of rows. SQLSTATE: 42601
== SQL (line 1, position 22) ==
SELECT * FROM s [ROWS]
                     ^

==== a partition without rows
SELECT * FROM s [PARTITION BY k]
----
[PARSE_SYNTAX_ERROR] Found ']', expected ROWS and a number. Write [PARTITION BY k ROWS 10]. SQLSTATE: 42601
== SQL (line 1, position 32) ==
SELECT * FROM s [PARTITION BY k]
                               ^

==== a partition by an expression
SELECT * FROM s [PARTITION BY a + 1 ROWS 10]
----
[PARSE_SYNTAX_ERROR] Found '+', expected ROWS and a number. Write [PARTITION BY k ROWS 10]. SQLSTATE: 42601
== SQL (line 1, position 33) ==
SELECT * FROM s [PARTITION BY a + 1 ROWS 10]
                                ^

==== a partition by nothing
SELECT * FROM s [PARTITION BY ROWS 10]
----
[PARSE_SYNTAX_ERROR] Found '10', expected ROWS and a number. Write [PARTITION BY k ROWS 10]. SQLSTATE: 42601
== SQL (line 1, position 36) ==
SELECT * FROM s [PARTITION BY ROWS 10]
                                   ^^

==== a window that is not closed
SELECT * FROM s [RANGE 5 MINUTES WHERE a > 1
----
[PARSE_SYNTAX_ERROR] Found 'WHERE', expected SLIDE or ]. SQLSTATE: 42601
== SQL (line 1, position 34) ==
SELECT * FROM s [RANGE 5 MINUTES WHERE a > 1
                                 ^^^^^

==== a window after the alias
SELECT * FROM s AS r [RANGE 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] A window stands before the alias: write s [RANGE 5 MINUTES] AS r. SQLSTATE: 42601
== SQL (line 1, position 22) ==
SELECT * FROM s AS r [RANGE 5 MINUTES]
                     ^

==== a window after the alias of a query
SELECT * FROM (SELECT a FROM s) r [RANGE 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] A window stands before the alias: write (SELECT ...) [RANGE 5 MINUTES] AS r. SQLSTATE: 42601
== SQL (line 1, position 35) ==
SELECT * FROM (SELECT a FROM s) r [RANGE 5 MINUTES]
                                  ^

==== a window after a synchronized relation
SELECT * FROM R[sync2](s) [RANGE 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] A window stands after the stream's name: write R[s](name [RANGE 5]). SQLSTATE: 42601
== SQL (line 1, position 27) ==
SELECT * FROM R[sync2](s) [RANGE 5 MINUTES]
                          ^

==== two windows
SELECT * FROM s [ROWS 5] [RANGE 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] A stream has one window. Read a view or query of it for a second one. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT * FROM s [ROWS 5] [RANGE 5 MINUTES]
                         ^

==== SYNC BY nothing
SELECT * FROM s SYNC BY WHERE a > 1
----
[PARSE_SYNTAX_ERROR] Found 'WHERE', expected the name of a synchronization stream. SQLSTATE: 42601
== SQL (line 1, position 25) ==
SELECT * FROM s SYNC BY WHERE a > 1
                        ^^^^^

==== synchronized twice
SELECT * FROM R[sync2](s) SYNC BY sync4
----
[PARSE_SYNTAX_ERROR] A stream is synchronized by one stream. Write a view over two of them, with UNION or INTERSECT, and synchronize by it. SQLSTATE: 42601
== SQL (line 1, position 35) ==
SELECT * FROM R[sync2](s) SYNC BY sync4
                                  ^^^^^

==== synchronized by a number
SELECT * FROM R[2](s)
----
[PARSE_SYNTAX_ERROR] Found '2', expected the name of a synchronization stream. SQLSTATE: 42601
== SQL (line 1, position 17) ==
SELECT * FROM R[2](s)
                ^

==== the relation of a query
SELECT * FROM R[sync2](SELECT a FROM s)
----
[PARSE_SYNTAX_ERROR] Found 'SELECT', expected the name of a table, stream or view. SQLSTATE: 42601
== SQL (line 1, position 24) ==
SELECT * FROM R[sync2](SELECT a FROM s)
                       ^^^^^^

==== the relation of a stream is not closed
SELECT * FROM R[sync2](s WHERE a > 1
----
[PARSE_SYNTAX_ERROR] Found 'WHERE', expected ) after the name of a stream. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT * FROM R[sync2](s WHERE a > 1
                         ^^^^^

==== two numbers
SELECT * FROM s [RANGE 5 5 MINUTES]
----
[PARSE_SYNTAX_ERROR] Found '5', expected SLIDE or ]. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT * FROM s [RANGE 5 5 MINUTES]
                         ^
