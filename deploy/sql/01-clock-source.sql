-- Which nodes have another clock source than the fleet?
WITH nodes AS (SELECT DISTINCT node, kernel, clock_source FROM latest WHERE clock_source IS NOT NULL)
SELECT node, kernel, clock_source, (SELECT mode(clock_source) FROM nodes) AS of_the_fleet
FROM nodes
WHERE clock_source <> of_the_fleet
ORDER BY node;
