SELECT p.id, p.name, time_bucket(INTERVAL 10 SECONDS, p.dateTime) AS starts
FROM person AS p
WHERE EXISTS (
  SELECT 1 FROM auction AS a
  WHERE a.seller = p.id
    AND time_bucket(INTERVAL 10 SECONDS, a.dateTime) = time_bucket(INTERVAL 10 SECONDS, p.dateTime))
