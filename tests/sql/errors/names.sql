==== an unknown column
SELECT room, temperatur FROM room_temp
----
[UNRESOLVED_NAME] There is no column temperatur. There are: room, temp, humidity, at, ts. SQLSTATE: 42703
== SQL (line 1, position 14) ==
SELECT room, temperatur FROM room_temp
             ^^^^^^^^^^

==== an unknown column, like none there is
SELECT xyz FROM hot
----
[UNRESOLVED_NAME] There is no column xyz. There are: room, temp. SQLSTATE: 42703
== SQL (line 1, position 8) ==
SELECT xyz FROM hot
       ^^^

==== an unknown column in WHERE
SELECT room FROM hot WHERE humidity > 5
----
[UNRESOLVED_NAME] There is no column humidity. There are: room, temp. SQLSTATE: 42703
== SQL (line 1, position 28) ==
SELECT room FROM hot WHERE humidity > 5
                           ^^^^^^^^

==== an unknown relation
SELECT * FROM room_tmp
----
[UNRESOLVED_NAME] There is no source, stream, table or view room_tmp. Did you mean room_temp? SQLSTATE: 42703
== SQL (line 1, position 15) ==
SELECT * FROM room_tmp
              ^^^^^^^^

==== a relation like none there is
SELECT * FROM bids
----
[UNRESOLVED_NAME] There is no source, stream, table or view bids. There are: temperature, doors, changes, temps, room_temp, items, hot, hottest, rooms. SQLSTATE: 42703
== SQL (line 1, position 15) ==
SELECT * FROM bids
              ^^^^

==== an unknown relation before a dot
SELECT h.room FROM hot
----
[UNRESOLVED_NAME] There is no relation h. There are: hot. SQLSTATE: 42703
== SQL (line 1, position 8) ==
SELECT h.room FROM hot
       ^

==== an unknown column after a dot
SELECT h.rom FROM hot h
----
[UNRESOLVED_NAME] There is no column rom. Did you mean room? SQLSTATE: 42703
== SQL (line 1, position 8) ==
SELECT h.rom FROM hot h
       ^^^^^

==== the star of an unknown relation
SELECT t.* FROM hot h
----
[UNRESOLVED_NAME] There is no relation t. There are: h. SQLSTATE: 42703
== SQL (line 1, position 8) ==
SELECT t.* FROM hot h
       ^^^

==== a misspelt output word
SELECT STREAMD temp FROM hot
----
[UNRESOLVED_NAME] There is no column STREAMD. Did you mean SELECT STREAMED ...? SQLSTATE: 42703
== SQL (line 1, position 8) ==
SELECT STREAMD temp FROM hot
       ^^^^^^^

==== a misspelt output word before a star
SELECT STREAMD * FROM hot
----
[PARSE_SYNTAX_ERROR] Found 'FROM', expected an expression. Did you mean SELECT STREAMED instead of STREAMD? SQLSTATE: 42601
== SQL (line 1, position 8) ==
SELECT STREAMD * FROM hot
       ^^^^^^^

==== an ambiguous column
SELECT room FROM hot, hottest WHERE hot.room = hottest.room
----
[INVALID_PLAN] Column room is ambiguous. Write hot.room or hottest.room. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT room FROM hot, hottest WHERE hot.room = hottest.room
       ^^^^

==== an ambiguous column in a condition
SELECT hot.temp FROM hot JOIN hottest ON room = hottest.room
----
[INVALID_PLAN] Column room is ambiguous. Write hot.room or hottest.room. SQLSTATE: 42000
== SQL (line 1, position 42) ==
SELECT hot.temp FROM hot JOIN hottest ON room = hottest.room
                                         ^^^^

==== one relation twice
SELECT * FROM hot, hot
----
[INVALID_PLAN] hot stands twice in FROM; give one of them another name: hot AS b. SQLSTATE: 42000
== SQL (line 1, position 20) ==
SELECT * FROM hot, hot
                   ^^^

==== a common column that is not common
SELECT * FROM hot JOIN doors USING (temp)
----
[UNRESOLVED_NAME] There is no common column temp. There are: room, door, open, at. SQLSTATE: 42703
== SQL (line 1, position 37) ==
SELECT * FROM hot JOIN doors USING (temp)
                                    ^^^^

==== an alias in WHERE
SELECT temp * 2 AS twice FROM hot WHERE twice > 10
----
[INVALID_PLAN] twice is computed in the select list, after WHERE. Write the expression itself, or filter in a query around this one. SQLSTATE: 42000
== SQL (line 1, position 41) ==
SELECT temp * 2 AS twice FROM hot WHERE twice > 10
                                        ^^^^^

==== a column of the query around in a common table expression
SELECT * FROM hot h WHERE EXISTS (WITH x AS (SELECT * FROM rooms WHERE room = h.room) SELECT * FROM x)
----
[UNRESOLVED_NAME] There is no relation h. There are: rooms. SQLSTATE: 42703
== SQL (line 1, position 79) ==
SELECT * FROM hot h WHERE EXISTS (WITH x AS (SELECT * FROM rooms WHERE room = h.room) SELECT * FROM x)
                                                                              ^

==== the time of a view
SELECT room, ts FROM hot
----
[UNRESOLVED_NAME] There is no column ts here: it is the event time of the rows of a source or stream. A view has it where its query selects it, SELECT ts AS at. SQLSTATE: 42703
== SQL (line 1, position 14) ==
SELECT room, ts FROM hot
             ^^

==== the time of a table
SELECT room FROM rooms WHERE ts > TIMESTAMP '2026-01-01'
----
[UNRESOLVED_NAME] There is no column ts here: it is the event time of the rows of a source or stream. A view has it where its query selects it, SELECT ts AS at. SQLSTATE: 42703
== SQL (line 1, position 30) ==
SELECT room FROM rooms WHERE ts > TIMESTAMP '2026-01-01'
                             ^^

==== an unknown synchronization stream
SELECT * FROM room_temp SYNC BY sync4
----
[UNRESOLVED_NAME] There is no synchronization stream sync4. Did you mean sync2? SQLSTATE: 42703
== SQL (line 1, position 33) ==
SELECT * FROM room_temp SYNC BY sync4
                                ^^^^^

==== a table to synchronize by
SELECT * FROM room_temp SYNC BY rooms
----
[INVALID_PLAN] rooms is a table, and its rows come at no time. Synchronize by a stream, or by a view over the clock. SQLSTATE: 42000
== SQL (line 1, position 33) ==
SELECT * FROM room_temp SYNC BY rooms
                                ^^^^^

==== a schema before a name
SELECT * FROM default.hot
----
[UNSUPPORTED_FEATURE] There is one catalog, without schemas. Write hot. SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM default.hot
              ^^^^^^^^^^^

==== a partition column that is not there
SELECT * FROM temps [PARTITION BY rom ROWS 10]
----
[UNRESOLVED_NAME] There is no column of temps named rom. Did you mean room? SQLSTATE: 42703
== SQL (line 1, position 35) ==
SELECT * FROM temps [PARTITION BY rom ROWS 10]
                                  ^^^

==== a column left out that is not there
SELECT * EXCEPT (floor) FROM hot
----
[UNRESOLVED_NAME] There is no column floor. There are: room, temp. SQLSTATE: 42703
== SQL (line 1, position 18) ==
SELECT * EXCEPT (floor) FROM hot
                 ^^^^^

==== a position beyond the select list
SELECT room FROM hot ORDER BY 2 LIMIT 1
----
[INVALID_PLAN] There is no column 2 in a select list of 1. SQLSTATE: 42000
== SQL (line 1, position 31) ==
SELECT room FROM hot ORDER BY 2 LIMIT 1
                              ^

==== a group position beyond the select list
SELECT room, count(*) FROM hot GROUP BY 3
----
[INVALID_PLAN] There is no column 3 in a select list of 2. SQLSTATE: 42000
== SQL (line 1, position 41) ==
SELECT room, count(*) FROM hot GROUP BY 3
                                        ^

==== an unknown named window
SELECT row_number() OVER w FROM hot
----
[UNRESOLVED_NAME] There is no window w. There are none here. SQLSTATE: 42703
== SQL (line 1, position 26) ==
SELECT row_number() OVER w FROM hot
                         ^

==== names for too few columns
SELECT * FROM (SELECT room, temp FROM hot) AS h (room)
----
[INVALID_PLAN] h has 2 columns, and names for 1. SQLSTATE: 42000
== SQL (line 1, position 47) ==
SELECT * FROM (SELECT room, temp FROM hot) AS h (room)
                                              ^^^^^^^

==== a common table expression with too many names
WITH h (a, b, c) AS (SELECT room, temp FROM hot) SELECT * FROM h
----
[INVALID_PLAN] h has 2 columns, and names for 3. SQLSTATE: 42000
== SQL (line 1, position 6) ==
WITH h (a, b, c) AS (SELECT room, temp FROM hot) SELECT * FROM h
     ^^^^^^^^^^

==== an unknown function
SELECT lowercase(room) FROM hot
----
[INVALID_PLAN] There is no function lowercase. Did you mean lower? SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT lowercase(room) FROM hot
       ^^^^^^^^^^^^^^

==== a misspelt function
SELECT coalesc(room, 'a') FROM hot
----
[INVALID_PLAN] There is no function coalesc. Did you mean coalesce? SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT coalesc(room, 'a') FROM hot
       ^^^^^^^^^^^^^^^^^

==== a column that EXISTS selects
SELECT room FROM hot WHERE EXISTS (SELECT tmp FROM doors WHERE doors.room = hot.room)
----
[UNRESOLVED_NAME] There is no column tmp. There are: room, door, open, at, ts. SQLSTATE: 42703
== SQL (line 1, position 43) ==
SELECT room FROM hot WHERE EXISTS (SELECT tmp FROM doors WHERE doors.room = hot.room)
                                          ^^^

==== a column that EXISTS orders by
SELECT room FROM hot WHERE NOT EXISTS (SELECT 1 FROM doors WHERE doors.room = hot.room ORDER BY flor)
----
[UNRESOLVED_NAME] There is no column flor. There are: room, door, open, at, ts. SQLSTATE: 42703
== SQL (line 1, position 97) ==
SELECT room FROM hot WHERE NOT EXISTS (SELECT 1 FROM doors WHERE doors.room = hot.room ORDER BY flor)
                                                                                                ^^^^

==== a column that IN orders by
SELECT room FROM hot WHERE room IN (SELECT room FROM doors ORDER BY flor)
----
[UNRESOLVED_NAME] There is no column flor. There are: room, door, open, at, ts. SQLSTATE: 42703
== SQL (line 1, position 69) ==
SELECT room FROM hot WHERE room IN (SELECT room FROM doors ORDER BY flor)
                                                                    ^^^^

==== a column of a window that nobody uses
SELECT room FROM hot WINDOW w AS (PARTITION BY floor)
----
[UNRESOLVED_NAME] There is no column floor. There are: room, temp. SQLSTATE: 42703
== SQL (line 1, position 48) ==
SELECT room FROM hot WINDOW w AS (PARTITION BY floor)
                                               ^^^^^
