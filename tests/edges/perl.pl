# Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
use Time::HiRes qw(time gettimeofday clock_gettime clock CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);
my @all = map { time } 1 .. 20000;
print "Time::HiRes::time 1000", map({ sprintf " %.0f", $_ * 1e6 } @all), "\n";
@all = map { [gettimeofday] } 1 .. 20000;
print "gettimeofday 1000", map({ ' ' . ($_->[0] * 1000000 + $_->[1]) } @all), "\n";
@all = map { clock_gettime(CLOCK_MONOTONIC) } 1 .. 20000;
print "clock_gettime 1", map({ sprintf " %.0f", $_ * 1e9 } @all), "\n";
@all = map { clock_gettime(CLOCK_PROCESS_CPUTIME_ID) } 1 .. 20000;
print "clock_gettime.process 1", map({ sprintf " %.0f", $_ * 1e9 } @all), "\n";
@all = map { clock } 1 .. 20000;
print "Time::HiRes::clock 1000", map({ sprintf " %.0f", $_ * 1e6 } @all), "\n";
