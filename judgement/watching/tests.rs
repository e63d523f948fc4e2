//! Tests that events of simulated machines are detected with their causes and sizes.

mod series;
mod simulated;
mod witnesses;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use self::simulated::{PlannedEvent, Simulated};
use super::{Cause, ClockEvent, EventKind, Judge, describe};
use crate::model::{Interval, VmClock};

/// The kind, cause and size of the event that a plan should be detected as; no size if it is not
/// checked.
fn expected_event(plan: PlannedEvent) -> (EventKind, Cause, Option<f64>) {
    match plan {
        PlannedEvent::MachineStopped(s) => (EventKind::Pause, Cause::Machine, Some(s)),
        PlannedEvent::ProcessStopped(s) | PlannedEvent::ProcessFrozen(s) => {
            (EventKind::Pause, Cause::Process, Some(s))
        }
        PlannedEvent::Throttled(s) => (EventKind::Pause, Cause::Quota, Some(s)),
        PlannedEvent::ThrottledOutside(s) => (EventKind::Pause, Cause::Unknown, Some(s)),
        PlannedEvent::Preempted(s) => (EventKind::Pause, Cause::Scheduler, Some(s)),
        PlannedEvent::Stolen(s) => (EventKind::Pause, Cause::Host, Some(s)),
        PlannedEvent::Step(s) => (EventKind::Step, Cause::ClockSet, Some(s)),
        PlannedEvent::Leap => (EventKind::Step, Cause::LeapSecond, Some(-1.0)),
        PlannedEvent::Slew(ppm) => (EventKind::Slew, Cause::Discipline, Some(ppm)),
        PlannedEvent::Adjtime(_, ppm) => (EventKind::Slew, Cause::Kernel, Some(ppm)),
        PlannedEvent::Source(true) => (EventKind::Source, Cause::Chosen, None),
        PlannedEvent::Source(false) => (EventKind::Source, Cause::KernelGaveUp, None),
        PlannedEvent::Suspend(s) => (EventKind::Suspend, Cause::Suspend, Some(s)),
        PlannedEvent::Halted(s) => (EventKind::Frozen, Cause::Machine, Some(s)),
        PlannedEvent::Leapt(s) => (EventKind::CounterJump, Cause::Restored, Some(-s)),
        PlannedEvent::CounterJump(s) => (EventKind::CounterJump, Cause::Counter, Some(s)),
        PlannedEvent::Moved(_) => (EventKind::CounterJump, Cause::Migration, Some(123.0)),
        PlannedEvent::CounterRate(ppm) => (EventKind::CounterRate, Cause::Counter, Some(ppm)),
    }
}

/// Watches a simulated machine for a number of seconds and returns the detected events; each plan
/// happens at its second. Pauses of 20 ms or more are reported.
fn simulate(seed: u64, seconds: u64, plans: &[(u64, PlannedEvent)]) -> Vec<ClockEvent> {
    watch(&mut Simulated::new(seed), seconds, plans).0
}

/// Watches a simulated machine as [`simulate`] does. Returns the judge, too.
fn watch(
    machine: &mut Simulated,
    seconds: u64,
    plans: &[(u64, PlannedEvent)],
) -> (Vec<ClockEvent>, Judge) {
    let mut judge = Judge::new(20_000_000);
    let mut events = Vec::new();
    for at in 0..seconds * 10 {
        for (_, plan) in plans.iter().filter(|(second, _)| second * 10 == at) {
            machine.apply(*plan);
        }
        events.extend(judge.add(machine.sample()));
    }
    events.extend(judge.finish());
    (events, judge)
}

/// Whether an interval is known and contains a value.
fn covers(interval: Option<Interval>, value: f64) -> bool {
    let ends = interval.and_then(|interval| interval.ends());
    ends.is_some_and(|(low, high)| (low..=high).contains(&value))
}

/// Whether the event of a plan was detected with its cause, and with an interval that contains its
/// size.
fn is_found(events: &[ClockEvent], plan: PlannedEvent) -> bool {
    let (kind, cause, size) = expected_event(plan);
    events.iter().any(|event| {
        let has_duration = match plan {
            PlannedEvent::Adjtime(s, _) => covers(event.duration, s),
            _ => event.duration.is_none(),
        };
        event.kind == kind
            && event.cause == cause
            && size.is_none_or(|size| covers(event.size, size))
            && has_duration
    })
}

/// Returns the number of events of a plan: a migration is also reported as a pause.
fn expected_count(plan: PlannedEvent) -> usize {
    if matches!(plan, PlannedEvent::Moved(_) | PlannedEvent::Leapt(_)) {
        2
    } else {
        1
    }
}

#[test]
fn vmclock_reports_moves() {
    let page = |disruption_marker, generation| VmClock {
        disruption_marker,
        generation: Some(generation),
        ..VmClock::default()
    };
    let (mut machine, mut judge) = (Simulated::new(3), Judge::new(20_000_000));
    let mut events = Vec::new();
    for at in 0..300 {
        machine.vmclock = Some(match at {
            0..100 => page(7, 1),
            100..200 => page(8, 1),
            _ => page(9, 2),
        });
        events.extend(judge.add(machine.sample()));
    }
    let sentences: Vec<String> = events.iter().map(describe).collect();
    assert_eq!(events.len(), 2, "{sentences:?}");
    let causes = [Cause::Migration, Cause::Restored];
    for ((event, sentence), cause) in events.iter().zip(&sentences).zip(causes) {
        assert_eq!((event.kind, event.cause), (EventKind::Moved, cause));
        assert!(sentence.contains("VMClock"), "{sentence}");
    }
    assert!(sentences[0].contains("disruption marker"), "{sentences:?}");
    assert!(sentences[1].contains("snapshot"), "{sentences:?}");
}

#[test]
fn finds_each_event_with_cause() {
    let mut random = StdRng::seed_from_u64(1);
    for seed in 0..5 {
        let s = random.random_range(0.05..9.0);
        let long = random.random_range(3.0..9.0);
        let ppm = random.random_range(8.0..400.0);
        let plans = [
            PlannedEvent::MachineStopped(s),
            PlannedEvent::ProcessStopped(s),
            PlannedEvent::ProcessFrozen(long),
            PlannedEvent::Throttled(s),
            PlannedEvent::ThrottledOutside(s),
            PlannedEvent::Preempted(s),
            PlannedEvent::Stolen(s),
            PlannedEvent::Step(s - 4.5),
            PlannedEvent::Step(1e-5),
            PlannedEvent::Leap,
            PlannedEvent::Slew(ppm),
            PlannedEvent::Slew(-ppm),
            PlannedEvent::Adjtime(40.0, 500.0),
            PlannedEvent::Source(true),
            PlannedEvent::Source(false),
            PlannedEvent::Suspend(s),
            PlannedEvent::Halted(long + 1.0),
            PlannedEvent::Leapt(s),
            PlannedEvent::CounterJump(s - 4.5),
            PlannedEvent::Moved(s),
            PlannedEvent::CounterRate(ppm),
        ];
        for plan in plans {
            let at = random.random_range(60..100);
            let events = simulate(seed, 160, &[(at, plan)]);
            assert!(
                is_found(&events, plan),
                "{plan:?}, seed {seed}: {events:#?}"
            );
            // The start and the end of adjtime are two events.
            let max_events = if matches!(plan, PlannedEvent::Adjtime(..)) {
                2
            } else {
                expected_count(plan)
            };
            assert!(
                events.len() <= max_events,
                "{plan:?}, seed {seed}: {events:#?}"
            );
            let first = events.first().map_or(0.0, |event| event.since_s);
            assert!(
                (first - at as f64).abs() < 40.0,
                "{plan:?} at {at}: {events:#?}"
            );
        }
    }
}

/// In the first two seconds the usual number of interrupts is unknown.
#[test]
fn unknown_cause_is_unknown() {
    for seed in 0..6 {
        for (plan, cause) in [
            (PlannedEvent::ProcessFrozen(0.4), Cause::Unknown),
            (PlannedEvent::ProcessStopped(0.4), Cause::Process),
            (PlannedEvent::MachineStopped(0.4), Cause::Machine),
        ] {
            let events = simulate(seed, 4, &[(1, plan)]);
            assert_eq!(events.len(), 1, "{plan:?}, seed {seed}: {events:#?}");
            assert_eq!(events[0].cause, cause, "{plan:?}, seed {seed}");
        }
    }
}

/// One watch of an hour with twenty events of six kinds.
#[test]
fn finds_all_twenty_events() {
    let kinds = |at: usize, s: f64| match at % 6 {
        0 => PlannedEvent::MachineStopped(s),
        1 => PlannedEvent::ProcessStopped(s),
        2 => PlannedEvent::Step(s - 2.5),
        3 => PlannedEvent::Slew(if at % 12 == 3 { 100.0 } else { -100.0 }),
        4 => PlannedEvent::Source(true),
        _ => PlannedEvent::Suspend(s),
    };
    for seed in 20..23 {
        let mut random = StdRng::seed_from_u64(seed);
        let plans: Vec<(u64, PlannedEvent)> = (0..20)
            .map(|at| {
                (
                    100 + 170 * at as u64,
                    kinds(at, random.random_range(0.1..2.0)),
                )
            })
            .collect();
        let events = simulate(seed, 3600, &plans);
        assert_eq!(events.len(), 20, "seed {seed}: {events:#?}");
        for (event, (at, plan)) in events.iter().zip(&plans) {
            assert!(
                is_found(std::slice::from_ref(event), *plan),
                "{plan:?} at {at}, seed {seed}: {event:#?}"
            );
        }
    }
}

/// Slews by adjtime have their size, sign and duration, wherever they begin and however they end.
#[test]
fn short_slews_have_size_and_duration() {
    for seed in 60..80 {
        let mut random = StdRng::seed_from_u64(seed);
        for at in [3, 27, 40] {
            let s = random.random_range(1.0..60.0_f64).round();
            let end = at + s as u64 + random.random_range(3..40);
            let events = simulate(seed, end, &[(at, PlannedEvent::Adjtime(s, 500.0))]);
            assert!(
                is_found(&events, PlannedEvent::Adjtime(s, 500.0)),
                "{s} s at {at} s of {end} s, seed {seed}: {events:#?}"
            );
            let is_right =
                |event: &ClockEvent| event.kind == EventKind::Slew && covers(event.size, 500.0);
            assert!(
                events.iter().all(is_right),
                "{s} s, seed {seed}: {events:#?}"
            );
            assert!(events.len() <= 2, "{s} s, seed {seed}: {events:#?}");
        }
    }
}

/// A slew that began before the watch, and one that had not ended with it, have a size and no
/// duration.
#[test]
fn partly_watched_slews_have_no_duration() {
    for seed in 80..90 {
        let mut random = StdRng::seed_from_u64(seed);
        let s = random.random_range(4..60_u64);
        for (plans, seconds) in [
            ([(0, PlannedEvent::Adjtime(s as f64, 500.0))], s + 30),
            ([(30, PlannedEvent::Adjtime(90.0, 500.0))], 30 + s),
        ] {
            let events = simulate(seed, seconds, &plans);
            assert_eq!(events.len(), 1, "{s} s, seed {seed}: {events:#?}");
            let event = &events[0];
            assert!(
                covers(event.size, 500.0) && event.duration.is_none(),
                "{s} s, seed {seed}: {event:#?}"
            );
            assert_eq!(
                (event.kind, event.cause),
                (EventKind::Slew, Cause::Kernel),
                "{event:#?}"
            );
        }
    }
}

/// Several slews after each other, some seconds apart, are several events.
#[test]
fn successive_slews_are_separate_events() {
    for seed in 90..100 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut at = 25;
        let plans: Vec<(u64, PlannedEvent)> = (0..6)
            .map(|_| {
                let s = random.random_range(2..15_u64);
                let began = at;
                at += s + random.random_range(4..30);
                (began, PlannedEvent::Adjtime(s as f64, 500.0))
            })
            .collect();
        let events = simulate(seed, at + 5, &plans);
        assert_eq!(
            events.len(),
            plans.len(),
            "seed {seed}: {plans:?} {events:#?}"
        );
        for (event, (_, plan)) in events.iter().zip(&plans) {
            assert!(
                is_found(std::slice::from_ref(event), *plan),
                "seed {seed}: {plan:?} {event:#?}"
            );
        }
    }
}

#[test]
fn quiet_hours_have_no_events() {
    for seed in 40..43 {
        let events = simulate(seed, 3600, &[]);
        assert!(events.is_empty(), "seed {seed}: {events:#?}");
    }
}

#[test]
fn missing_clocks_are_skipped() {
    let mut judge = Judge::new(1);
    let bare = |at: i64| super::ClockSample {
        planned: at,
        monotonic: at,
        ..super::ClockSample::default()
    };
    for sample in [bare(0), bare(5), bare(i64::MAX / 2), bare(3)] {
        judge.add(sample);
    }
    assert!(judge.stability().iter().all(Vec::is_empty));
}

#[test]
fn events_have_sentences() {
    for (seed, plan) in [
        PlannedEvent::Step(-1.5),
        PlannedEvent::Leap,
        PlannedEvent::Slew(100.0),
        PlannedEvent::Source(false),
        PlannedEvent::MachineStopped(5.0),
    ]
    .into_iter()
    .enumerate()
    {
        let events = simulate(seed as u64, 160, &[(70, plan)]);
        let text = describe(&events[0]);
        let expected = match plan {
            PlannedEvent::Step(_) => "set by -1.5",
            PlannedEvent::Leap => "leap second",
            PlannedEvent::Slew(_) => "adjtimex",
            PlannedEvent::Source(_) => "tsc → hpet: the kernel rejected",
            _ => "the whole machine stood still",
        };
        assert!(text.contains(expected), "{text}");
        assert!(super::tally(&events).is_some_and(|tally| tally.starts_with("1 ")));
    }
}

/// Where a slew lies in a watch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Within,
    BeganBefore,
    EndsAfter,
}

/// Watches a slew of `ppm` for `s` seconds. Returns the events.
fn watch_slew(seed: u64, place: Place, s: f64, ppm: f64) -> Vec<ClockEvent> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut machine = Simulated::new(seed);
    machine.is_busy = random.random_bool(0.5);
    let at = random.random_range(1.5..60.0);
    let (at, slewed_s, end) = match place {
        Place::Within => (at, s, at + s + random.random_range(3.0..40.0)),
        Place::BeganBefore => (0.0, s, s + 25.0),
        Place::EndsAfter => (at, s + 5.0, at + s),
    };
    let began = machine.now();
    let mut plan = Some(PlannedEvent::Adjtime(slewed_s, ppm));
    let mut judge = Judge::new(20_000_000);
    let mut events = Vec::new();
    while machine.now() - began < end * 1e9 {
        if machine.now() - began >= at * 1e9
            && let Some(plan) = plan.take()
        {
            machine.apply(plan);
        }
        events.extend(judge.add(machine.sample()));
    }
    events.extend(judge.finish());
    events
}

/// Slews of any size and sign have both right, with the cause, and the duration where both ends
/// were watched, on busy machines, too.
#[test]
fn slews_have_size_sign_and_duration() {
    for seed in 0..300 {
        let mut random = StdRng::seed_from_u64(seed + 5000);
        let sign = if random.random_bool(0.5) { 1.0 } else { -1.0 };
        let ppm = sign * random.random_range(50.0..500.0);
        let s = random.random_range(2.0..30.0);
        let places = [Place::Within, Place::BeganBefore, Place::EndsAfter];
        let place = places[random.random_range(0..places.len())];
        let events = watch_slew(seed, place, s, ppm);
        let what = format!("{s} s of {ppm} ppm, {place:?}, seed {seed}: {events:#?}");
        let is_right = |event: &ClockEvent| {
            let ends = event.size.and_then(|size| size.ends());
            (event.kind, event.cause) == (EventKind::Slew, Cause::Kernel)
                && covers(event.size, ppm)
                && ends.is_some_and(|(low, high)| high - low < 20.0)
        };
        assert!(events.iter().all(is_right), "{what}");
        // A slew that lasts is reported before its end, too.
        let most = if s > 19.0 && place == Place::Within {
            2
        } else {
            1
        };
        assert!((1..=most).contains(&events.len()), "{what}");
        let mut durations = events.iter().filter_map(|event| event.duration);
        let duration = durations.next();
        assert_eq!(duration.is_some(), place == Place::Within, "{what}");
        assert!(duration.is_none() || covers(duration, s), "{what}");
    }
}
