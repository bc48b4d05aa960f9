-- Example 5: a sliding window of five time units, as a predicate on TS.
-- Reconstructed: the tuples, which the paper does not give. A tuple is in the view from its TS on, and
-- until five units later.

create source Cars (CarID string, t int) event time t;
create stream S over Cars key null;
--> Cars: <a>1, <b>2, <c>4, <d>7

create STREAMED view FiveUnitsWindow as
select *
from R(S) R
where Now - 5 < R.TS ≤ Now;
--= +<a,1>1, +<b,2>2, +<c,4>4, -<a,1>6, -<b,2>7, +<d,7>7, -<c,4>9, -<d,7>12
--@ 5: <a,1>, <b,2>, <c,4>
--@ 6: <b,2>, <c,4>
