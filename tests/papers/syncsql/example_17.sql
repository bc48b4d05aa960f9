-- Example 17 and figure 8: the relation of Sync4 from the output of the relation of Sync2.
-- Reconstructed: the stream, which is that of example 2; the paper's figure is missing.

create source Raw (Attr1 string, op string, t int) event time t;
create stream S over Raw key Attr1 op op;
create STREAMED view Sync2 as select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
create STREAMED view Sync4 as select C.Timepoint from R(clockStr) C where C.Timepoint mod 4 = 0;
--> Raw: +<a>1, +<b>3, -<a>4, +<c>5

-- 8a: from S
select STREAMED * from R[Sync4](S);
--= +<b,3>4, +<c,5>8

-- 8b: from S2, the output of the relation of Sync2
create STREAMED view S2 as select * from R[Sync2](S);
--= +<a,1>2, -<a>4, +<b,3>4, +<c,5>6
select STREAMED * from R[Sync4](S2);
--= +<b,3>4, +<c,5>8
