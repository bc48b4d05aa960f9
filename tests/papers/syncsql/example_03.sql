-- Example 3 and figure 2: Q3, the rooms with a temperature greater than 80.
-- The paper writes the tagged stream; it is what KEY makes of these tuples.

create source TemperatureSource (RoomID string, Temperature int, t int) event time t;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
--> TemperatureSource: <a,78>1, <a,105>2, <b,70>3, <c,95>4, <a,76>5, <c,103>6

select STREAMED RoomID, Temperature from R(RoomTempStr);
--= +<a,78>1, u<a,105>2, +<b,70>3, +<c,95>4, u<a,76>5, u<c,103>6

select STREAMED RoomID, Temperature
from R(RoomTempStr) R
where R.Temperature > 80;
--= +<a,105>2, +<c,95>4, -<a>5, u<c,103>6
