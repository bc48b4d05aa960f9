SELECT auction, bidder, price, dateTime, extra, strftime(dateTime, '%Y-%m-%d') AS day,
  strftime(dateTime, '%H:%M') AS minute
FROM bid
