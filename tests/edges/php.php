<?php
// Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
$all = [];
for ($at = 0; $at < 20000; $at++) $all[] = microtime(true);
echo "microtime 1000 ", implode(' ', array_map(fn ($one) => (int) round($one * 1e6), $all)), "\n";
$all = [];
for ($at = 0; $at < 20000; $at++) $all[] = microtime();
echo "microtime.string 1000 ", implode(' ', array_map(fn ($one) => (int) substr($one, 11) * 1000000 + (int) substr($one, 2, 6), $all)), "\n";
$all = [];
for ($at = 0; $at < 20000; $at++) $all[] = hrtime(true);
echo "hrtime 1 ", implode(' ', $all), "\n";
$all = [];
for ($at = 0; $at < 20000; $at++) $all[] = hrtime();
echo "hrtime.array 1 ", implode(' ', array_map(fn ($one) => $one[0] * 1000000000 + $one[1], $all)), "\n";
