-- a tighter bound
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT room, temp FROM room_temp WHERE temp > 100;
> Answered from v:
>   SELECT room, temp FROM v WHERE temp > 100

-- the same bound
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT temp, room AS r FROM room_temp WHERE NOT temp <= 80;
> Answered from v:
>   SELECT temp, room AS r FROM v

-- bounds that touch: the value itself is missing
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT room, temp FROM room_temp WHERE temp >= 80;
> Answered from no view that runs.
>   v: it has only rows where temp > 80

-- bounds that touch: the value itself is there
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp >= 80;
EXPLAIN SHARING SELECT room, temp FROM room_temp WHERE temp > 80;
> Answered from v:
>   SELECT room, temp FROM v WHERE temp > 80

-- a wider bound
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT room, temp FROM room_temp WHERE temp > 70;
> Answered from no view that runs.
>   v: it has only rows where temp > 80

-- a range in a range
CREATE VIEW v AS SELECT * FROM room_temp WHERE temp BETWEEN 10 AND 100;
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp >= 20 AND temp < 100 AND kind = 'a';
> Answered from v:
>   SELECT room FROM v WHERE temp >= 20 AND temp < 100 AND kind = 'a'

-- one of the values
CREATE VIEW v AS SELECT * FROM room_temp WHERE kind IN ('a', 'b', 'c');
EXPLAIN SHARING SELECT room FROM room_temp WHERE kind IN ('a', 'c');
> Answered from v:
>   SELECT room FROM v WHERE kind = 'a' OR kind = 'c'

-- a value that is not among them
CREATE VIEW v AS SELECT * FROM room_temp WHERE kind IN ('a', 'b');
EXPLAIN SHARING SELECT room FROM room_temp WHERE kind IN ('a', 'c');
> Answered from no view that runs.
>   v: it has only rows where kind = 'a' OR kind = 'b'

-- a column that the view does not have, to select by
CREATE VIEW v AS SELECT room FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp > 100;
> Answered from no view that runs.
>   v: it does not have temp, to select rows by

-- a column that the view does not have, to show
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp > 80;
EXPLAIN SHARING SELECT room, kind FROM room_temp WHERE temp > 100;
> Answered from no view that runs.
>   v: it does not have kind

-- a column with one value need not be there
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE kind = 'a';
EXPLAIN SHARING SELECT room, kind FROM room_temp WHERE kind = 'a' AND temp > 1;
> Answered from v:
>   SELECT room, 'a' AS kind FROM v WHERE temp > 1

-- the value of a column that the view does not have is not known of its rows
CREATE VIEW v AS SELECT room, temp FROM room_temp;
EXPLAIN SHARING SELECT room, kind FROM room_temp WHERE kind = 'a';
> Answered from no view that runs.
>   v: it does not have kind, to select rows by

-- a condition that is met by what is not NULL
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp IS NOT NULL;
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp < 5;
> Answered from v:
>   SELECT room FROM v WHERE temp < 5

-- NULL meets a condition on NULL only
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp IS NOT NULL;
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp < 5 OR temp IS NULL;
> Answered from no view that runs.
>   v: it has only rows where NOT (temp IS NULL)

-- NULL is neither equal nor unequal
CREATE VIEW v AS SELECT room, temp FROM room_temp WHERE temp <> 5;
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp = 6 OR temp IS NULL;
> Answered from no view that runs.
>   v: it has only rows where temp <> 5

-- a condition that is one of two
CREATE VIEW v AS SELECT room, temp, kind FROM room_temp WHERE temp > 80 OR kind = 'a';
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp > 90;
> Answered from v:
>   SELECT room FROM v WHERE temp > 90

-- a condition on an expression, written in another way
CREATE VIEW v AS SELECT room, temp, x, temp + level AS both FROM room_temp WHERE temp + level > 10;
EXPLAIN SHARING SELECT room FROM room_temp WHERE level + temp > 20;
> Answered from v:
>   SELECT room FROM v WHERE both > 20

-- a condition on another expression
CREATE VIEW v AS SELECT room, temp, level FROM room_temp WHERE temp + level > 10;
EXPLAIN SHARING SELECT room FROM room_temp WHERE temp - level > 20;
> Answered from no view that runs.
>   v: it has only rows where (temp + level) > 10

-- duplicates are kept
CREATE VIEW v AS SELECT kind, temp FROM readings [RANGE 5];
EXPLAIN SHARING SELECT kind FROM readings [RANGE 5] WHERE temp > 3;
> Answered from v:
>   SELECT kind FROM v WHERE temp > 3

-- different rows from all rows
CREATE VIEW v AS SELECT kind, temp FROM readings [RANGE 5];
EXPLAIN SHARING SELECT DISTINCT kind FROM readings [RANGE 5];
> Answered from v:
>   SELECT kind FROM v GROUP BY kind

-- all rows from different rows
CREATE VIEW v AS SELECT DISTINCT kind, temp FROM readings [RANGE 5];
EXPLAIN SHARING SELECT kind, temp FROM readings [RANGE 5];
> Answered from no view that runs.
>   v: it has groups, and the query needs their rows

-- different rows from different rows
CREATE VIEW v AS SELECT DISTINCT kind, temp FROM readings [RANGE 5];
EXPLAIN SHARING SELECT DISTINCT kind FROM readings [RANGE 5] WHERE temp > 3;
> Answered from v:
>   SELECT kind FROM v WHERE temp > 3 GROUP BY kind

-- different rows, by a column that is gone
CREATE VIEW v AS SELECT DISTINCT kind FROM readings [RANGE 5];
EXPLAIN SHARING SELECT DISTINCT kind FROM readings [RANGE 5] WHERE temp > 3;
> Answered from no view that runs.
>   v: it does not have temp, to select rows by

-- another stream
CREATE VIEW v AS SELECT room FROM readings [RANGE 5];
EXPLAIN SHARING SELECT room FROM alarms [RANGE 5];
> Answered from no view that runs.

-- the latest rows are not all rows
CREATE VIEW v AS SELECT room, temp FROM readings;
EXPLAIN SHARING SELECT room, temp FROM room_temp;
> Answered from no view that runs.
