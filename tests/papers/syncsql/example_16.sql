-- Example 16 and figure 7: a join of relations with different synchronization points.
-- Reconstructed: the tuples, so that the output changes at each of the refresh points that the text
-- names, 2, 3, 4 and 6. At 2 the join has S2 up to 2 and S3 up to 0; at 3, S2 up to 2 and S3 up to 3; at
-- 4, S2 up to 4 and S3 up to 3; at 6, all of both.

create source Raw2 (ID string, t int) event time t;
create source Raw3 (ID string, t int) event time t;
create stream S2 over Raw2 key null;
create stream S3 over Raw3 key null;
create STREAMED view Sync2 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
create STREAMED view Sync3 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 3 = 0;
--> Raw2: <a>1, <b>2, <c>3, <d>5
--> Raw3: <a>0, <b>1, <c>2, <d>5

select STREAMED *
from R[Sync2](S2) R2, R[Sync3](S3) R3
where R2.ID = R3.ID;
--= +<a,1,a,0>2, +<b,2,b,1>3, +<c,3,c,2>4, +<d,5,d,5>6

create STREAMED view Joined as
select R2.ID, R2.TS as ts2, R3.TS as ts3
from R[Sync2](S2) R2, R[Sync3](S3) R3
where R2.ID = R3.ID;
--= +<a,1,0>2, +<b,2,1>3, +<c,3,2>4, +<d,5,5>6

describe Joined;
--| column                            type
--| --------------------------------  -----------------------------------------------------
--| ID                                STRING
--| ts2                               INT
--| ts3                               INT
--| # kind                            view
--| # full synchronization points     multiples of 6
--| # partial synchronization points  multiples of 2; multiples of 3; but for the full ones
--| (6 rows)
