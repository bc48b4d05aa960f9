-- Example 15 and figure 6: from a synchronized relation to a stream.
-- The stream that leaves a synchronized relation has two times for each tuple: when it arrived, which
-- is the attribute TS, here t; and when it was released, which is its timestamp.

create source Raw (Attr1 string, op string, t int) event time t;
create stream S over Raw key Attr1 op op;
create STREAMED view Sync2 as select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
--> Raw: +<a>1, +<b>3, -<a>4, +<c>5

select STREAMED * from R[Sync2](S);
--= +<a,1>2, -<a>4, +<b,3>4, +<c,5>6

-- TS goes with a projection
select STREAMED Attr1 from R[Sync2](S);
--= +<a>2, -<a>4, +<b>4, +<c>6
