-- the same join, with a condition more
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT r.temp FROM alarms [RANGE 5] a JOIN room_temp r ON a.room = r.room WHERE a.level > 2;
> Answered from v:
>   SELECT temp FROM v WHERE level > 2

-- a column that is equal to one that is there
CREATE VIEW v AS SELECT r.room, r.temp FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT a.room FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
> Answered from v:
>   SELECT room FROM v

-- floats that are equal need not be the same
CREATE VIEW v AS SELECT a.x, a.room FROM readings [RANGE 5] a JOIN readings [RANGE 5] b ON a.x = b.x WHERE a.temp > 3;
EXPLAIN SHARING SELECT b.x FROM readings [RANGE 5] a JOIN readings [RANGE 5] b ON a.x = b.x WHERE a.temp > 3;
> Answered from part 1 of v:
>   SELECT `b.x` AS x FROM `part 1 of v`
> Not from these:
>   v: it does not have x

-- a join of more
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT r.temp, m.floor FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room JOIN rooms m ON m.room = a.room WHERE m.floor = 1;
> Answered from v:
>   SELECT t1.temp AS temp, t2.floor AS floor FROM v AS t1 JOIN rooms AS t2 ON t1.room = t2.room WHERE t2.floor = 1

-- a join of fewer
CREATE VIEW v AS SELECT r.room, r.temp FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT room, temp FROM room_temp;
> Answered from no view that runs.
>   v: it reads other streams, or reads them in another way

-- a part of a join
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT r.temp, a.level FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room WHERE r.temp > 90;
> Answered from v:
>   SELECT t1.temp AS temp, t2.level AS level FROM v AS t1 JOIN alarms [RANGE 5] AS t2 ON t1.room = t2.room WHERE t1.temp > 90

-- NULL equals NULL in the view, and not in the query
CREATE VIEW v AS SELECT r.room, a.room AS other, r.temp FROM room_temp r JOIN alarms [RANGE 5] a ON r.room <=> a.room;
EXPLAIN SHARING SELECT r.temp FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
> Answered from v:
>   SELECT temp FROM v WHERE room = room

-- NULL equals NULL in the query, and not in the view
CREATE VIEW v AS SELECT r.room, a.room AS other, r.temp FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT r.temp FROM room_temp r JOIN alarms [RANGE 5] a ON r.room <=> a.room;
> Answered from no view that runs.
>   v: it has only rows where room = room

-- an inner join from a product
CREATE VIEW v AS SELECT r.room, a.room AS other, r.temp, a.level FROM room_temp r CROSS JOIN alarms [RANGE 5] a;
EXPLAIN SHARING SELECT r.temp FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room WHERE a.level = r.temp;
> Answered from v:
>   SELECT temp FROM v WHERE room = other AND temp = level

-- an equality that follows from two others
CREATE VIEW v AS SELECT a.room, c.level FROM room_temp a JOIN alarms [RANGE 5] c ON a.room = c.room;
EXPLAIN SHARING SELECT c.level FROM room_temp a JOIN rooms b ON a.room = b.room JOIN alarms [RANGE 5] c ON b.room = c.room;
> Answered from v:
>   SELECT t1.level AS level FROM v AS t1 JOIN rooms AS t2 ON t1.room = t2.room

-- an outer join, with a condition more
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp r LEFT JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT r.room, a.level FROM room_temp r LEFT JOIN alarms [RANGE 5] a ON r.room = a.room WHERE r.temp > 5;
> Answered from v:
>   SELECT room, level FROM v WHERE temp > 5

-- an inner join is not an outer one
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT r.room, r.temp, a.level FROM room_temp r LEFT JOIN alarms [RANGE 5] a ON r.room = a.room;
> Answered from no view that runs.
>   v: it reads other streams, or reads them in another way

-- an outer join under another condition
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp r LEFT JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT r.room, a.level FROM room_temp r LEFT JOIN alarms [RANGE 5] a ON r.room = a.room AND a.level > 3;
> Answered from no view that runs.

-- an outer join of which only inner pairs are left
CREATE VIEW v AS SELECT r.room, r.temp, a.level FROM room_temp r JOIN alarms [RANGE 5] a ON r.room = a.room;
EXPLAIN SHARING SELECT r.temp FROM room_temp r LEFT JOIN alarms [RANGE 5] a ON r.room = a.room WHERE a.level > 3;
> Answered from v:
>   SELECT temp FROM v WHERE level > 3

-- a stream joined with itself
CREATE VIEW v AS SELECT a.room, a.temp AS first, b.temp AS second FROM readings [RANGE 5] a JOIN readings [RANGE 5] b ON a.room = b.room WHERE a.temp < b.temp;
EXPLAIN SHARING SELECT b.room FROM readings [RANGE 5] b JOIN readings [RANGE 5] a ON a.room = b.room WHERE b.temp > a.temp AND a.temp > 4;
> Answered from v:
>   SELECT room FROM v WHERE first > 4

-- a union
CREATE VIEW v AS SELECT room, temp AS n FROM readings [RANGE 5] UNION ALL SELECT room, level FROM alarms [RANGE 5];
EXPLAIN SHARING SELECT room FROM readings [RANGE 5] WHERE temp > 3 UNION ALL SELECT room FROM alarms [RANGE 5] WHERE level > 3;
> Answered from v:
>   SELECT room FROM v WHERE n > 3

-- a union with another condition on each part
CREATE VIEW v AS SELECT room, temp AS n FROM readings [RANGE 5] UNION ALL SELECT room, level FROM alarms [RANGE 5];
EXPLAIN SHARING SELECT room FROM readings [RANGE 5] WHERE temp > 3 UNION ALL SELECT room FROM alarms [RANGE 5] WHERE level > 4;
> Answered from no view that runs.

-- what is done to a union
CREATE VIEW v AS SELECT room, temp AS n FROM readings [RANGE 5] UNION ALL SELECT room, level FROM alarms [RANGE 5];
EXPLAIN SHARING SELECT room, count(*) AS n FROM (SELECT room, temp AS n FROM readings [RANGE 5] UNION ALL SELECT room, level FROM alarms [RANGE 5]) WHERE n > 2 GROUP BY room;
> Answered from v:
>   SELECT room, count(*) AS n FROM v WHERE n > 2 GROUP BY room

-- a part of a union
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp > 90 UNION ALL SELECT room FROM alarms [RANGE 5];
> Answered from v:
>   SELECT room FROM (SELECT room FROM v WHERE temp > 90 UNION ALL SELECT room FROM alarms [RANGE 5])

-- rows of a ranking
CREATE VIEW v AS SELECT room, temp FROM room_temp QUALIFY row_number() OVER (ORDER BY temp DESC, room) <= 5;
EXPLAIN SHARING SELECT room FROM (SELECT room, temp FROM room_temp QUALIFY row_number() OVER (ORDER BY temp DESC, room) <= 5) WHERE temp > 3;
> Answered from v:
>   SELECT room FROM v WHERE temp > 3

-- a ranking of fewer rows is another
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 3 QUALIFY row_number() OVER (ORDER BY temp DESC, room) <= 5;
EXPLAIN SHARING SELECT room, temp FROM room_temp QUALIFY row_number() OVER (ORDER BY temp DESC, room) <= 5;
> Answered from no view that runs.
