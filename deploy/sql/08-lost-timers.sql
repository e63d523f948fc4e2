-- Which timers do nodes lack that most of their kind have, and why?
WITH kinds AS (
    SELECT platform, timer FROM latest GROUP BY platform, timer
    HAVING avg(CAST(status IN ('ok', 'unresolved') AS INTEGER)) > 0.5
)
SELECT node, timer, status, left(reason, 60) AS reason
FROM latest JOIN kinds USING (platform, timer)
WHERE status NOT IN ('ok', 'unresolved')
ORDER BY node, timer;
