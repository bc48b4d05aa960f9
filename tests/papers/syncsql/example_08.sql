-- Example 8: HotRooms1, refreshed every two minutes.
-- Reconstructed: the tuples are those of example 9, where the unit of time is the minute.

create source TemperatureSource (RoomID string, Temperature int, t int) event time t;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
create STREAMED view Sync2 As
select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
--> TemperatureSource: <a,105>1, <b,110>3, <c,97>4, <d,75>5, <a,75>7

create STREAMED view HotRooms1 As
select RoomID, Temperature
from R[Sync2](RoomTempStr) R
where R.Temperature > 80;
--= +<a,105>2, +<b,110>4, +<c,97>4, -<a>8

describe HotRooms1;
--| column                            type
--| --------------------------------  --------------
--| RoomID                            STRING
--| Temperature                       INT
--| # kind                            view
--| # key                             RoomID
--| # full synchronization points     multiples of 2
--| # partial synchronization points  none
--| (6 rows)
