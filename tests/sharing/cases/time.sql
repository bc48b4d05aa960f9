-- example 19
CREATE VIEW HotRooms AS SELECT room, temp FROM R[sync2](room_temp) R WHERE R.temp > 80;
EXPLAIN SHARING SELECT room, temp FROM R[sync4](room_temp) R WHERE R.temp > 100;
> Answered from HotRooms:
>   SELECT room, temp FROM HotRooms SYNC BY sync4 WHERE temp > 100

-- points that are not all there
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY sync4;
EXPLAIN SHARING SELECT room, temp FROM room_temp SYNC BY sync2;
> Answered from no view that runs.
>   v: it is not synchronized at all the points of the query

-- points that are not aligned
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY sync2;
EXPLAIN SHARING SELECT room, temp FROM room_temp SYNC BY odd;
> Answered from no view that runs.
>   v: it is not synchronized at all the points of the query

-- points that meet now and then
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY sync2;
EXPLAIN SHARING SELECT room, temp FROM room_temp SYNC BY sync3;
> Answered from no view that runs.
>   v: it is not synchronized at all the points of the query

-- points that two periods have between them
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY sync2_or_3;
EXPLAIN SHARING SELECT room, temp FROM room_temp SYNC BY sync3;
> Answered from v:
>   SELECT room, temp FROM v SYNC BY sync3

-- all points from some
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY sync2;
EXPLAIN SHARING SELECT room, temp FROM room_temp;
> Answered from no view that runs.
>   v: it changes only at its points of synchronization

-- some points from all
CREATE VIEW v AS SELECT room, temp FROM room_temp;
EXPLAIN SHARING SELECT room, temp FROM room_temp SYNC BY sync3;
> Answered from v:
>   SELECT room, temp FROM v SYNC BY sync3

-- the same points
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY sync2;
EXPLAIN SHARING SELECT room FROM room_temp SYNC BY sync2 WHERE temp > 2;
> Answered from v:
>   SELECT room FROM v WHERE temp > 2

-- points of events
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY mark_sync;
EXPLAIN SHARING SELECT room FROM room_temp SYNC BY mark_sync WHERE temp > 2;
> Answered from v:
>   SELECT room FROM v WHERE temp > 2

-- points of other events
CREATE VIEW v AS SELECT room, temp FROM room_temp SYNC BY mark_sync;
EXPLAIN SHARING SELECT room FROM room_temp SYNC BY high_sync WHERE temp > 2;
> Answered from no view that runs.
>   v: it is not synchronized at all the points of the query

-- points of events from all points
CREATE VIEW v AS SELECT room, temp FROM room_temp;
EXPLAIN SHARING SELECT room FROM room_temp SYNC BY mark_sync WHERE temp > 2;
> Answered from v:
>   map room
>     filter (temp > 2)
>       sync to stream
>         view v
>         map t
>           map t=marks.t
>             map marks.n=n, marks.t=t
>               marks

-- a group of all rows, before the first event
CREATE VIEW v AS SELECT count(*) AS n FROM room_temp;
EXPLAIN SHARING SELECT count(*) AS n FROM room_temp SYNC BY mark_sync;
> Answered from no view that runs.
>   v: it has a group before the first point of synchronization

-- a group of all rows, at points that were always there
CREATE VIEW v AS SELECT count(*) AS n FROM room_temp;
EXPLAIN SHARING SELECT count(*) AS n FROM room_temp SYNC BY sync4;
> Answered from v:
>   SELECT n FROM v SYNC BY sync4

-- a join at the points of both sides
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp SYNC BY sync2 r JOIN alarms [RANGE 5] SYNC BY sync2 a ON r.room = a.room;
EXPLAIN SHARING SELECT r.temp FROM room_temp SYNC BY sync4 r JOIN alarms [RANGE 5] SYNC BY sync4 a ON r.room = a.room;
> Answered from v:
>   SELECT temp FROM v SYNC BY sync4

-- a join at different points
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp SYNC BY sync2 r JOIN alarms [RANGE 5] SYNC BY sync2 a ON r.room = a.room;
EXPLAIN SHARING SELECT r.temp FROM room_temp SYNC BY sync4 r JOIN alarms [RANGE 5] SYNC BY sync2 a ON r.room = a.room;
> Answered from no view that runs.
>   v: it reads other streams, or reads them in another way

-- a shorter window
CREATE VIEW v AS SELECT a.room, a.temp, a.t FROM readings [RANGE 10] a JOIN rooms m ON a.room = m.room WHERE a.temp < m.floor;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [RANGE 5] a JOIN rooms m ON a.room = m.room WHERE a.temp < m.floor;
> Answered from v:
>   SELECT room, temp FROM v WHERE NOW() < (5 + CAST(t AS BIGINT))

-- a shorter window, without the time of rows
CREATE VIEW v AS SELECT a.room, a.temp FROM readings [RANGE 10] a JOIN rooms m ON a.room = m.room WHERE a.temp < m.floor;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [RANGE 5] a JOIN rooms m ON a.room = m.room WHERE a.temp < m.floor;
> Answered from no view that runs.
>   v: it does not have t, to select rows by

-- a shorter window, of rows that nobody keeps
CREATE VIEW v AS SELECT room, temp, t FROM readings [RANGE 10];
EXPLAIN SHARING SELECT room, temp FROM readings [RANGE 5];
> Answered from no view that runs.
>   v: to read it takes more than to do without

-- a longer window
CREATE VIEW v AS SELECT a.room, a.temp, a.t FROM readings [RANGE 5] a JOIN rooms m ON a.room = m.room;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [RANGE 6] a JOIN rooms m ON a.room = m.room;
> Answered from no view that runs.
>   v: its window ends too early

-- fixed windows in fixed windows
CREATE VIEW v AS SELECT a.room, a.temp, a.t FROM readings [FIXED 10] a JOIN rooms m ON a.room = m.room;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [FIXED 5] a JOIN rooms m ON a.room = m.room;
> Answered from v:
>   SELECT room, temp FROM v WHERE NOW() < ((CAST(t AS BIGINT) - (((CAST(t AS BIGINT) % 5) + 5) % 5)) + 5)

-- fixed windows that do not fit
CREATE VIEW v AS SELECT a.room, a.temp, a.t FROM readings [FIXED 10] a JOIN rooms m ON a.room = m.room;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [FIXED 4] a JOIN rooms m ON a.room = m.room;
> Answered from no view that runs.
>   v: its window ends too early

-- a fixed window in a sliding one
CREATE VIEW v AS SELECT a.room, a.temp, a.t FROM readings [RANGE 10] a JOIN rooms m ON a.room = m.room;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [FIXED 10] a JOIN rooms m ON a.room = m.room;
> Answered from v:
>   SELECT room, temp FROM v WHERE NOW() < ((CAST(t AS BIGINT) - (((CAST(t AS BIGINT) % 10) + 10) % 10)) + 10)

-- a sliding window is not in a fixed one
CREATE VIEW v AS SELECT a.room, a.temp, a.t FROM readings [FIXED 10] a JOIN rooms m ON a.room = m.room;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [RANGE 5] a JOIN rooms m ON a.room = m.room;
> Answered from no view that runs.
>   v: its window ends too early

-- windows of both sides
CREATE VIEW v AS SELECT a.room, a.temp, a.t, b.t AS u FROM readings [RANGE 10] a JOIN alarms [RANGE 10] b ON a.room = b.room;
EXPLAIN SHARING SELECT a.room, a.temp FROM readings [RANGE 5] a JOIN alarms [RANGE 7] b ON a.room = b.room;
> Answered from v:
>   SELECT room, temp FROM v WHERE NOW() < (5 + CAST(t AS BIGINT)) AND NOW() < (7 + CAST(u AS BIGINT))

-- a slide that is a multiple
CREATE VIEW v AS SELECT room, kind, count(*) AS n FROM readings [RANGE 10 SLIDE 2] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, count(*) AS n FROM readings [RANGE 10 SLIDE 4] GROUP BY room;
> Answered from v:
>   SELECT room, coalesce(sum(n), 0) AS n FROM v SYNC BY sync4 GROUP BY room

-- a slide that is not
CREATE VIEW v AS SELECT room, kind, count(*) AS n FROM readings [RANGE 10 SLIDE 4] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, count(*) AS n FROM readings [RANGE 10 SLIDE 6] GROUP BY room;
> Answered from no view that runs.
>   v: it is not synchronized at all the points of the query

-- a shorter window with a slide
CREATE VIEW v AS SELECT a.room, a.temp, a.t FROM readings [RANGE 10 SLIDE 2] a JOIN rooms m ON a.room = m.room;
EXPLAIN SHARING SELECT a.room, count(*) AS n FROM readings [RANGE 6 SLIDE 2] a JOIN rooms m ON a.room = m.room GROUP BY a.room;
> Answered from v:
>   SELECT room, count(*) AS n FROM v SYNC BY sync2 WHERE NOW() < (6 + CAST(t AS BIGINT)) GROUP BY room

-- groups of a shorter window
CREATE VIEW v AS SELECT room, count(*) AS n FROM readings [RANGE 10] GROUP BY room;
EXPLAIN SHARING SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room;
> Answered from no view that runs.
>   v: it does not have t, to select rows by

-- a predicate on the current time
CREATE VIEW v AS SELECT room, temp, ends FROM room_temp WHERE ends > NOW();
EXPLAIN SHARING SELECT room FROM room_temp WHERE ends > NOW() AND temp > 3;
> Answered from v:
>   SELECT room FROM v WHERE temp > 3

-- an earlier end
CREATE VIEW v AS SELECT room, temp, ends FROM room_temp WHERE ends + 3 > NOW();
EXPLAIN SHARING SELECT room FROM room_temp WHERE ends > NOW();
> Answered from v:
>   SELECT room FROM v WHERE NOW() < ends

-- a later end
CREATE VIEW v AS SELECT room, temp, ends FROM room_temp WHERE ends > NOW();
EXPLAIN SHARING SELECT room FROM room_temp WHERE ends + 3 > NOW();
> Answered from no view that runs.
>   v: it has only rows where NOW() < ends

-- changes of a view
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT ISTREAM room FROM room_temp WHERE temp > 90;
> Answered from v:
>   SELECT ISTREAM room FROM v WHERE temp > 90

-- final results of groups that change
CREATE VIEW v AS SELECT window(t, 5).start AS at, room, count(*) AS n FROM readings GROUP BY window(t, 5), room;
EXPLAIN SHARING SELECT window(t, 5).start AS at, room, count(*) AS n FROM readings GROUP BY window(t, 5), room EMIT FINAL;
> Answered from v:
>   SELECT at, room, n FROM v WHERE coalesce(earliest(at + 5, closed('readings', 'room', room)), ended('readings')) <= NOW()

-- results that change, from final ones
CREATE VIEW v AS SELECT window(t, 5).start AS at, room, count(*) AS n FROM readings GROUP BY window(t, 5), room EMIT FINAL;
EXPLAIN SHARING SELECT window(t, 5).start AS at, room, count(*) AS n FROM readings GROUP BY window(t, 5), room;
> Answered from part 1 of v:
>   SELECT `window.start` AS at, `readings.room` AS room, `count(*)` AS n FROM `part 1 of v`

-- the latest rows of each
CREATE VIEW v AS SELECT room, temp FROM readings [PARTITION BY room ROWS 3];
EXPLAIN SHARING SELECT room, max(temp) AS m FROM readings [PARTITION BY room ROWS 3] WHERE room <> 'a' GROUP BY room;
> Answered from v:
>   SELECT room, max(temp) AS m FROM v WHERE room <> 'a' GROUP BY room

-- fewer of the latest rows
CREATE VIEW v AS SELECT room, temp FROM readings [PARTITION BY room ROWS 3];
EXPLAIN SHARING SELECT room, temp FROM readings [PARTITION BY room ROWS 2];
> Answered from no view that runs.
