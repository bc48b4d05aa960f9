SELECT bidder, count(*) AS bids, window.start AS starts, window.end AS ends
FROM bid
GROUP BY bidder, window(dateTime, '10 seconds')
EMIT FINAL
