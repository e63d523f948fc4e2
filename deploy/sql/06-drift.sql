-- On which nodes does a clock not keep its rate, and by how much?
SELECT node, string_agg(timer, ' ' ORDER BY timer) AS timers,
    round(arg_max(rate_offset_ppm, abs(rate_offset_ppm)), 1) AS worst_ppm
FROM latest
WHERE stable = 'fail'
GROUP BY node
ORDER BY abs(worst_ppm) DESC, node;
