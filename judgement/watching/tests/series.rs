//! Tests that events at regular times are recognised as series, and others are not.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::super::log::{Begin, LogLine, parse, serialise};
use super::super::{describe_all_series, describe_series};
use super::{Cause, ClockEvent, EventKind, PlannedEvent, simulate};
use crate::model::Interval;

/// Ten steps of a guest whose clock its host sets back, and one by hand.
#[test]
fn regular_steps_are_a_series() {
    for seed in 0..20 {
        let mut plans: Vec<(u64, PlannedEvent)> = (0..10)
            .map(|at| (30 + 3 * at, PlannedEvent::Step(-0.02)))
            .collect();
        let events = simulate(seed, 80, &plans);
        assert_eq!(events.len(), 10, "seed {seed}: {events:#?}");
        let new: Vec<&ClockEvent> = events
            .iter()
            .filter(|event| event.series.is_some_and(|series| series.is_new))
            .collect();
        assert_eq!(new.len(), 1, "seed {seed}: {events:#?}");
        assert!(describe_series(new[0]).is_some_and(|text| text.contains("every 3.0 s")));
        let sentences = describe_all_series(&events);
        let expected = "set back by 20 ms every 3.0 s: something outside corrects a drift of 6";
        assert!(
            sentences.len() == 1 && sentences[0].contains(expected),
            "{sentences:?}"
        );
        let last = events[9]
            .series
            .expect("it is the last event of the series");
        assert_eq!(last.events, 10);
        assert!(
            last.period_s.low <= 3.0 && last.period_s.high >= 3.0,
            "{last:?}"
        );
        // Steps by hand are single events, and the series continues after them.
        plans.insert(9, (55, PlannedEvent::Step(3600.0)));
        let events = simulate(seed, 80, &plans);
        let singles: Vec<&ClockEvent> = events
            .iter()
            .skip(8)
            .filter(|event| event.series.is_none())
            .collect();
        assert!(
            singles.len() == 1 && singles[0].size.is_some_and(|size| size.value > 0.0),
            "{events:#?}"
        );
        assert_eq!(describe_all_series(&events).len(), 1, "{events:#?}");
    }
}

#[test]
fn irregular_events_are_no_series() {
    for seed in 0..300 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut at_s = 0.0;
        let mut finder = super::super::series::SeriesFinder::default();
        for _ in 0..200 {
            at_s += match seed % 3 {
                0 => -3.0 * random.random_range(f64::EPSILON..1.0_f64).ln(),
                1 => random.random_range(1.0..5.0),
                _ => random.random_range(0.0..6.0),
            };
            let mut event = step(at_s);
            finder.mark(&mut event, 0.1);
            assert_eq!(event.series, None, "seed {seed} at {at_s}");
        }
    }
    for event in simulate(
        1,
        200,
        &[30, 41, 47, 61, 90].map(|at| (at, PlannedEvent::Step(-0.02))),
    ) {
        assert_eq!(event.series, None);
    }
}

#[test]
fn pauses_and_slews_are_series() {
    let pauses: Vec<_> = (0..15)
        .map(|at| (30 + 4 * at, PlannedEvent::Throttled(0.4)))
        .collect();
    let slews: Vec<_> = (0..12)
        .map(|at| (30 + 20 * at, PlannedEvent::Adjtime(5.0, 500.0)))
        .collect();
    for seed in 0..10 {
        let sentences = describe_all_series(&simulate(seed, 120, &pauses));
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        assert!(
            sentences[0].contains("quota") && sentences[0].contains("every 4"),
            "{sentences:?}"
        );
        let sentences = describe_all_series(&simulate(seed, 300, &slews));
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        assert!(
            sentences[0].contains("every 20 s: 12"),
            "500 ppm for 5 s of 20 s: {sentences:?}"
        );
    }
}

/// Two programs that set the clock against each other correct no drift.
#[test]
fn alternating_steps_show_no_drift() {
    let plans: Vec<_> = (0..16)
        .map(|at| {
            (
                30 + 3 * at,
                PlannedEvent::Step(if at % 2 == 0 { 0.005 } else { -0.005 }),
            )
        })
        .collect();
    let sentences = describe_all_series(&simulate(1, 90, &plans));
    assert!(
        sentences.len() == 1 && !sentences[0].contains("drift"),
        "{sentences:?}"
    );
}

/// A log of an older program has events without series.
#[test]
fn series_are_found_in_logs() {
    let begin = LogLine::Begin(Begin {
        period_s: 0.1,
        ..serde_json::from_str(r#"{"date":"","period_s":0,"shortest_pause_s":0,"unread":[]}"#)
            .expect("a begin")
    });
    let lines = (0..12).map(|at| LogLine::Event(step(3.0 * f64::from(at))));
    let lines: Vec<String> = std::iter::once(begin)
        .chain(lines)
        .map(|line| serialise(&line).expect("it can be written"))
        .collect();
    let log = parse(&lines.join("\n"), |line| serde_json::from_str(line));
    assert_eq!(log.events[11].series.map(|series| series.events), Some(12));
}

fn step(since_s: f64) -> ClockEvent {
    ClockEvent {
        kind: EventKind::Step,
        cause: Cause::ClockSet,
        at_s: 0.0,
        since_s,
        size: Some(Interval::around(-0.02, 1e-6)),
        unit: "s".into(),
        duration: None,
        note: String::new(),
        series: None,
    }
}
