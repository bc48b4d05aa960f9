-- Example 10: a synchronization stream that ticks every two time points.
-- The paper lists its output, +<0>0, +<2>2, +<4>4, +<6>6, ..., which never ends and is never stored:
-- here a stream with a tuple at every time point shows where the ticks are.

create source Points (Timepoint int, t int) event time t;
--> Points: <0>0, <1>1, <2>2, <3>3, <4>4, <5>5, <6>6

create STREAMED view Sync2 As
select C.Timepoint
from R(clockStr) C
where C.Timepoint mod 2 = 0;

describe Sync2;
--| column                    type
--| ------------------------  --------------
--| timepoint                 points in time
--| # synchronization points  multiples of 2
--| (2 rows)

select STREAMED Timepoint from R[Sync2](Points);
--= +<0>0, +<1>2, +<2>2, +<3>4, +<4>4, +<5>6, +<6>6
