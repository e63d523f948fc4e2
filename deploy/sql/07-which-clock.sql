-- Which clock is the cheapest of those that step by less than 100 ns, count wall time and are trusted, on each kind of machine?
WITH kinds AS (
    SELECT platform, timer, count(*) AS nodes, median(cost_ns) AS cost_ns, median(accuracy_ns) AS accuracy_ns
    FROM latest
    WHERE status = 'ok' AND accuracy_ns < 100 AND trust = 'yes' AND counted = 'wall'
        AND counts = 'pass'
    GROUP BY platform, timer
)
SELECT platform, timer, nodes, round(cost_ns, 1) AS cost_ns, round(accuracy_ns, 2) AS accuracy_ns
FROM kinds
QUALIFY row_number() OVER (PARTITION BY platform ORDER BY cost_ns, timer) = 1
ORDER BY platform;
