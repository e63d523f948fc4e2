//! Detects events, such as a pause or a clock that was set, in successive samples of the clocks.

use super::offsets::Offsets;
use super::pause::{MachineRates, Waited};
use super::rates::{RateChange, Rates};
use super::rtc::Rtc;
use super::series::SeriesFinder;
use super::{Cause, ClockEvent, ClockSample, EventKind, MachineState};
use crate::model::{AllanPoint, Interval, MAX_SLEW};

/// Tolerated change of the offset between two clocks from sample to sample, in nanoseconds, in
/// addition to the duration of both samples.
/// *Judgement*: four steps of `acpi_pm`, of 279 ns each; only the periodic tick (`jiffies`) has
/// larger steps.
const OFFSET_TOLERANCE_NS: i64 = 1_117;

/// Tolerated difference between the time by the counter and the time by RAW from sample to sample,
/// in nanoseconds, in addition to the uncertainty of the rate.
/// *Judgement*: the counters of different CPUs agree better on a machine whose kernel uses them as
/// its clock source.
const JUMP_TOLERANCE_NS: f64 = 20_000.0;

/// Tolerated change of the rate of a counter between samples, as a share.
/// *Judgement*: twenty times the change of a crystal oscillator in one second.
const MAX_RATE_WANDER: f64 = 2e-6;

const NS_PER_SECOND: f64 = 1e9;

/// Derives events from successive samples.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// The shortest pause that is reported, in nanoseconds.
    shortest_pause_ns: i64,
    first: Option<ClockSample>,
    last: Option<ClockSample>,
    /// The last state of the machine.
    last_machine: Option<MachineState>,
    machine_rates: MachineRates,
    rtc: Rtc,
    series: SeriesFinder,
    monotonic: Observed,
    counter: Observed,
}

/// The rate of a clock relative to RAW, and its offsets from RAW.
#[derive(Clone, Debug, Default)]
struct Observed {
    rate: Rates,
    offsets: Offsets,
}

impl Judge {
    /// Creates a judge that reports pauses of at least `shortest_pause_ns` nanoseconds.
    pub fn new(shortest_pause_ns: i64) -> Self {
        Self {
            shortest_pause_ns,
            ..Self::default()
        }
    }

    /// Returns whether a sample is late enough for a pause. The state of the machine, which shows
    /// the cause of the pause, should then be read.
    pub fn is_late(&self, sample: &ClockSample) -> bool {
        sample.monotonic.saturating_sub(sample.planned) >= self.shortest_pause_ns
    }

    /// Returns the Allan deviation of MONOTONIC relative to RAW, and of the counter relative to
    /// RAW.
    pub fn stability(&self) -> [Vec<AllanPoint>; 2] {
        [&self.monotonic, &self.counter].map(|clock| clock.offsets.stability())
    }

    /// Returns by how many ppm the kernel's clocks are faster than the RTC, since the last event that
    /// changed their offset from it; `None` without an RTC, and after a short time.
    pub fn ppm_by_rtc(&self) -> Option<Interval> {
        self.rtc.rate_ppm()
    }

    /// Returns the time from the first sample to the last in seconds, including suspends.
    pub fn watched_s(&self) -> f64 {
        self.first
            .as_ref()
            .zip(self.last.as_ref())
            .map_or(0.0, |(first, last)| seconds_between(first, last))
    }

    /// Adds the next sample and returns the events since the last one.
    pub fn add(&mut self, sample: ClockSample) -> Vec<ClockEvent> {
        let (Some(first), Some(last)) = (self.first.clone(), self.last.take()) else {
            self.remember_machine(&sample);
            self.rtc.add(&sample);
            self.last = Some(sample.without_machine());
            self.first.clone_from(&self.last);
            return Vec::new();
        };
        let seen = Successive {
            first: &first,
            last: &last,
            sample: &sample,
        };
        let suspend = seen.suspend();
        let is_awake = suspend.is_none();
        if !is_awake {
            // The kernel knows how long a suspend took to within a second, from the RTC.
            self.rtc = Rtc::default();
        }
        let by_rtc = self.rtc.add(&sample);
        let by_rtc = by_rtc.map(|(kind, cause, size, unit)| ClockEvent {
            size: Some(size),
            ..seen.event(kind, cause, unit)
        });
        let pause = self.pause(&seen).filter(|_| is_awake);
        let source = self.source_change(&seen);
        let keeps_rates = is_awake && source.is_none();
        let found = [
            suspend,
            seen.step(),
            pause,
            by_rtc,
            source,
            self.moved(&seen),
        ];
        let mut events: Vec<ClockEvent> = found.into_iter().flatten().collect();
        if keeps_rates {
            self.detect_rate_changes(&seen, &mut events);
        } else {
            (self.monotonic, self.counter) = (Observed::default(), Observed::default());
        }
        let is_restored = events.iter().any(|event| event.cause == Cause::Restored);
        let resolution_s = (sample.planned - last.monotonic) as f64 / NS_PER_SECOND;
        for event in &mut events {
            let effects = [EventKind::Pause, EventKind::Frozen, EventKind::CounterJump];
            if is_restored && effects.contains(&event.kind) {
                event.cause = Cause::Restored;
            }
            self.series.mark(event, resolution_s);
        }
        self.remember_machine(&sample);
        self.last = Some(sample.without_machine());
        events
    }

    /// Returns the changes of rate that the last samples show, when the watch ends.
    pub fn finish(&mut self) -> Vec<ClockEvent> {
        let (Some(first), Some(last)) = (&self.first, &self.last) else {
            return Vec::new();
        };
        let seen = Successive {
            first,
            last,
            sample: last,
        };
        let slews = self.monotonic.rate.changes(true).into_iter();
        let counter = self.counter.rate.changes(true).into_iter();
        slews
            .map(|change| seen.slew_event(change))
            .chain(counter.map(|change| seen.counter_event(change)))
            .collect()
    }

    /// Stores the state of the machine of a sample for the comparison with the next state.
    fn remember_machine(&mut self, sample: &ClockSample) {
        let late = self.is_late(sample);
        if let Some(machine) = &sample.machine {
            self.machine_rates.add(sample.monotonic, machine, late);
            self.last_machine = Some(machine.clone());
        }
    }

    /// The event of a late sample.
    fn pause(&self, seen: &Successive<'_>) -> Option<ClockEvent> {
        let (sample, last) = (seen.sample, seen.last);
        if !self.is_late(sample) {
            return None;
        }
        let late_ns = sample.monotonic - sample.planned;
        let since_last =
            |count: fn(&ClockSample) -> Option<u64>| count(sample)?.checked_sub(count(last)?);
        let waited = Waited {
            run_queue_ns: since_last(|sample| sample.run_queue_ns),
            throttled_ns: since_last(|sample| sample.throttled_ns),
        };
        let cause = self.machine_rates.find_cause(sample, late_ns, waited);
        // The pause began between the last sample and the planned time of this one, so its length
        // is between `late_ns` and the time since the last sample.
        let longest_ns = (sample.monotonic - last.monotonic).max(late_ns);
        let bounds = [late_ns, longest_ns].map(|ns| ns as f64);
        Some(seen.time_event(EventKind::Pause, cause, bounds[0], bounds))
    }

    /// The event of a kernel that uses another clock source than before.
    fn source_change(&self, seen: &Successive<'_>) -> Option<ClockEvent> {
        let old = self.last_machine.as_ref()?.source.as_ref()?;
        let machine = seen.sample.machine.as_ref()?;
        let new = machine.source.as_ref().filter(|new| *new != old)?;
        // A clock source that the kernel rejected is no longer available.
        let cause = if machine.sources.contains(old) {
            Cause::Chosen
        } else {
            Cause::KernelGaveUp
        };
        Some(ClockEvent {
            note: format!("{old} → {new}"),
            ..seen.event(EventKind::Source, cause, "")
        })
    }

    /// The event of a VMClock device that reports that the machine was moved or restored.
    fn moved(&self, seen: &Successive<'_>) -> Option<ClockEvent> {
        let then = self.last_machine.as_ref()?.vmclock?;
        let now = seen.sample.machine.as_ref()?.vmclock?;
        let (cause, note) = if now.generation == then.generation {
            (Cause::Migration, "the disruption marker changed")
        } else {
            (Cause::Restored, "the machine was restored from a snapshot")
        };
        now.differs_from(&then).then(|| ClockEvent {
            note: note.into(),
            ..seen.event(EventKind::Moved, cause, "")
        })
    }

    /// Adds events for changed rates of MONOTONIC and of the counter relative to RAW, and for a
    /// jump of the counter.
    fn detect_rate_changes(&mut self, seen: &Successive<'_>, events: &mut Vec<ClockEvent>) {
        let (first, sample) = (seen.first, seen.sample);
        let (Some(raw), Some(first_raw)) = (sample.raw, first.raw) else {
            return;
        };
        let passed = (raw - first_raw) as f64;
        let error_ns = (sample.duration_ns + OFFSET_TOLERANCE_NS) as f64;
        let monotonic = (sample.monotonic - first.monotonic) as f64;
        let Observed { rate, offsets } = &mut self.monotonic;
        offsets.add(passed / NS_PER_SECOND, (monotonic - passed) / NS_PER_SECOND);
        for change in rate.add(monotonic, passed, error_ns, sample.trim_ppm) {
            events.push(seen.slew_event(change));
            *offsets = Offsets::default();
        }
        let (Some(counter), Some(first_counter)) = (sample.counter, first.counter) else {
            return;
        };
        let ticks = counter.wrapping_sub(first_counter) as i64 as f64;
        let Observed { rate, offsets } = &mut self.counter;
        if let Some((jump_ns, bounds_ns)) = seen.counter_jump(rate) {
            let is_paused = events.iter().any(|event| event.kind == EventKind::Pause);
            let cause = if !is_paused {
                Cause::Counter
            } else if seen.is_counter_left(jump_ns) {
                Cause::Restored
            } else {
                Cause::Migration
            };
            events.push(seen.time_event(EventKind::CounterJump, cause, jump_ns, bounds_ns));
            self.counter = Observed::default();
            return;
        }
        if let Some([ticks_per_ns, _]) = rate.rate() {
            offsets.add(
                passed / NS_PER_SECOND,
                (ticks / ticks_per_ns - passed) / NS_PER_SECOND,
            );
        }
        for change in rate.add(ticks, passed, error_ns, None) {
            events.push(seen.counter_event(change));
            *offsets = Offsets::default();
        }
    }
}

/// Returns the seconds between two samples, including suspends.
fn seconds_between(first: &ClockSample, sample: &ClockSample) -> f64 {
    let time = |sample: &ClockSample| sample.boottime.unwrap_or(sample.monotonic);
    (time(sample) - time(first)) as f64 / NS_PER_SECOND
}

/// A sample with the one before it and the first of the watch. Creates the events that they show.
struct Successive<'a> {
    first: &'a ClockSample,
    last: &'a ClockSample,
    sample: &'a ClockSample,
}

impl Successive<'_> {
    /// Returns the largest error, in nanoseconds, of a measured change of the offset between two
    /// clocks.
    fn offset_uncertainty(&self) -> i64 {
        self.sample.duration_ns + self.last.duration_ns + OFFSET_TOLERANCE_NS
    }

    /// Returns the change of an offset between two clocks, in nanoseconds.
    fn change_of(&self, offset: impl Fn(&ClockSample) -> Option<i64>) -> Option<i64> {
        Some(offset(self.sample)? - offset(self.last)?)
    }

    /// The event of a BOOTTIME that moved forward relative to MONOTONIC.
    fn suspend(&self) -> Option<ClockEvent> {
        let slept_ns = self.change_of(|sample| Some(sample.boottime? - sample.monotonic))?;
        (slept_ns > self.offset_uncertainty())
            .then(|| self.offset_event(EventKind::Suspend, Cause::Suspend, slept_ns))
    }

    /// The event of a time of day that moved relative to BOOTTIME. A leap second moves it in the
    /// opposite direction of the offset of TAI.
    fn step(&self) -> Option<ClockEvent> {
        let change_ns = self.change_of(|sample| {
            Some(sample.realtime? - sample.boottime.unwrap_or(sample.monotonic))
        })?;
        let uncertainty = self.offset_uncertainty();
        let tai_change_s = self.change_of(|sample| sample.tai_offset_s).unwrap_or(0);
        let is_leap_second = tai_change_s != 0
            && (change_ns + tai_change_s.saturating_mul(1_000_000_000)).abs() <= uncertainty;
        let cause = if is_leap_second {
            Cause::LeapSecond
        } else {
            Cause::ClockSet
        };
        (change_ns.abs() > uncertainty)
            .then(|| self.offset_event(EventKind::Step, cause, change_ns))
    }

    /// Returns by how many nanoseconds the counter, which has this rate, jumped relative to RAW since
    /// the last sample, with the lower and upper bound. `None` if it did not jump, or its rate is
    /// unknown.
    fn counter_jump(&self, counter: &Rates) -> Option<(f64, [f64; 2])> {
        let (sample, last) = (self.sample, self.last);
        let [rate, error] = counter.provisional_rate()?;
        let passed = (sample.raw? - last.raw?) as f64;
        let ticks = sample.counter?.wrapping_sub(last.counter?) as i64 as f64;
        let jump = ticks / rate - passed;
        let uncertainty = self.offset_uncertainty() as f64
            + (passed.abs() + jump.abs()) * (error / rate.abs() + MAX_RATE_WANDER);
        // Twice the largest correction of a rate that the kernel permits may be a changed rate, which
        // [`Rates`] detects.
        (jump.abs() > uncertainty + JUMP_TOLERANCE_NS + passed.abs() * 2.0 * MAX_SLEW)
            .then_some((jump, [jump - uncertainty, jump + uncertainty]))
    }

    /// Whether a counter that jumped by this many nanoseconds stood still while the clocks leapt, for
    /// most of the time by which the sample is late.
    fn is_counter_left(&self, jump_ns: f64) -> bool {
        let since = |then: i64| (self.sample.monotonic - then) as f64;
        (since(self.sample.planned) / 2.0..=since(self.last.monotonic)).contains(&-jump_ns)
    }

    /// Creates an event without a size.
    fn event(&self, kind: EventKind, cause: Cause, unit: &str) -> ClockEvent {
        ClockEvent {
            kind,
            cause,
            at_s: self.sample.realtime.unwrap_or(0) as f64 / NS_PER_SECOND,
            since_s: seconds_between(self.first, self.sample),
            size: None,
            unit: unit.to_owned(),
            duration: None,
            note: String::new(),
            series: None,
        }
    }

    /// Creates an event whose size and bounds are times in nanoseconds.
    fn time_event(&self, kind: EventKind, cause: Cause, size: f64, bounds: [f64; 2]) -> ClockEvent {
        let [size, low, high] = [size, bounds[0], bounds[1]].map(|ns| ns / NS_PER_SECOND);
        ClockEvent {
            size: Some(Interval::with_ends(size, Some((low, high)))),
            ..self.event(kind, cause, "s")
        }
    }

    /// Creates an event whose size is a change of the offset between two clocks, in nanoseconds.
    fn offset_event(&self, kind: EventKind, cause: Cause, change_ns: i64) -> ClockEvent {
        let uncertainty = self.offset_uncertainty();
        let bounds = [change_ns - uncertainty, change_ns + uncertainty].map(|ns| ns as f64);
        self.time_event(kind, cause, change_ns as f64, bounds)
    }

    /// Creates the event for a changed rate of MONOTONIC.
    fn slew_event(&self, change: RateChange) -> ClockEvent {
        let cause = match change.is_requested {
            Some(true) => Cause::Discipline,
            Some(false) => Cause::Kernel,
            None => Cause::Unknown,
        };
        self.rate_event(EventKind::Slew, cause, change)
    }

    /// Creates the event for a changed rate of the counter.
    fn counter_event(&self, change: RateChange) -> ClockEvent {
        self.rate_event(EventKind::CounterRate, Cause::Counter, change)
    }

    /// Creates an event whose size is a change of rate.
    fn rate_event(&self, kind: EventKind, cause: Cause, change: RateChange) -> ClockEvent {
        let (ppm, error_ppm) = (change.ppm, change.error_ppm);
        let ends = (ppm - error_ppm, ppm + error_ppm);
        ClockEvent {
            size: Some(Interval::with_ends(ppm, Some(ends))),
            duration: change.duration_s,
            ..self.event(kind, cause, "ppm")
        }
    }
}
