-- Which nodes were not quiet, so that their figures should be taken again?
SELECT node, round(load_one_minute, 1) AS load, round(100 * steal_share, 1) AS steal_percent,
    count(*) FILTER (warnings LIKE '%restless-core%') AS disturbed_timers, count(*) AS timers
FROM latest
WHERE cost_ns IS NOT NULL
GROUP BY node, load_one_minute, steal_share
HAVING disturbed_timers > timers / 2
ORDER BY disturbed_timers DESC, node;
