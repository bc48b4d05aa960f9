CREATE VIEW bids AS
SELECT auction, count(*) AS num, window.start AS starts, window.end AS ends
FROM bid
GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
EMIT FINAL;

SELECT a.auction, a.num
FROM bids AS a
JOIN (SELECT max(num) AS most, starts, ends FROM bids GROUP BY starts, ends) AS m
  ON a.starts = m.starts AND a.ends = m.ends
WHERE a.num >= m.most
