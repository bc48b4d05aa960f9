-- Example 6: the cars of each type in the window of example 5.
-- Reconstructed: the tuples. As the paper writes it, the query does not select what it groups by, so
-- its output has no key and is told by + and -; where the truck goes as the bus comes, at 7, there is
-- one count of 1 before and after. With the type selected, the output has the updates of the text.

create source Cars (CarID string, CarType string, t int) event time t;
create stream S over Cars key null;
--> Cars: <c1,car>1, <t1,truck>2, <c2,car>4, <b1,bus>7

create STREAMED view FiveUnitsWindow as
select *
from R(S) R
where Now - 5 < R.TS ≤ Now;

select STREAMED COUNT(*)
from R(FiveUnitsWindow)
groupby CarType;
--= +<1>1, +<1>2, -<1>4, +<2>4, -<2>6, +<1>6, -<1>9, -<1>12

create STREAMED view CarCount as
select CarType, COUNT(*) as cars
from R(FiveUnitsWindow)
groupby CarType;
--= +<car,1>1, +<truck,1>2, u<car,2>4, u<car,1>6, -<truck>7, +<bus,1>7, -<car>9, -<bus>12
--@ 4: <car,2>, <truck,1>
