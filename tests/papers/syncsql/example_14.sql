-- Example 14: a sliding window with a range of five and a slide of two units.
-- Reconstructed: the tuples are those chosen for example 5. At every even time point T the view has the
-- tuples with T - 5 < TS <= T, and between two of them it does not change.

create source Cars (CarID string, t int) event time t;
create stream S over Cars key null;
--> Cars: <a>1, <b>2, <c>4, <d>7

create STREAMED view Sync2 As
select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;

create STREAMED view TwoUnitsSlide as
select 1 as KEY, MAX(T.Timepoint) as currTime
from R(Sync2) T;

create STREAMED view RangeFiveSlideTwo as
select R.*
from R[Sync2](S) R, R(TwoUnitsSlide) N
where N.currTime - 5 < R.TS ≤ N.currTime;
--= +<a,1>2, +<b,2>2, +<c,4>4, -<a,1>6, -<b,2>8, +<d,7>8, -<c,4>10, -<d,7>12
--@ 5: <a,1>, <b,2>, <c,4>
--@ 7: <b,2>, <c,4>

-- the same in CQL's notation
select STREAMED * from S [RANGE 5 SLIDE 2];
--= +<a,1>2, +<b,2>2, +<c,4>4, -<a,1>6, -<b,2>8, +<d,7>8, -<c,4>10, -<d,7>12

-- Not of the paper: the relation ticks every three units, the current time every two. At 3 the time is
-- still 2, so <b,2> is in the window and what comes at 3 is not yet.
create STREAMED view Sync3 As
select C.Timepoint from R(clockStr) C where C.Timepoint mod 3 = 0;
select STREAMED R.*
from R[Sync3](S) R, R(TwoUnitsSlide) N
where N.currTime - 5 < R.TS ≤ N.currTime;
--= +<a,1>3, +<b,2>3, -<a,1>6, +<c,4>6, -<b,2>8, +<d,7>9, -<c,4>10, -<d,7>12
