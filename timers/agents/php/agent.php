<?php
// Answers questions about the clocks of PHP in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled
// in from clocks.json.
set_error_handler(function ($code, $why) {
    throw new ErrorException($why);
});
ini_set('memory_limit', '-1');

function cpu_us(array $usage): int
{
    return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1000000 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
}

// each clock:
final class Clock«n»
{
    public function intervals(int $units, array &$first, array &$second): int
    {
        $state = 1;
        $count = count($first);
        for ($at = 0; $at < $count; $at++) {
            $first[$at] = «call»;
            for ($left = $units; $left > 0; $left--) {
                $state = $state * 5 & 255;
            }
            $second[$at] = «call»;
        }
        return $state;
    }

    public function batches(int $calls, array &$first, array &$second): mixed
    {
        $last = null;
        $count = count($first);
        for ($at = 0; $at < $count; $at++) {
            $first[$at] = hrtime(true);
            for ($left = $calls; $left > 0; $left--) {
                $last = «call»;
            }
            $second[$at] = hrtime(true);
        }
        return $last;
    }

    public function readings(array &$first): void
    {
        $count = count($first);
        for ($at = 0; $at < $count; $at++) {
            $first[$at] = «call»;
        }
    }

    public function comparisons(int $units, array &$before, array &$first, array &$after): int
    {
        $state = 1;
        $count = count($first);
        for ($at = 0; $at < $count; $at++) {
            $before[$at] = hrtime(true);
            $first[$at] = «call»;
            $after[$at] = hrtime(true);
            for ($left = $units; $left > 0; $left--) {
                $state = $state * 5 & 255;
            }
        }
        return $state;
    }

    public function read(): mixed
    {
        return «call»;
    }

    public function ticks(mixed $v): int
    {
        return «ticks»;
    }
}
// end each
$clocks = [
    // each clock:
    '«id»' => new Clock«n»(),
    // end each
];
$waiters = [
    // each waiter:
    '«id»' => function (int $ns): void { «wait» },
    // end each
];

function blank(int $count): array
{
    return $count > 0 ? array_fill(0, $count, 0) : [];
}

function compute(float $ns): void
{
    for ($end = hrtime(true) + $ns; hrtime(true) < $end;);
}

// Waits for a pause. Its end is computed, because sleeping ends late.
function pause(int $ns): void
{
    $end = hrtime(true) + $ns;
    if ($ns > 200000) {
        time_nanosleep(intdiv($ns - 200000, 1000000000), ($ns - 200000) % 1000000000);
    }
    compute($end - hrtime(true));
}

function advance(object $clock, int $during, int $ms): array
{
    // The first read of each clock is dropped, because it finds cold caches.
    hrtime(true);
    $clock->read();
    [$startReference, $start] = [hrtime(true), $clock->read()];
    if ($during === 0) {
        compute($ms * 1e6);
    } else {
        usleep($ms * 1000);
    }
    [$endReference, $end] = [hrtime(true), $clock->read()];
    return [$clock->ticks($end) - $clock->ticks($start), $endReference - $startReference];
}

function waits(callable $wait, int $most, int $repeat, array $lengths): array
{
    $values = [];
    for ($turn = 0; $turn < $repeat * count($lengths); $turn++) {
        $ns = $lengths[$turn % count($lengths)];
        pause(random_int(0, $most));
        $cpu = cpu_us(getrusage());
        $before = hrtime(true);
        $wait($ns);
        $after = hrtime(true);
        array_push($values, $turn % count($lengths), $before, $after, 1000 * (cpu_us(getrusage()) - $cpu), -1);
    }
    return $values;
}

function periods(callable $wait, int $period, int $count): array
{
    $values = [];
    for ($at = 0; $at < $count; $at++) {
        $wait($period);
        array_push($values, hrtime(true), 1);
    }
    return $values;
}

function answer(string $op, string $id, array $amounts): array
{
    global $clocks, $waiters;
    if ($op === 'waits' && isset($waiters[$id])) {
        return waits($waiters[$id], $amounts[0], $amounts[1], array_slice($amounts, 2));
    }
    if ($op === 'periods' && isset($waiters[$id])) {
        return periods($waiters[$id], $amounts[0], $amounts[1]);
    }
    $clock = $clocks[$id];
    if ($op === 'advance') {
        return advance($clock, $amounts[0], $amounts[1]);
    }
    $count = $amounts[$op === 'intervals' || $op === 'readings' ? 0 : 1] * ($op === 'comparisons' ? $amounts[2] : 1);
    [$first, $second, $third, $values] = [blank($count), blank($count), blank($count), []];
    if ($op === 'intervals') {
        foreach (array_slice($amounts, 1) as $units) {
            $clock->intervals($units, $first, $second);
            foreach ($first as $at => $start) {
                $values[] = $clock->ticks($second[$at]) - $clock->ticks($start);
            }
        }
        return $values;
    }
    if ($op === 'batches') {
        $clock->batches($amounts[0], $first, $second);
        return array_map(fn ($start, $end) => $end - $start, $first, $second);
    }
    if ($op === 'readings') {
        $clock->readings($first);
        return array_map([$clock, 'ticks'], $first);
    }
    if ($op !== 'comparisons') {
        throw new Exception('this agent does not know the question');
    }
    $clock->comparisons($amounts[0], $first, $second, $third);
    foreach ($second as $at => $value) {
        array_push($values, $first[$at], $clock->ticks($value), $third[$at]);
    }
    return $values;
}

function hello(): array
{
    return ['protocol' => 1, 'runtime' => ['name' => 'PHP', 'version' => PHP_VERSION], 'timers' => [], 'ops' => []];
}

function reply(string $line): array
{
    $asked = json_decode($line, true, 8, JSON_THROW_ON_ERROR);
    if ($asked['op'] === 'hello') {
        return hello();
    }
    $during = ['spin' => 0, 'sleep' => 1];
    $amounts = [];
    foreach (array_slice($asked, 2) as $key => $value) {
        if ($key === 'reference' && $value !== 'hrtime') {
            throw new Exception('this agent has one reference only');
        }
        if ($key !== 'reference') {
            array_push($amounts, ...(array) ($key === 'during' ? $during[$value] : $value));
        }
    }
    // Garbage is collected now, so that it is seldom collected during the measurement.
    gc_collect_cycles();
    $before = gc_status()['runs'];
    $values = answer($asked['op'], ((array) array_values($asked)[1])[0], $amounts);
    $start = $asked['op'] === 'periods' ? ['start' => null] : []; // all are loops of waits
    return $start + ['values' => $values] + (gc_status()['runs'] === $before ? [] : ['disturbed' => ['gc']]);
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $reply = reply($line);
    } catch (Throwable $why) {
        $reply = ['error' => $why->getMessage()];
    }
    echo json_encode($reply), "\n";
    flush();
}
