#!/usr/bin/env perl
# A complete agent: offers two clocks of Perl to timermeter over version 1 of the agent protocol.
#
# timermeter probe --agent 'perl examples/agents/clocks.pl' 'perl:*'
use strict;
use warnings;
use JSON::PP;
use Time::HiRes ();

$| = 1;
my $json = JSON::PP->new->canonical;

# Each clock has a function that reads it, a label, the nanoseconds per tick, and a function that converts a reading to
# ticks. Readings are converted to the unit in which the system counts: microseconds or nanoseconds.
my %clocks = (
    'time' => [\&Time::HiRes::time, 'Time::HiRes::time()', 1e3, sub { sprintf('%.0f', $_[0] * 1e6) + 0 }],
    'clock_gettime' => [
        sub { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) },
        'Time::HiRes::clock_gettime(CLOCK_MONOTONIC)', 1, sub { sprintf('%.0f', $_[0] * 1e9) + 0 },
    ],
    'null' => [sub { 0 }, 'reads nothing', undef, sub { $_[0] }],
);

sub interval {
    my ($read, $ticks, $work) = @_;
    my $state = 1;
    my $first = $read->();
    for (my $left = $work; $left > 0; $left--) { $state = $state * 5 & 255 }
    my $second = $read->();
    return $ticks->($second) - $ticks->($first);
}

sub batch {
    my ($read, $reference, $ticks, $calls) = @_;
    my $first = $reference->();
    for (my $left = $calls; $left > 0; $left--) { $read->() }
    my $second = $reference->();
    return $ticks->($second) - $ticks->($first);
}

sub find_clock {
    my ($id) = @_;
    die "the request names no timer\n" unless defined $id;
    return $clocks{$id} // die "unknown timer `$id`\n";
}

sub hello {
    my @timers = map { {
        id => $_, label => $clocks{$_}[1], ns_per_tick => $clocks{$_}[2],
        reference => $_ eq 'clock_gettime' ? JSON::PP::true : JSON::PP::false,
    } } sort keys %clocks;
    my $version = sprintf('%vd', $^V);
    return { protocol => 1, runtime => { name => 'Perl', version => $version }, timers => \@timers,
        ops => [qw(intervals batches readings)] };
}

sub answer {
    my ($request) = @_;
    die "a request is an object\n" unless ref $request eq 'HASH';
    my $op = $request->{op} // '';
    return hello() if $op eq 'hello';
    die "unknown request `$op`\n" unless $op =~ /^(intervals|batches|readings)$/;
    my ($read, undef, undef, $ticks) = @{ find_clock($request->{timer}) };
    return { values => [map { $ticks->($read->()) } 1 .. $request->{count}] } if $op eq 'readings';
    my @turns = 1 .. $request->{repeat};
    if ($op eq 'batches') {
        my ($reference, undef, undef, $reference_ticks) = @{ find_clock($request->{reference}) };
        return { values => [map { batch($read, $reference, $reference_ticks, $request->{calls}) } @turns] };
    }
    return { values => [map { my $work = $_; map { interval($read, $ticks, $work) } @turns } @{ $request->{work} }] };
}

while (my $line = <STDIN>) {
    my $reply = eval { local $SIG{__WARN__} = sub { die @_ }; answer($json->decode($line)) };
    $reply = { error => $@ =~ s/\s+\z//r } unless $reply;
    print $json->encode($reply), "\n";
}
