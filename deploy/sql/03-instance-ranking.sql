-- Which kinds of machines have the better clock, by the median Quality and cost of what most programs read?
SELECT platform, count(*) AS nodes, round(100 * median(quality), 2) AS quality_percent,
    round(median(cost_ns), 1) AS cost_ns, round(median(accuracy_ns), 1) AS accuracy_ns
FROM latest
WHERE timer = 'monotonic' AND NOT emulated AND quality IS NOT NULL
GROUP BY platform
ORDER BY quality_percent DESC, platform;
