==== a window on a keyed stream
SELECT * FROM room_temp [RANGE 5 MINUTES]
----
[UNSUPPORTED_FEATURE] A window is of rows that stay, and those of room_temp are updated or deleted. Put the window on the stream that is read, or on the stream of changes: FROM (SELECT ISTREAM * FROM room_temp) [...]. SQLSTATE: 0A000
== SQL (line 1, position 25) ==
SELECT * FROM room_temp [RANGE 5 MINUTES]
                        ^^^^^^^^^^^^^^^^^

==== a window on a view that retracts
SELECT * FROM hottest [RANGE 5 MINUTES]
----
[UNSUPPORTED_FEATURE] A window is of rows that stay, and those of hottest are updated or deleted. Put the window on the stream that is read, or on the stream of changes: FROM (SELECT ISTREAM * FROM hottest) [...]. SQLSTATE: 0A000
== SQL (line 1, position 23) ==
SELECT * FROM hottest [RANGE 5 MINUTES]
                      ^^^^^^^^^^^^^^^^^

==== a window on a table
SELECT * FROM rooms [RANGE 5 MINUTES]
----
[INVALID_PLAN] Rows of rooms have no time, so a window holds all of them or none. Leave it out. SQLSTATE: 42000
== SQL (line 1, position 21) ==
SELECT * FROM rooms [RANGE 5 MINUTES]
                    ^^^^^^^^^^^^^^^^^

==== a window on a query that retracts
SELECT * FROM (SELECT room, count(*) FROM temps GROUP BY room) [ROWS 5]
----
[UNSUPPORTED_FEATURE] A window is of rows that stay, and those of this query are updated or deleted. Put the window on the stream that is read, or on the stream of changes: FROM (SELECT ISTREAM ...) [...]. SQLSTATE: 0A000
== SQL (line 1, position 64) ==
SELECT * FROM (SELECT room, count(*) FROM temps GROUP BY room) [ROWS 5]
                                                               ^^^^^^^^

==== a window without a unit
SELECT * FROM temps [RANGE 5]
----
[INVALID_PLAN] Time is in timestamps here, so 5 needs a unit: write 5 SECONDS. SQLSTATE: 42000
== SQL (line 1, position 21) ==
SELECT * FROM temps [RANGE 5]
                    ^^^^^^^^^

==== a slide without a unit
SELECT * FROM temps [RANGE 5 MINUTES SLIDE 2]
----
[PARSE_SYNTAX_ERROR] RANGE and SLIDE are of one kind: both with a unit of time, or both integers. SQLSTATE: 42601
== SQL (line 1, position 28) ==
SELECT * FROM temps [RANGE 5 MINUTES SLIDE 2]
                           ^^^^^^^^^^^^^^^^^

==== NOW() in a select list
SELECT room, NOW() FROM temps
----
[UNSUPPORTED_FEATURE] NOW() moves on by itself, so only comparisons with it can be maintained. Write it as a condition of its own in WHERE: NOW() - INTERVAL 5 MINUTES < ts. SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, NOW() FROM temps
             ^^^

==== NOW() under OR
SELECT * FROM temps WHERE ts > NOW() - INTERVAL 5 MINUTES OR temp > 100
----
[UNSUPPORTED_FEATURE] Only comparisons of NOW() with a value of the row can be maintained. Write NOW() - INTERVAL 5 MINUTES < ts, expires > NOW() and the like, joined by AND. SQLSTATE: 0A000
== SQL (line 1, position 27) ==
SELECT * FROM temps WHERE ts > NOW() - INTERVAL 5 MINUTES OR temp > 100
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== NOW() on both sides
SELECT * FROM temps WHERE NOW() - INTERVAL 1 MINUTE < NOW()
----
[UNSUPPORTED_FEATURE] Only comparisons of NOW() with a value of the row can be maintained. Write NOW() - INTERVAL 5 MINUTES < ts, expires > NOW() and the like, joined by AND. SQLSTATE: 0A000
== SQL (line 1, position 27) ==
SELECT * FROM temps WHERE NOW() - INTERVAL 1 MINUTE < NOW()
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== NOW() not equal
SELECT * FROM items WHERE expires <> NOW()
----
[UNSUPPORTED_FEATURE] Only comparisons of NOW() with a value of the row can be maintained. Write NOW() - INTERVAL 5 MINUTES < ts, expires > NOW() and the like, joined by AND. SQLSTATE: 0A000
== SQL (line 1, position 27) ==
SELECT * FROM items WHERE expires <> NOW()
                          ^^^^^^^^^^^^^^

==== NOW() moved by a column
SELECT * FROM temps WHERE NOW() - temp < ts
----
[UNSUPPORTED_FEATURE] NOW() may be moved by a constant only. Move the other side of the comparison: NOW() < ts + x. SQLSTATE: 0A000
== SQL (line 1, position 35) ==
SELECT * FROM temps WHERE NOW() - temp < ts
                                  ^^^^

==== NOW() moved by a number
SELECT * FROM temps WHERE NOW() - 5 < ts
----
[INVALID_PLAN] Time is in timestamps here: write NOW() - INTERVAL 5 MINUTES. SQLSTATE: 42000
== SQL (line 1, position 35) ==
SELECT * FROM temps WHERE NOW() - 5 < ts
                                  ^

==== NOW() compared with text
SELECT * FROM temps WHERE room < NOW()
----
[INVALID_PLAN] NOW() is a timestamp here, and this is STRING. Compare it with a time. SQLSTATE: 42000
== SQL (line 1, position 27) ==
SELECT * FROM temps WHERE room < NOW()
                          ^^^^

==== NOW() compared with a number
SELECT * FROM temps WHERE temp > NOW()
----
[INVALID_PLAN] NOW() is a timestamp here, and this is INT. Compare it with a time. SQLSTATE: 42000
== SQL (line 1, position 27) ==
SELECT * FROM temps WHERE temp > NOW()
                          ^^^^

==== NOW() in the condition of an outer join
SELECT * FROM hot LEFT JOIN items ON items.expires > NOW()
----
[UNSUPPORTED_FEATURE] NOW() moves on by itself, so only comparisons with it can be maintained. Write it as a condition of its own in WHERE: NOW() - INTERVAL 5 MINUTES < ts. SQLSTATE: 0A000
== SQL (line 1, position 54) ==
SELECT * FROM hot LEFT JOIN items ON items.expires > NOW()
                                                     ^^^

==== the current timestamp
SELECT * FROM temps WHERE ts > current_timestamp() - INTERVAL 5 MINUTES
----
[UNSUPPORTED_FEATURE] current_timestamp() is another value each time it is asked for, and a view has one answer. Compare with NOW(), the event time, or let the source bring a column. SQLSTATE: 0A000
== SQL (line 1, position 32) ==
SELECT * FROM temps WHERE ts > current_timestamp() - INTERVAL 5 MINUTES
                               ^^^^^^^^^^^^^^^^^

==== the clock in FROM
SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0
----
[UNSUPPORTED_FEATURE] The clock has no end, and its ticks are never stored. Make a view of this, CREATE VIEW sync2 AS ..., and synchronize streams by it. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== the clock beside a stream
SELECT * FROM temps, clock WHERE ts = timepoint
----
[UNSUPPORTED_FEATURE] clock stands for points in time, which are never stored. Synchronize a stream by it, FROM s SYNC BY clock, or compare with NOW(). SQLSTATE: 0A000
== SQL (line 1, position 22) ==
SELECT * FROM temps, clock WHERE ts = timepoint
                     ^^^^^

==== a synchronization stream in FROM
SELECT * FROM temps, sync2
----
[UNSUPPORTED_FEATURE] sync2 stands for points in time, which are never stored. Synchronize a stream by it, FROM s SYNC BY sync2, or compare with NOW(). SQLSTATE: 0A000
== SQL (line 1, position 22) ==
SELECT * FROM temps, sync2
                     ^^^^^

==== the current time of a view
SELECT * FROM now_view
----
[UNSUPPORTED_FEATURE] NOW() moves on by itself, so only comparisons with it can be maintained. Write it as a condition of its own in WHERE: NOW() - INTERVAL 5 MINUTES < ts. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT * FROM now_view
       ^

==== a period without a unit
CREATE VIEW sync4 AS SELECT timepoint FROM clock WHERE timepoint % 4 = 0
----
[INVALID_PLAN] Time is in timestamps here: write timepoint % INTERVAL 2 MINUTES = 0. SQLSTATE: 42000
== SQL (line 1, position 68) ==
CREATE VIEW sync4 AS SELECT timepoint FROM clock WHERE timepoint % 4 = 0
                                                                   ^

==== ticks by another condition
CREATE VIEW late AS SELECT timepoint FROM clock WHERE timepoint > TIMESTAMP '2026-01-01'
----
[UNSUPPORTED_FEATURE] Time points are picked out by remainders. Write timepoint % INTERVAL 2 MINUTES = 0, with AND, OR and IN. SQLSTATE: 0A000
== SQL (line 1, position 55) ==
CREATE VIEW late AS SELECT timepoint FROM clock WHERE timepoint > TIMESTAMP '2026-01-01'
                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== another column of the clock
CREATE VIEW sync AS SELECT timepoint + INTERVAL 1 MINUTE AS t FROM clock
----
[UNSUPPORTED_FEATURE] Of the clock, a query selects its time points or the latest of them. Write SELECT timepoint FROM clock WHERE timepoint % 2 = 0, or SELECT MAX(timepoint) AS now FROM clock. SQLSTATE: 0A000
== SQL (line 1, position 28) ==
CREATE VIEW sync AS SELECT timepoint + INTERVAL 1 MINUTE AS t FROM clock
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== points that no clock has
CREATE VIEW never AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0 AND timepoint % INTERVAL 2 MINUTES = INTERVAL 1 MINUTE
----
[INVALID_PLAN] These conditions pick out no point in time. SQLSTATE: 42000
== SQL (line 1, position 95) ==
CREATE VIEW never AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0 AND timepoint % INTERVAL 2 MINUTES = INTERVAL 1 MINUTE
                                                                                              ^^^^^^^^^

==== a group window without a length
SELECT count(*) FROM temps GROUP BY window(ts)
----
[INVALID_PLAN] A window needs a time and a length. Write window(ts, '10 minutes'), or window(ts, '10 minutes', '2 minutes') for one that slides. SQLSTATE: 42000
== SQL (line 1, position 37) ==
SELECT count(*) FROM temps GROUP BY window(ts)
                                    ^^^^^^^^^

==== a group window of a length in words
SELECT count(*) FROM temps GROUP BY window(ts, 'ten minutes')
----
[INVALID_PLAN] 'ten minutes' is not a length of time; write one such as '10 seconds'. SQLSTATE: 42000
== SQL (line 1, position 48) ==
SELECT count(*) FROM temps GROUP BY window(ts, 'ten minutes')
                                               ^^^^^^^^^^^^^

==== a group window of months
SELECT count(*) FROM temps GROUP BY window(ts, '1 month')
----
[INVALID_PLAN] A month has no fixed length. Write it in smaller units, such as '30 days'. SQLSTATE: 42000
== SQL (line 1, position 48) ==
SELECT count(*) FROM temps GROUP BY window(ts, '1 month')
                                               ^^^^^^^^^

==== a group window with a longer slide
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute', '2 minutes')
----
[INVALID_PLAN] A window is at least as long as its slide, and both are longer than 0. SQLSTATE: 42000
== SQL (line 1, position 37) ==
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute', '2 minutes')
                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a group window over text
SELECT count(*) FROM temps GROUP BY window(room, '1 minute')
----
[INVALID_PLAN] The first argument is a time; this is STRING. SQLSTATE: 42000
== SQL (line 1, position 37) ==
SELECT count(*) FROM temps GROUP BY window(room, '1 minute')
                                    ^^^^^^^^^^^^^^^^^^^^^^^

==== a session over a view
SELECT count(*) FROM hot GROUP BY session_window(temp, '1 minute')
----
[UNSUPPORTED_FEATURE] Sessions are made of the event times of rows that stay. Write session_window(ts, '10 minutes') over a source or a stream with KEY NULL. SQLSTATE: 0A000
== SQL (line 1, position 35) ==
SELECT count(*) FROM hot GROUP BY session_window(temp, '1 minute')
                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a session of a keyed stream
SELECT room, count(*) FROM room_temp GROUP BY room, session_window(ts, '1 minute')
----
[UNSUPPORTED_FEATURE] Sessions are made of the event times of rows that stay. Write session_window(ts, '10 minutes') over a source or a stream with KEY NULL. SQLSTATE: 0A000
== SQL (line 1, position 53) ==
SELECT room, count(*) FROM room_temp GROUP BY room, session_window(ts, '1 minute')
                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a window function outside of GROUP BY
SELECT window(ts, '1 minute') FROM temps
----
[INVALID_PLAN] A window in time is something to group by. Write GROUP BY window(ts, '10 minutes'); then select window.start and window.end. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT window(ts, '1 minute') FROM temps
       ^^^^^^^^^^^^^^^^^^^^^

==== EMIT FINAL that never emits
SELECT count(*) FROM temps EMIT FINAL
----
[UNSUPPORTED_FEATURE] No row of this query would ever be final: later rows can always change it. Group by window(ts, '10 seconds'), whose groups close when time passes their end, and select its start or end; or by columns of a stream that punctuations close; or write EMIT CHANGES. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
SELECT count(*) FROM temps EMIT FINAL
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== EMIT FINAL over a sliding window
SELECT room, count(*) FROM temps [RANGE 5 MINUTES] GROUP BY room EMIT FINAL
----
[UNSUPPORTED_FEATURE] Under EMIT FINAL rows stay, and here they are taken back again: by a window after a stream's name, or a condition on NOW(). Group by window(ts, '10 seconds') instead, or write EMIT CHANGES. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
SELECT room, count(*) FROM temps [RANGE 5 MINUTES] GROUP BY room EMIT FINAL
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== EMIT FINAL over a keyed stream without its key
SELECT temp FROM room_temp EMIT FINAL
----
[UNSUPPORTED_FEATURE] No row of this query would ever be final: later rows can always change it. Group by window(ts, '10 seconds'), whose groups close when time passes their end, and select its start or end; or by columns of a stream that punctuations close; or write EMIT CHANGES. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
SELECT temp FROM room_temp EMIT FINAL
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== EMIT FINAL without the window in the select list
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute') EMIT FINAL
----
[UNSUPPORTED_FEATURE] No row of this query would ever be final: later rows can always change it. Group by window(ts, '10 seconds'), whose groups close when time passes their end, and select its start or end; or by columns of a stream that punctuations close; or write EMIT CHANGES. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute') EMIT FINAL
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a delay without a unit
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME at DELAY 5
----
[INVALID_PLAN] Event time at is TIMESTAMP, so the delay is an interval: DELAY INTERVAL 5 SECONDS. SQLSTATE: 42000
== SQL (line 1, position 50) ==
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME at DELAY 5
                                                 ^^

==== an event time that is text
CREATE SOURCE s (a INT, at STRING) EVENT TIME at
----
[INVALID_PLAN] Event time is a TIMESTAMP, a DATE or an integer, and at is STRING. SQLSTATE: 42000
== SQL (line 1, position 47) ==
CREATE SOURCE s (a INT, at STRING) EVENT TIME at
                                              ^^

==== an event time that is not a column
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME when
----
[PARSE_SYNTAX_ERROR] There is no column when. The columns are a, at. SQLSTATE: 42601
== SQL (line 1, position 50) ==
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME when
                                                 ^^^^

==== another kind of time
CREATE SOURCE s (a INT, at INT) EVENT TIME at
----
[INVALID_PLAN] All sources of a pipeline share one kind of time. s has integers, the others have timestamps. SQLSTATE: 42000
== SQL (line 1, position 1) ==
CREATE SOURCE s (a INT, at INT) EVENT TIME at
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
