# Answers questions about the clocks of Perl in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled
# in from clocks.json.
use strict;
use warnings;
no warnings 'void';
use Time::HiRes qw(clock_getres clock_gettime gettimeofday nanosleep CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

# Readings of CLOCK_MONOTONIC are doubles of seconds. They are converted to nanoseconds as long as doubles are finer than half a
# nanosecond, which is for 48 days after the start of the machine, and to steps of the mantissa afterwards.
my $digits = 52 - int(log(clock_gettime(CLOCK_MONOTONIC)) / log(2));
my $is_fine = 2**-$digits < 0.4e-9;
my $unit = $is_fine ? 1 : 1e9 / 2**$digits;

sub nanoseconds {
    my ($seconds) = @_;
    return sprintf('%d', $is_fine ? $seconds * 1e9 + 0.5 : $seconds * 2**$digits);
}

# Converts seconds since 1970 to steps of the mantissa of a double, which until 2038 has 22 binary digits after the point.
sub mantissa {
    my ($seconds) = @_;
    my $ticks = $seconds * 4194304;
    die "$seconds s is not a whole number of steps of 2^-22 s\n" if $ticks != int($ticks);
    return sprintf('%d', $ticks);
}

my (%clocks, %waiters, %declared);
# each clock:
{
    $clocks{'«id»'} = {
        intervals => sub {
            my ($units, $first, $second) = @_;
            my $state = 1;
            for my $at (0 .. $#$first) {
                $first->[$at] = «call»;
                for (my $left = $units; $left > 0; $left--) { $state = $state * 5 & 255 }
                $second->[$at] = «call»;
            }
            return $state;
        },
        batches => sub {
            my ($calls, $first, $second) = @_;
            for my $at (0 .. $#$first) {
                $first->[$at] = clock_gettime(CLOCK_MONOTONIC);
                for (my $left = $calls; $left > 0; $left--) { «call» }
                $second->[$at] = clock_gettime(CLOCK_MONOTONIC);
            }
        },
        readings => sub {
            my ($first) = @_;
            for my $at (0 .. $#$first) { $first->[$at] = «call» }
        },
        comparisons => sub {
            my ($units, $before, $first, $after) = @_;
            my $state = 1;
            for my $at (0 .. $#$first) {
                $before->[$at] = clock_gettime(CLOCK_MONOTONIC);
                $first->[$at] = «call»;
                $after->[$at] = clock_gettime(CLOCK_MONOTONIC);
                for (my $left = $units; $left > 0; $left--) { $state = $state * 5 & 255 }
            }
            return $state;
        },
        read => sub { return «call» },
        ticks => sub { my ($v) = @_; return «ticks» },
    };
    my $clock = eval { no warnings; «clock» };
    $declared{'«id»'} = $clock if defined $clock;
}
# end each
# each waiter:
$waiters{'«id»'} = sub { my ($ns) = @_; «wait» };
# end each

sub now { return nanoseconds(clock_gettime(CLOCK_MONOTONIC)) }
sub cpu_ns { return sprintf('%d', 1e9 * clock_gettime(CLOCK_PROCESS_CPUTIME_ID)) }
sub blank { return (0) x $_[0] }

sub compute {
    my $end = clock_gettime(CLOCK_MONOTONIC) + $_[0] / 1e9;
    1 while clock_gettime(CLOCK_MONOTONIC) < $end;
}

# Waits for a pause. Its end is computed, because sleeping ends late.
sub pause {
    my ($ns) = @_;
    my $end = clock_gettime(CLOCK_MONOTONIC) + $ns / 1e9;
    nanosleep($ns - 200000) if $ns > 200000;
    compute(1e9 * ($end - clock_gettime(CLOCK_MONOTONIC)));
}

sub advance {
    my ($clock, $during, $ms) = @_;
    # The first read of each clock is dropped, because it finds cold caches.
    now();
    $clock->{read}->();
    my ($start_reference, $start) = (now(), $clock->{read}->());
    if ($during == 0) { compute($ms * 1e6) } else { Time::HiRes::sleep($ms / 1e3) }
    my ($end_reference, $end) = (now(), $clock->{read}->());
    return ($clock->{ticks}->($end) - $clock->{ticks}->($start), $end_reference - $start_reference);
}

sub waits {
    my ($wait, $most, $repeat, @lengths) = @_;
    my @values;
    for my $turn (0 .. $repeat * @lengths - 1) {
        my $ns = $lengths[$turn % @lengths];
        pause(int(rand() * $most));
        my $cpu = cpu_ns();
        my $before = clock_gettime(CLOCK_MONOTONIC);
        $wait->($ns);
        my $after = clock_gettime(CLOCK_MONOTONIC);
        $cpu = cpu_ns() - $cpu;
        push @values, $turn % @lengths, nanoseconds($before), nanoseconds($after), $cpu, -1;
    }
    return @values;
}

sub periods {
    my ($wait, $period, $count) = @_;
    my @values;
    for (1 .. $count) {
        $wait->($period);
        push @values, now(), 1;
    }
    return @values;
}

sub answer {
    my ($op, $id, @amounts) = @_;
    die "this agent does not know the question\n" if !defined $id || !defined $amounts[0];
    my $waiter = $waiters{$id};
    return waits($waiter, @amounts) if $waiter && $op eq 'waits';
    return periods($waiter, @amounts) if $waiter && $op eq 'periods';
    my $clock = $clocks{$id} or die "this agent has no such timer\n";
    my $ticks = $clock->{ticks};
    if ($op eq 'intervals') {
        my ($repeat, @work) = @amounts;
        return map {
            my (@first, @second) = ();
            @first = blank($repeat);
            @second = blank($repeat);
            $clock->{intervals}->($_, \@first, \@second);
            map { $ticks->($second[$_]) - $ticks->($first[$_]) } 0 .. $repeat - 1;
        } @work;
    }
    return advance($clock, @amounts) if $op eq 'advance';
    die "this agent does not know the question\n" if $op !~ /^(batches|readings|comparisons)$/;
    my $count = $op eq 'comparisons' ? $amounts[1] * $amounts[2] : $amounts[$op eq 'readings' ? 0 : 1];
    my @first = blank($count);
    my @second = blank($count);
    my @third = blank($count);
    if ($op eq 'batches') {
        $clock->{batches}->($amounts[0], \@first, \@second);
        return map { nanoseconds($second[$_]) - nanoseconds($first[$_]) } 0 .. $count - 1;
    }
    if ($op eq 'readings') {
        $clock->{readings}->(\@first);
        return map { $ticks->($_) } @first;
    }
    $clock->{comparisons}->($amounts[0], \@first, \@second, \@third);
    return map { nanoseconds($first[$_]), $ticks->($second[$_]), nanoseconds($third[$_]) } 0 .. $count - 1;
}

sub hello {
    my @timers = map { qq({"id":"$_","ns_per_tick":$unit}) } qw(clock_gettime clock_gettime.process);
    push @timers, map { qq({"id":"$_","resolution_ns":) . 1e9 * clock_getres($declared{$_}) . '}' } sort keys %declared;
    my $version = sprintf('%vd, Time::HiRes %s', $^V, $Time::HiRes::VERSION);
    return qq({"protocol":1,"ops":[],"runtime":{"name":"Perl","version":"$version"},"timers":[) . join(',', @timers) . ']}';
}

# Answers a question, a line of JSON, whose keys and values are read as words.
sub reply {
    my ($line) = @_;
    $line =~ s/":/ /g;
    $line =~ tr/{}[]",/ /;
    my (undef, $op, undef, $id, @rest) = split ' ', $line;
    die "this agent does not know the question\n" if !defined $op;
    return hello() if $op eq 'hello';
    my @amounts = grep { /^-?\d/ } @rest;
    my %words = (@rest, ('') x (@rest % 2));
    die "this agent has one reference only\n" if ($words{reference} // 'clock_gettime') ne 'clock_gettime';
    if ($op eq 'advance') {
        die "this agent has no second thread\n" if $words{during} eq 'other-spin';
        unshift @amounts, $words{during} eq 'spin' ? 0 : 1;
    }
    my $start = $op eq 'periods' ? '"start":null,' : '';    # all are loops of waits
    return "{$start\"values\":[" . join(',', answer($op, $id, @amounts)) . ']}';
}

$| = 1;
while (my $line = <STDIN>) {
    my $reply = eval { no warnings; reply($line) };
    if (!defined $reply) {
        my $why = $@ =~ s/[\s"\\]+/ /gr;
        $reply = qq({"error":"$why"});
    }
    print "$reply\n";
}
