-- A warehouse: sensors report temperatures, and say when they have reported all of an hour.
CREATE SOURCE sensor1 (sid INT, hour INT, minute INT, currtmp INT, at TIMESTAMP, p STRING)
  USING json OPTIONS (path 'examples/data/sensor1')
  EVENT TIME at;
CREATE SOURCE sensor2 (sid INT, hour INT, minute INT, currtmp INT, at TIMESTAMP, p STRING)
  USING json OPTIONS (path 'examples/data/sensor2')
  EVENT TIME at;

-- A row whose column p is not NULL is a punctuation, such as <*,8,*,*,*>: no more of hour 8.
CREATE STREAM reports1 OVER sensor1 KEY NULL PUNCTUATED BY COLUMN p;
CREATE STREAM reports2 OVER sensor2 KEY NULL PUNCTUATED BY COLUMN p;

-- The highest temperature of an hour, once and for all: when both sensors are done with it.
CREATE VIEW hottest AS
  SELECT hour, max(currtmp) AS maxtemp
  FROM (SELECT currtmp, hour FROM reports1 UNION SELECT currtmp, hour FROM reports2)
  GROUP BY hour
  EMIT FINAL;

-- Hours 8 and 9 come when the slower sensor closes them, hour 10 only when the streams end.
SELECT STREAMED * FROM hottest;
