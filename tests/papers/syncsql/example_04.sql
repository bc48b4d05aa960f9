-- Example 4 and figure 3: Q3 and Q4 over a view.
-- Reconstructed: the rewritten Q4 is missing from the text. Its output is given for times 2 and 6; at
-- time 5 room a leaves it, as it leaves its input.

create source TemperatureSource (RoomID string, Temperature int, t int) event time t;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
--> TemperatureSource: <a,78>1, <a,105>2, <b,70>3, <c,95>4, <a,76>5, <c,103>6

create STREAMED view HotRooms1 as
select RoomID, Temperature
from R(RoomTempStr) R
where R.Temperature > 80;
--= +<a,105>2, +<c,95>4, -<a>5, u<c,103>6

select STREAMED RoomID, Temperature from R(HotRooms1) R;
--= +<a,105>2, +<c,95>4, -<a>5, u<c,103>6

select STREAMED RoomID, Temperature from R(HotRooms1) R where R.Temperature > 100;
--= +<a,105>2, -<a>5, +<c,103>6

select STREAMED RoomID, Temperature from R(RoomTempStr) R where R.Temperature > 100;
--= +<a,105>2, -<a>5, +<c,103>6
