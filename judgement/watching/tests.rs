//! Tests that events of a simulated machine are detected with their causes and sizes.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::log::{Begin, LogLine, parse, serialise};
use super::{Cause, ClockEvent, ClockSample, EventKind, Judge, describe};
use estimators::model::ClockSource;

/// An event of the simulated machine. Numbers are seconds unless stated otherwise.
#[derive(Clone, Copy, Debug)]
enum Planned {
    /// A pause during which quotas, the host and other threads took these shares of the time.
    Pause(f64, [f64; 3]),
    Suspend(f64),
    Step(f64),
    Leap,
    /// adjtimex changes the rate by this many ppm.
    Trim(f64),
    /// adjtime slews for this time, by this many ppm.
    Adjtime(f64, f64),
    /// The clock source changes; whether the former one is still available.
    Source(bool),
}

/// The simulated machine; times are in nanoseconds.
struct Machine {
    random: StdRng,
    raw: f64,
    monotonic: f64,
    slept: f64,
    realtime_offset: f64,
    lost: [f64; 3],
    trim_ppm: f64,
    slew: [f64; 2],
    /// Whether other programs often interrupt the thread between the reads of a sample.
    is_busy: bool,
    tai: i64,
    source: ClockSource,
    planned: f64,
}

impl Machine {
    fn pass(&mut self, ns: f64) {
        let slewing = (self.slew[0] * 1e9).min(ns);
        self.slew[0] -= slewing / 1e9;
        self.raw += ns;
        self.monotonic += ns * (1.0 + self.trim_ppm / 1e6) + slewing * self.slew[1] / 1e6;
    }

    fn apply(&mut self, event: Planned) {
        match event {
            Planned::Pause(s, shares) => {
                self.pass(s * 1e9);
                for (lost, share) in self.lost.iter_mut().zip(shares) {
                    *lost += s * 1e9 * share;
                }
            }
            Planned::Suspend(s) => self.slept += s * 1e9,
            Planned::Step(s) => self.realtime_offset += s * 1e9,
            Planned::Leap => {
                self.realtime_offset -= 1e9;
                self.tai += 1;
            }
            Planned::Trim(ppm) => self.trim_ppm += ppm,
            Planned::Adjtime(s, ppm) => self.slew = [s, ppm],
            Planned::Source(is_available) => {
                let new = "hpet".to_owned();
                let old = self.source.current.replace(new.clone());
                let rest = old.filter(|_| is_available);
                self.source.available = rest.into_iter().chain([new]).collect();
            }
        }
    }

    fn sample(&mut self, reads_machine: bool) -> ClockSample {
        let wait = (self.planned - self.monotonic).max(0.0);
        let delay = match self.random.random_bool(0.02) {
            true => self.random.random_range(0.0..6e6),
            false => self.random.random_range(5e4..2e5),
        };
        self.pass(wait + delay);
        self.trim_ppm += self.random.random_range(-0.01..0.01);
        let duration = match self.random.random_range(0..100) {
            0..5 if self.is_busy => self.random.random_range(5e3..3e6),
            5..30 if self.is_busy => self.random.random_range(8e2..5e3),
            _ => 800.0,
        };
        let mut read = |clock: f64| (clock + self.random.random_range(0.0..duration)) as i64;
        let monotonic = read(self.monotonic);
        let boottime = read(self.monotonic + self.slept);
        let realtime = read(self.monotonic + self.slept + self.realtime_offset);
        let raw = read(self.raw);
        let sample = ClockSample {
            planned: self.planned as i64,
            monotonic,
            boottime: Some(boottime),
            raw: Some(raw),
            realtime: Some(realtime),
            duration_ns: duration as i64,
            lost_ns: self.lost.map(|lost| Some(lost as u64)),
            trim_ppm: Some(self.trim_ppm),
            tai_offset_s: Some(self.tai),
            source: Some(self.source.clone()).filter(|_| reads_machine),
        };
        self.planned = self.monotonic + 1e8;
        sample
    }
}

/// Watches a simulated machine for a number of seconds; each plan happens at its second.
fn simulate(seed: u64, seconds: u64, plans: &[(u64, Planned)]) -> Vec<ClockEvent> {
    let tsc = "tsc".to_owned();
    let mut machine = Machine {
        random: StdRng::seed_from_u64(seed),
        raw: 7e12,
        monotonic: 7e12,
        slept: 3e12,
        realtime_offset: 1.79e18,
        lost: [0.0; 3],
        trim_ppm: 3.0,
        slew: [0.0; 2],
        is_busy: seed % 2 == 1,
        tai: 37,
        source: ClockSource {
            current: Some(tsc.clone()),
            available: vec![tsc, "hpet".into()],
            ..ClockSource::default()
        },
        planned: 7e12,
    };
    let mut judge = Judge::new(20_000_000);
    let mut events = Vec::new();
    for at in 0..seconds * 10 {
        for (_, plan) in plans.iter().filter(|(second, _)| second * 10 == at) {
            machine.apply(*plan);
        }
        events.extend(judge.add(machine.sample(at % 20 == 0)));
    }
    events.extend(judge.finish());
    events
}

/// Whether an event is of this kind and cause, and its interval contains the size.
fn is(event: &ClockEvent, kind: EventKind, cause: Cause, size: f64) -> bool {
    let contains = event.size.is_none_or(|found| found.contains(size));
    (event.kind, event.cause) == (kind, cause) && contains
}

#[test]
fn finds_each_event_with_cause() {
    use Planned::{Adjtime, Leap, Pause, Source, Step, Suspend, Trim};
    for seed in 0..8 {
        let mut random = StdRng::seed_from_u64(seed + 100);
        let s = random.random_range(0.05..9.0);
        let ppm = random.random_range(8.0..400.0);
        for (plan, kind, cause, size) in [
            (Pause(s, [0.9, 0.0, 1.0]), EventKind::Pause, Cause::Quota, s),
            (Pause(s, [0.0, 0.9, 0.0]), EventKind::Pause, Cause::Host, s),
            (
                Pause(s, [0.3, 0.0, 1.0]),
                EventKind::Pause,
                Cause::Scheduler,
                s,
            ),
            (
                Pause(s, [0.45, 0.0, 0.9]),
                EventKind::Pause,
                Cause::Unknown,
                s,
            ),
            (Pause(s, [0.0; 3]), EventKind::Pause, Cause::Unknown, s),
            (Suspend(s), EventKind::Suspend, Cause::Suspend, s),
            (Step(s - 4.5), EventKind::Step, Cause::ClockSet, s - 4.5),
            (Leap, EventKind::Step, Cause::LeapSecond, -1.0),
            (Trim(ppm), EventKind::Slew, Cause::Discipline, ppm),
            (Trim(-ppm), EventKind::Slew, Cause::Discipline, -ppm),
            (Adjtime(99.0, ppm), EventKind::Slew, Cause::Kernel, ppm),
            (Source(true), EventKind::Source, Cause::Chosen, 0.0),
            (Source(false), EventKind::Source, Cause::KernelGaveUp, 0.0),
        ] {
            let at = random.random_range(60..80);
            let events = simulate(seed, 130, &[(at, plan)]);
            assert_eq!(events.len(), 1, "{plan:?}, seed {seed}: {events:#?}");
            assert!(
                is(&events[0], kind, cause, size),
                "{plan:?}, seed {seed}: {events:#?}"
            );
            assert!(!describe(&events[0]).is_empty());
        }
    }
}

/// A slew by adjtime is a change and one back, wherever it begins, if it lasts for seconds.
#[test]
fn short_slews_change_rate_twice() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let sign = if random.random_bool(0.5) { 1.0 } else { -1.0 };
        let ppm = sign * random.random_range(50.0..500.0);
        let s = random.random_range(3..40);
        let at = random.random_range(20..60);
        let events = simulate(seed, at + s + 20, &[(at, Planned::Adjtime(s as f64, ppm))]);
        let what = format!("{s} s of {ppm} ppm, seed {seed}: {events:#?}");
        assert_eq!(events.len(), 2, "{what}");
        for (event, ppm) in events.iter().zip([ppm, -ppm]) {
            assert!(is(event, EventKind::Slew, Cause::Kernel, ppm), "{what}");
        }
    }
}

#[test]
fn quiet_hours_have_no_events() {
    for seed in 0..4 {
        assert_eq!(simulate(seed, 3600, &[]), [], "seed {seed}");
    }
}

#[test]
fn missing_clocks_are_skipped() {
    let mut judge = Judge::new(1);
    for at in [0, 5, i64::MAX / 2, 3] {
        judge.add(ClockSample {
            planned: at,
            monotonic: at,
            ..ClockSample::default()
        });
    }
    assert_eq!(judge.finish(), None);
}

#[test]
fn last_watch_of_log_is_read() {
    let begin = Begin {
        date: "2026-11-24T00:00:00Z".into(),
        shortest_pause_s: 0.02,
        clock_source: Some("tsc".into()),
    };
    let pause = simulate(1, 10, &[(5, Planned::Pause(1.0, [1.0; 3]))]);
    let [begun, event] = [
        LogLine::Begin(begin.clone()),
        LogLine::Event(pause[0].clone()),
    ]
    .map(|line| serialise(&line).unwrap());
    // What earlier versions knew.
    let other = event.replace("\"pause\"", "\"counter-jump\"");
    let stopped = event.replace("\"quota\"", "\"process\"");
    let text = format!("{begun}\n{event}\n{begun}\n\n{event}\n{other}\n{stopped}\nrubbish\n");
    let read = |text: &str| parse(text, |line| serde_json::from_str(line));
    let log = read(&text);
    assert_eq!((log.begin, log.damaged), (Some(begin), 1));
    let causes: Vec<Cause> = log.events.iter().map(|event| event.cause).collect();
    assert_eq!(causes, [Cause::Quota, Cause::Unknown]);
    // The events after a damaged start belong to no earlier watch.
    assert_eq!(
        read(&format!("{begun}\n{{\"line\":\"begin\"}}")).begin,
        None
    );
}
