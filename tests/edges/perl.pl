# Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
use Time::HiRes qw(time gettimeofday);
my @all = map { time } 1 .. 20000;
print "Time::HiRes::time 1000", map({ sprintf " %.0f", $_ * 1e6 } @all), "\n";
@all = map { [gettimeofday] } 1 .. 20000;
print "gettimeofday 1000", map({ ' ' . ($_->[0] * 1000000 + $_->[1]) } @all), "\n";
