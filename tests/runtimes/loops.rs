//! Checks that the loops of a runtime contain all requested calls and all requested work, although
//! compilers may move or remove code.

use timermeter::agents::runtimes::PreparedAgent;
use timermeter::agents::subject::subject;
use timers::Subject;

use super::{start, timers};

/// The smallest of the values.
fn minimum(values: &[i64]) -> i64 {
    let minimum = values.iter().copied().min();
    minimum.unwrap()
}

/// Measures in rounds until `holds` accepts the minima of a round, or the minima of all rounds so
/// far; returns the latter if none is accepted. Minima, because other tests that run at the same
/// time only add to durations. The minima of one round suffice, because all measurements of a round
/// saw the same load.
fn check_minima<const N: usize>(
    holds: impl Fn([i64; N]) -> bool,
    mut measure: impl FnMut() -> [Vec<i64>; N],
) -> Result<(), [i64; N]> {
    const ROUNDS: u32 = 40;
    let mut all = [i64::MAX; N];
    for _ in 0..ROUNDS {
        let round = measure().each_ref().map(|values| minimum(values));
        all = std::array::from_fn(|at| all[at].min(round[at]));
        if holds(round) || holds(all) {
            return Ok(());
        }
    }
    Err(all)
}

/// Whether a duration is about twice another.
fn is_double(single: i64, double: i64) -> bool {
    (1.5..2.7).contains(&(double as f64 / single as f64))
}

/// The smallest change between two readings of a clock, in ticks: the step of a coarse clock, and
/// the duration of a read of a fine clock.
fn smallest_change(host: &PreparedAgent, timer: &mut dyn Subject) -> i64 {
    const MIN_CHANGES: usize = 5;
    const MAX_READINGS: u32 = 1_000_000;
    let mut count = 300;
    loop {
        let readings = timer.readings(count).unwrap();
        assert!(
            readings.is_sorted(),
            "{}: the clock went backwards",
            host.prefix
        );
        let changes: Vec<i64> = readings
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .filter(|change| *change > 0)
            .collect();
        // A clock that counts microseconds changes once in about 30 reads, a clock of a browser
        // once in 1000 or 10 000.
        if changes.len() >= MIN_CHANGES {
            return minimum(&changes);
        }
        assert!(
            count < MAX_READINGS,
            "{}: the clock changed {} times in {count} readings",
            host.prefix,
            changes.len()
        );
        count *= 8;
    }
}

/// The shortest duration that is compared with its double, in smallest changes of the clock: 8 and
/// 16 are distinguishable although each is rounded to whole changes.
const COMPARED_CHANGES: i64 = 8;

/// The number of iterations of the work loop that take at least [`COMPARED_CHANGES`] times `change`
/// ticks.
fn sufficient_work(timer: &mut dyn Subject, change: i64) -> u64 {
    let mut iterations = 20_000;
    while minimum(&timer.intervals(&[iterations], 15).unwrap()[0]) < COMPARED_CHANGES * change {
        iterations *= 2;
    }
    iterations
}

/// Checks that the compiler of the runtime neither removed the calls of a timer nor moved them out
/// of their loop: twice as many calls take twice as long, and longer than the empty loop.
pub fn check_calls(host: &PreparedAgent) {
    const REPEAT: u32 = 11;
    let connection = start(host, None);
    let (reference, ids) = timers(&connection);
    let hello = connection.borrow().hello().clone();
    let ns_per_tick = hello
        .timers
        .iter()
        .find_map(|timer| timer.ns_per_tick.filter(|_| timer.reference));
    let ns_per_tick = ns_per_tick.unwrap();
    let change_ns =
        smallest_change(host, subject(&connection, &reference).as_mut()) as f64 * ns_per_tick;
    let span_ns = (COMPARED_CHANGES as f64 * change_ns).max(300e3);
    let mut floor = subject(&connection, timers::FLOOR_ID);
    for id in ids {
        let mut timer = subject(&connection, &id);
        let mut batch = |calls| timer.batches(&reference, calls, REPEAT).unwrap();
        let calls = number_of_calls(&mut batch, span_ns, ns_per_tick);
        let checked = check_minima(
            // A call of an interpreter may cost less than its loop.
            |[single, double, empty]| is_double(single, double) && 5 * empty < 4 * double,
            || {
                let [single, double] = [calls, 2 * calls].map(&mut batch);
                [
                    single,
                    double,
                    floor.batches(&reference, 2 * calls, REPEAT).unwrap(),
                ]
            },
        );
        assert_eq!(
            checked,
            Ok(()),
            "{}:{id}: {calls} calls, twice as many calls, and as many iterations of the empty loop",
            host.prefix
        );
    }
}

/// The number of calls that take about `span_ns`. It is bounded, because calls that were optimised
/// away would take no time.
fn number_of_calls(mut batch: impl FnMut(u64) -> Vec<i64>, span_ns: f64, ns_per_tick: f64) -> u64 {
    const MIN_CALLS: u64 = 20;
    /// The assumed minimum cost of a call, which bounds the number of calls.
    const MIN_COST_NS: f64 = 20.0;
    let max_calls = ((span_ns / MIN_COST_NS) as u64).max(4_000);
    let empty = minimum(&batch(0));
    let mut calls = MIN_CALLS;
    while calls < max_calls && ((minimum(&batch(calls)) - empty) as f64) * ns_per_tick < span_ns {
        calls *= 2;
    }
    calls.min(max_calls)
}

/// Checks that the compiler of the runtime neither moved the reads around the work nor removed the
/// work: twice as much work takes twice as long.
pub fn check_reads(host: &PreparedAgent) {
    let (reference, _) = timers(&start(host, None));
    let connection = start(host, Some(&reference));
    let mut timer = subject(&connection, &reference);
    let change = smallest_change(host, timer.as_mut());
    let turns = sufficient_work(timer.as_mut(), change);
    let mut intervals = |turns: &[u64]| timer.intervals(turns, 15).unwrap();
    let checked = check_minima(
        |[empty, single, double]| is_double(single - empty, double - empty),
        || intervals(&[0, turns, 2 * turns]).try_into().unwrap(),
    );
    assert_eq!(
        checked,
        Ok(()),
        "{}: intervals are not proportional to their work",
        host.prefix
    );
}
