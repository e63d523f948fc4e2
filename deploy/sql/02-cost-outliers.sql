-- Which nodes pay more for a clock than others of their kind, by robust z-scores of log costs above 8?

-- 1.4826 MAD is the standard deviation of a normal law.
WITH costs AS (
    SELECT node, platform, timer, cost_ns, ln(cost_ns) AS log_cost FROM latest WHERE cost_ns > 0
), kinds AS (
    SELECT platform, timer, median(log_cost) AS middle, 1.4826 * mad(log_cost) AS deviation
    FROM costs GROUP BY platform, timer HAVING count(*) >= 3
)
SELECT node, timer, round(cost_ns, 1) AS cost_ns, round(exp(middle), 1) AS of_its_kind_ns,
    round((log_cost - middle) / deviation, 1) AS z
FROM costs JOIN kinds USING (platform, timer)
WHERE deviation > 0 AND (log_cost - middle) / deviation > 8
ORDER BY z DESC, node, timer LIMIT 1000;
