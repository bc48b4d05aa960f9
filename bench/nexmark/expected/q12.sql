SELECT bidder, count(*) AS bids, time_bucket(INTERVAL 10 SECONDS, dateTime) AS starts, time_bucket(INTERVAL 10 SECONDS, dateTime) + INTERVAL 10 SECONDS AS ends
FROM bid
GROUP BY ALL
