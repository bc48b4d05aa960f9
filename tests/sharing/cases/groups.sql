-- some of the groups
CREATE VIEW v AS SELECT room, count(*) AS n, sum(temp) AS total FROM readings [RANGE 5] GROUP BY room;
EXPLAIN SHARING SELECT room, sum(temp) AS t FROM readings [RANGE 5] WHERE room = 'a' GROUP BY room;
> Answered from v:
>   SELECT room, total AS t FROM v WHERE room = 'a'

-- larger groups
CREATE VIEW v AS SELECT room, kind, count(*) AS n, sum(temp) AS total, min(temp) AS low, max(x) AS high FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, count(*) AS n, sum(temp) AS t, min(temp) AS low, max(x) AS high FROM readings [RANGE 5] GROUP BY room;
> Answered from v:
>   SELECT room, coalesce(sum(n), 0) AS n, sum(total) AS t, min(low) AS low, max(high) AS high FROM v GROUP BY room

-- all rows as one group
CREATE VIEW v AS SELECT room, count(*) AS n, sum(temp) AS total FROM readings [RANGE 5] GROUP BY room;
EXPLAIN SHARING SELECT count(*) AS n, sum(temp) AS t FROM readings [RANGE 5];
> Answered from v:
>   SELECT coalesce(sum(n), 0) AS n, sum(total) AS t FROM v

-- an average from a sum and a count
CREATE VIEW v AS SELECT room, kind, count(temp) AS n, sum(temp) AS total FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, avg(temp) AS mean FROM readings [RANGE 5] GROUP BY room;
> Answered from v:
>   SELECT room, if(coalesce(sum(n), 0) = 0, NULL, CAST(sum(total) AS DOUBLE) / CAST(coalesce(sum(n), 0) AS DOUBLE)) AS mean FROM v GROUP BY room

-- an average from a count that has NULLs in it
CREATE VIEW v AS SELECT room, kind, count(*) AS n, sum(temp) AS total FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, avg(temp) AS mean FROM readings [RANGE 5] GROUP BY room;
> Answered from no view that runs.
>   v: it does not have count(temp)

-- averages of averages
CREATE VIEW v AS SELECT room, kind, avg(temp) AS mean FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, avg(temp) AS mean FROM readings [RANGE 5] GROUP BY room;
> Answered from no view that runs.
>   v: it does not have sum(temp)

-- sums of floats are rounded
CREATE VIEW v AS SELECT room, kind, sum(x) AS total FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, sum(x) AS total FROM readings [RANGE 5] GROUP BY room;
> Answered from no view that runs.
>   v: sum of its groups cannot be put together

-- sums of floats of the same groups
CREATE VIEW v AS SELECT room, kind, sum(x) AS total FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, sum(x) AS total FROM readings [RANGE 5] WHERE kind = 'a' GROUP BY room;
> Answered from v:
>   SELECT room, total FROM v WHERE kind = 'a'

-- smaller groups
CREATE VIEW v AS SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room;
EXPLAIN SHARING SELECT room, kind, count(*) AS n FROM readings [RANGE 5] GROUP BY room, kind;
> Answered from no view that runs.
>   v: its groups are not by kind

-- a condition on rows, of which there are only groups
CREATE VIEW v AS SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room;
EXPLAIN SHARING SELECT room, count(*) AS n FROM readings [RANGE 5] WHERE temp > 3 GROUP BY room;
> Answered from no view that runs.
>   v: it does not have temp, to select rows by

-- a condition on groups
CREATE VIEW v AS SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room;
EXPLAIN SHARING SELECT room FROM readings [RANGE 5] GROUP BY room HAVING count(*) > 2;
> Answered from v:
>   SELECT room FROM v WHERE n > 2

-- a tighter condition on groups
CREATE VIEW v AS SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room HAVING count(*) > 1;
EXPLAIN SHARING SELECT room FROM readings [RANGE 5] GROUP BY room HAVING count(*) > 2;
> Answered from v:
>   SELECT room FROM v WHERE n > 2

-- groups that are missing, of larger ones
CREATE VIEW v AS SELECT room, kind, count(*) AS n FROM readings [RANGE 5] GROUP BY room, kind HAVING count(*) > 1;
EXPLAIN SHARING SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room HAVING count(*) > 2;
> Answered from part 1 of v:
>   SELECT `readings.room` AS room, coalesce(sum(`count(*)`), 0) AS n FROM `part 1 of v` GROUP BY `readings.room` HAVING coalesce(sum(`count(*)`), 0) > 2
> Not from these:
>   v: it has only groups where count(*) > 1

-- groups of rows
CREATE VIEW v AS SELECT room, temp, kind FROM readings [RANGE 5] WHERE temp > 3;
EXPLAIN SHARING SELECT kind, max(temp) AS m, median(temp) AS h FROM readings [RANGE 5] WHERE temp > 4 GROUP BY kind;
> Answered from v:
>   SELECT kind, max(temp) AS m, median(temp) AS h FROM v WHERE temp > 4 GROUP BY kind

-- rows of groups
CREATE VIEW v AS SELECT room, temp, count(*) AS n FROM readings [RANGE 5] GROUP BY room, temp;
EXPLAIN SHARING SELECT room, temp FROM readings [RANGE 5];
> Answered from no view that runs.
>   v: it has groups, and the query needs their rows

-- different values, from groups by them
CREATE VIEW v AS SELECT room, kind, count(*) AS n FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT kind, count(DISTINCT room) AS rooms FROM readings [RANGE 5] GROUP BY kind;
> Answered from v:
>   SELECT kind, count(DISTINCT room) AS rooms FROM v GROUP BY kind

-- different values, from their numbers
CREATE VIEW v AS SELECT room, kind, count(DISTINCT temp) AS n FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, count(DISTINCT temp) AS n FROM readings [RANGE 5] GROUP BY room;
> Answered from no view that runs.
>   v: different values cannot be counted from those of its groups

-- a filter on the rows of an aggregate
CREATE VIEW v AS SELECT room, kind, count(*) AS n, count(*) FILTER (WHERE temp > 3) AS hot FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, count(*) FILTER (WHERE temp > 3) AS hot, count(*) FILTER (WHERE kind = 'a') AS a FROM readings [RANGE 5] GROUP BY room;
> Answered from v:
>   SELECT room, coalesce(sum(hot), 0) AS hot, coalesce(sum(n) FILTER (WHERE 'a' = kind), 0) AS a FROM v GROUP BY room

-- another filter on the rows of an aggregate
CREATE VIEW v AS SELECT room, kind, count(*) AS n FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, count(*) FILTER (WHERE temp > 3) AS hot FROM readings [RANGE 5] GROUP BY room;
> Answered from no view that runs.
>   v: it does not have count(*) FILTER (WHERE 3 < temp)

-- the one group of all rows is there when there are none
CREATE VIEW v AS SELECT count(*) AS n FROM readings [RANGE 5];
EXPLAIN SHARING SELECT count(*) AS n FROM readings [RANGE 5] WHERE temp > 3;
> Answered from no view that runs.
>   v: it does not have temp, to select rows by

-- the one group of all rows
CREATE VIEW v AS SELECT count(*) AS n, max(temp) AS high FROM readings [RANGE 5];
EXPLAIN SHARING SELECT max(temp) AS m FROM readings [RANGE 5] HAVING count(*) > 3;
> Answered from v:
>   SELECT high AS m FROM v WHERE n > 3

-- variances
CREATE VIEW v AS SELECT room, kind, var_pop(temp) AS spread FROM readings [RANGE 5] GROUP BY room, kind;
EXPLAIN SHARING SELECT room, var_pop(temp) AS spread FROM readings [RANGE 5] GROUP BY room;
> Answered from no view that runs.
>   v: var_pop of its groups cannot be put together

-- groups of groups
CREATE VIEW v AS SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room;
EXPLAIN SHARING SELECT n, count(*) AS rooms FROM (SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room) GROUP BY n;
> Answered from v:
>   SELECT n, count(*) AS rooms FROM v GROUP BY n

-- groups joined with others
CREATE VIEW v AS SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room;
EXPLAIN SHARING SELECT c.n, m.floor FROM (SELECT room, count(*) AS n FROM readings [RANGE 5] GROUP BY room) c JOIN rooms m ON c.room = m.room;
> Answered from v:
>   SELECT t1.n AS n, t2.floor AS floor FROM v AS t1 JOIN rooms AS t2 ON t1.room = t2.room

-- longer windows to group by
CREATE VIEW v AS SELECT window(t, 5).start AS at, room, count(*) AS n FROM readings GROUP BY window(t, 5), room;
EXPLAIN SHARING SELECT window(t, 10).start AS at, count(*) AS n FROM readings GROUP BY window(t, 10);
> Answered from v:
>   SELECT at - (((at % 10) + 10) % 10) AS at, coalesce(sum(n), 0) AS n FROM v GROUP BY at - (((at % 10) + 10) % 10), (at - (((at % 10) + 10) % 10)) + 10

-- windows to group by that do not fit
CREATE VIEW v AS SELECT window(t, 4).start AS at, room, count(*) AS n FROM readings GROUP BY window(t, 4), room;
EXPLAIN SHARING SELECT window(t, 10).start AS at, count(*) AS n FROM readings GROUP BY window(t, 10);
> Answered from no view that runs.
>   v: its groups are not by t - (((t % 10) + 10) % 10)
