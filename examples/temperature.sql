-- Rooms that are hot, after the examples of SyncSQL. Time is plain integers.
CREATE SOURCE temperature (room STRING, temp INT, t INT)
  USING json OPTIONS (path 'examples/data/temperature')
  EVENT TIME t;

-- A reading replaces the last one of its room.
CREATE STREAM room_temp OVER temperature KEY (room);

CREATE STREAMED VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80;
CREATE STREAMED VIEW very_hot AS SELECT room, temp FROM hot WHERE temp > 100;

-- The same rooms, looked at every fourth tick only.
CREATE STREAMED VIEW every4 AS SELECT timepoint FROM clock WHERE timepoint % 4 = 0;
CREATE STREAMED VIEW hot_every4 AS SELECT room, temp FROM room_temp SYNC BY every4 WHERE temp > 80;

SELECT STREAMED * FROM hot;
SELECT STREAMED * FROM very_hot;
SELECT STREAMED * FROM hot_every4;
