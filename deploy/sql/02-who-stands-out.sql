-- Which nodes stand out, and why, as `timermeter fleet fleet --format json > judged.json` judged?
WITH judged AS (
    SELECT unnest(odd) AS odd FROM read_json('judged.json', columns = {
        odd: 'STRUCT(node VARCHAR, "group" BIGINT, reasons STRUCT(kind VARCHAR, says VARCHAR, ratio DOUBLE)[])[]'
    })
), reasons AS (
    SELECT odd.node AS node, odd."group" AS of_group, unnest(odd.reasons) AS reason FROM judged
)
SELECT node, of_group, reason.kind AS what, round(reason.ratio, 2) AS times, reason.says AS why
FROM reasons
ORDER BY what, times DESC, node LIMIT 1000;
