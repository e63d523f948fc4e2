<?php
// Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
$all = [];
for ($at = 0; $at < 20000; $at++) $all[] = microtime(true);
echo "microtime 1000 ", implode(' ', array_map(fn ($one) => (int) round($one * 1e6), $all)), "\n";
