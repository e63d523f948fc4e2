//! Tests of the witnesses of all clocks together: the RTC, the VMClock device and the counter.

use super::{
    Cause, ClockEvent, EventKind, PlannedEvent, Simulated, covers, describe, simulate, watch,
};
use crate::model::VmClock;

#[test]
fn rtc_shows_wrong_rates() {
    for seed in 0..10 {
        for (ppm, is_synchronised) in [(70_000.0, false), (-70_000.0, false), (3_000.0, true)] {
            let mut machine = Simulated::new(seed);
            (machine.rtc_excess, machine.is_synchronised) =
                (1.0 / (1.0 + ppm / 1e6) - 1.0, is_synchronised);
            let (events, judge) = watch(&mut machine, 1400, &[]);
            assert_eq!(events.len(), 1, "{ppm}, seed {seed}: {events:#?}");
            assert_eq!(events[0].kind, EventKind::RtcRate);
            // Both halves of the time show a difference that exceeds the error of the RTC.
            let latest_s = if is_synchronised { 1400.0 } else { 60.0 };
            assert!(events[0].since_s < latest_s, "{ppm}: {events:#?}");
            assert!(
                covers(events[0].size, ppm) && covers(judge.ppm_by_rtc(), ppm),
                "{events:#?}"
            );
            let sentence = describe(&events[0]);
            let expected = if is_synchronised {
                "the RTC is wrong"
            } else {
                "nothing here shows which"
            };
            assert!(sentence.contains(expected), "{sentence}");
        }
    }
}

/// A time service that runs the clocks too fast, to correct an offset, is the cause itself.
#[test]
fn wrong_rate_by_time_service_is_its_own() {
    for is_synchronised in [false, true] {
        let mut machine = Simulated::new(1);
        machine.apply(PlannedEvent::Slew(40_000.0));
        (machine.rtc_excess, machine.is_synchronised) = (-0.04, is_synchronised);
        let (events, _) = watch(&mut machine, 200, &[]);
        let causes: Vec<_> = events
            .iter()
            .map(|event| (event.kind, event.cause))
            .collect();
        assert_eq!(
            causes,
            [(EventKind::RtcRate, Cause::Discipline)],
            "{events:#?}"
        );
    }
}

/// A quiet machine, a slow RTC, and halts that are too short for an event are no wrong rate.
#[test]
fn rtc_agrees_within_bound() {
    for seed in 0..10 {
        let mut machine = Simulated::new(seed);
        machine.rtc_excess = -20e-6;
        let halts = [
            (500, PlannedEvent::Halted(1.5)),
            (1000, PlannedEvent::Step(5.0)),
            (1500, PlannedEvent::Leap),
        ];
        let (events, judge) = watch(&mut machine, 2000, &halts);
        let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
        let of_rtc = kinds
            .iter()
            .filter(|kind| **kind != EventKind::Step)
            .collect::<Vec<_>>();
        assert!(
            of_rtc.is_empty() || *of_rtc == [&EventKind::Frozen],
            "{events:#?}"
        );
        assert!(
            judge
                .ppm_by_rtc()
                .is_some_and(|ppm| ppm.high - ppm.low < 2_500.0)
        );
    }
}

/// The counter shows it from the first second on.
#[test]
fn leap_without_counter_is_restore() {
    for seed in 0..10 {
        for at in [2, 8, 60] {
            let events = simulate(seed, 100, &[(at, PlannedEvent::Leapt(60.0))]);
            let all: Vec<(EventKind, Cause)> = events
                .iter()
                .map(|event| (event.kind, event.cause))
                .collect();
            let expected =
                [EventKind::Pause, EventKind::CounterJump].map(|kind| (kind, Cause::Restored));
            assert_eq!(all, expected, "at {at}, seed {seed}: {events:#?}");
            assert!(covers(events[1].size, -60.0), "{events:#?}");
            assert!(events[1].since_s < at as f64 + 61.0, "{events:#?}");
        }
    }
}

/// The clocks continue from the time of the snapshot: the RTC shows that they stood still, and only
/// the VMClock device why.
#[test]
fn frozen_clocks_are_a_restore_by_vmclock() {
    let frozen = |generations: Option<[u64; 2]>| -> Vec<ClockEvent> {
        let mut machine = Simulated::new(1);
        let page = |at: usize| {
            generations.map(|all| VmClock {
                generation: Some(all[at]),
                ..VmClock::default()
            })
        };
        machine.vmclock = page(0);
        let mut judge = super::Judge::new(20_000_000);
        (0..400)
            .flat_map(|at| {
                if at == 85 {
                    machine.apply(PlannedEvent::Halted(60.0));
                    machine.vmclock = page(1);
                }
                judge.add(machine.sample())
            })
            .collect()
    };
    let [frozen_event, moved] = &frozen(Some([1, 2]))[..] else {
        panic!("two events");
    };
    assert_eq!(
        (frozen_event.kind, frozen_event.cause),
        (EventKind::Frozen, Cause::Restored)
    );
    assert_eq!(
        (moved.kind, moved.cause),
        (EventKind::Moved, Cause::Restored)
    );
    assert!(describe(frozen_event).contains("restored from a snapshot"));
    for generations in [None, Some([1, 1])] {
        let events = frozen(generations);
        assert_eq!(events.len(), 1, "{events:#?}");
        assert_eq!(
            (events[0].kind, events[0].cause),
            (EventKind::Frozen, Cause::Machine)
        );
        assert!(describe(&events[0]).contains("halted the machine, or restored it"));
    }
}

/// Without an RTC and a VMClock device, nothing shows that clocks stood still together.
#[test]
fn nothing_is_known_without_witness() {
    let (mut machine, mut judge) = (Simulated::new(1), super::Judge::new(20_000_000));
    for at in 0..400 {
        if at == 85 {
            machine.apply(PlannedEvent::Halted(60.0));
        }
        let mut sample = machine.sample();
        if let Some(state) = &mut sample.machine {
            state.rtc_s = None;
        }
        assert_eq!(judge.add(sample), []);
    }
    assert_eq!(judge.ppm_by_rtc(), None);
}
