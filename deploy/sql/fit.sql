-- Nodes whose CLOCK_MONOTONIC cannot be trusted, or is not read in user mode in less than 100 ns, with the reason, and those of which this is not
-- known. By the last report of each node that shows it. `timermeter check --from RUN` prints the same verdicts.
--   cat csv.sql fit.sql | duckdb
WITH ranked AS (
    SELECT node, fit, fit_reason, created,
        row_number() OVER (PARTITION BY node ORDER BY CASE fit WHEN 'unknown' THEN 1 ELSE 0 END, created DESC) AS place
    FROM clocks
)
SELECT node, fit, fit_reason, created
FROM ranked
WHERE place = 1
    AND fit <> 'yes'
ORDER BY fit, node;
