//! Detects events, such as a pause or a clock that was set, in successive samples of the clocks.

use super::offsets::Offsets;
use super::pause::{MachineRates, Waited};
use super::rates::{Change, Rates};
use super::{Cause, ClockSample, Event, EventKind, MachineState};
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

/// Smallest time, in seconds, by which the RTC must advance more than the other clocks for an
/// event.
/// *Computed*: each of the two readings of the RTC has an error of up to one second.
const MIN_FROZEN_S: f64 = 2.0;

const NS_PER_SECOND: f64 = 1e9;

/// Derives events from successive samples.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The shortest pause that is reported, in nanoseconds.
    shortest_pause_ns: i64,
    first: Option<ClockSample>,
    last: Option<ClockSample>,
    /// The last state of the machine, with its time in nanoseconds, including suspends.
    last_machine: Option<(i64, MachineState)>,
    machine_rates: MachineRates,
    monotonic_rate: Rates,
    counter_rate: Rates,
    monotonic_offsets: Offsets,
    counter_offsets: Offsets,
}

impl Judge {
    /// Creates a judge that reports pauses of at least `shortest_pause_ns` nanoseconds.
    #[must_use]
    pub fn new(shortest_pause_ns: i64) -> Self {
        Self {
            shortest_pause_ns,
            first: None,
            last: None,
            last_machine: None,
            machine_rates: MachineRates::default(),
            monotonic_rate: Rates::default(),
            counter_rate: Rates::default(),
            monotonic_offsets: Offsets::default(),
            counter_offsets: Offsets::default(),
        }
    }

    /// Returns whether a sample is late enough for a pause. The state of the machine, which shows
    /// the cause of the pause, should then be read.
    #[must_use]
    pub fn is_late(&self, sample: &ClockSample) -> bool {
        sample.monotonic.saturating_sub(sample.planned) >= self.shortest_pause_ns
    }

    /// Returns the Allan deviation of MONOTONIC relative to RAW, and of the counter relative to
    /// RAW.
    #[must_use]
    pub fn stability(&self) -> [Vec<AllanPoint>; 2] {
        [
            self.monotonic_offsets.stability(),
            self.counter_offsets.stability(),
        ]
    }

    /// Returns the time from the first sample to the last in seconds, including suspends.
    #[must_use]
    pub fn watched_s(&self) -> f64 {
        self.first
            .as_ref()
            .zip(self.last.as_ref())
            .map_or(0.0, |(first, last)| seconds_between(first, last))
    }

    /// Adds the next sample and returns the events since the last one.
    pub fn add(&mut self, sample: ClockSample) -> Vec<Event> {
        let (Some(first), Some(last)) = (self.first.clone(), self.last.take()) else {
            self.remember_machine(&sample);
            self.last = Some(sample.without_machine());
            self.first.clone_from(&self.last);
            return Vec::new();
        };
        let context = EventContext {
            first: &first,
            sample: &sample,
        };
        let mut events = Vec::new();
        let was_suspended = detect_suspend(&context, &last, &mut events);
        detect_step(&context, &last, &mut events);
        let paused = !was_suspended && self.detect_pause(&context, &last, &mut events);
        self.detect_frozen(&context, was_suspended, &mut events);
        let source_changed = self.detect_source_change(&context, &mut events);
        self.detect_move(&context, &mut events);
        if was_suspended || source_changed {
            self.monotonic_rate.forget();
            self.counter_rate.forget();
            self.monotonic_offsets.forget();
            self.counter_offsets.forget();
        } else {
            self.detect_rate_changes(&context, &last, paused, &mut events);
        }
        self.remember_machine(&sample);
        self.last = Some(sample.without_machine());
        events
    }

    /// Returns the changes of rate that the last samples show, when the watch ends.
    pub fn finish(&mut self) -> Vec<Event> {
        let (Some(first), Some(sample)) = (&self.first, &self.last) else {
            return Vec::new();
        };
        let context = EventContext { first, sample };
        let slews = self.monotonic_rate.changes(true).into_iter();
        let counter = self.counter_rate.changes(true).into_iter();
        slews
            .map(|change| context.slew_event(change))
            .chain(counter.map(|change| context.counter_event(change)))
            .collect()
    }

    /// Stores the state of the machine of a sample for the comparison with the next state.
    fn remember_machine(&mut self, sample: &ClockSample) {
        let late = self.is_late(sample);
        if let Some(machine) = &sample.machine {
            self.machine_rates.add(sample.monotonic, machine, late);
            self.last_machine =
                Some((sample.boottime.unwrap_or(sample.monotonic), machine.clone()));
        }
    }

    /// Adds an event and returns `true` if the sample is late.
    fn detect_pause(
        &self,
        context: &EventContext<'_>,
        last: &ClockSample,
        events: &mut Vec<Event>,
    ) -> bool {
        let sample = context.sample;
        if !self.is_late(sample) {
            return false;
        }
        let late_ns = sample.monotonic - sample.planned;
        let since_last = |count: fn(&ClockSample) -> Option<u64>| {
            count(sample)
                .zip(count(last))
                .and_then(|(now, then)| now.checked_sub(then))
        };
        let waited = Waited {
            run_queue_ns: since_last(|sample| sample.run_queue_ns),
            throttled_ns: since_last(|sample| sample.throttled_ns),
        };
        let cause = self.machine_rates.find_cause(sample, late_ns, waited);
        // The pause began between the last sample and the planned time of this one, so its length
        // is between `late_ns` and the time since the last sample.
        let longest_ns = sample.monotonic - last.monotonic;
        events.push(context.time_event(
            EventKind::Pause,
            cause,
            late_ns,
            [late_ns, longest_ns.max(late_ns)],
        ));
        true
    }

    /// Adds an event if the RTC advanced by more than the other clocks since the last state of the
    /// machine.
    fn detect_frozen(
        &self,
        context: &EventContext<'_>,
        was_suspended: bool,
        events: &mut Vec<Event>,
    ) {
        let sample = context.sample;
        let Some((then, machine_then)) = self.last_machine.as_ref().filter(|_| !was_suspended)
        else {
            return;
        };
        let now = sample.boottime.unwrap_or(sample.monotonic);
        let rtc = sample
            .machine
            .as_ref()
            .and_then(|machine| Some(machine.rtc_s? - machine_then.rtc_s?));
        let Some(rtc) = rtc else { return };
        let passed = (now - then) as f64 / NS_PER_SECOND;
        let frozen_s = rtc as f64 - passed;
        if frozen_s >= MIN_FROZEN_S {
            let event = context.event(EventKind::Frozen, Cause::Machine, "s");
            events.push(Event {
                size: Some(Interval::with_ends(
                    frozen_s,
                    Some((frozen_s - 1.0, frozen_s + 1.0)),
                )),
                ..event
            });
        }
    }

    /// Adds an event and returns `true` if the kernel uses another clock source than before.
    fn detect_source_change(&self, context: &EventContext<'_>, events: &mut Vec<Event>) -> bool {
        let old = self
            .last_machine
            .as_ref()
            .and_then(|(_, machine)| machine.source.as_deref());
        let machine = context.sample.machine.as_ref();
        let (Some(old), Some(machine)) = (old, machine) else {
            return false;
        };
        let Some(new) = machine.source.as_deref().filter(|new| *new != old) else {
            return false;
        };
        // A clock source that the kernel rejected is no longer available.
        let is_available = machine.sources.iter().any(|source| source == old);
        let cause = if is_available {
            Cause::Chosen
        } else {
            Cause::KernelGaveUp
        };
        let event = context.event(EventKind::Source, cause, "");
        events.push(Event {
            note: format!("{old} → {new}"),
            ..event
        });
        true
    }

    /// Adds an event if the VMClock device reports that the counter was disrupted.
    fn detect_move(&self, context: &EventContext<'_>, events: &mut Vec<Event>) {
        let then = self.last_machine.as_ref();
        let then = then.and_then(|(_, machine)| machine.vmclock);
        let now = context.sample.machine.as_ref();
        let now = now.and_then(|machine| machine.vmclock);
        let Some((then, now)) = then.zip(now).filter(|(then, now)| now.differs_from(then)) else {
            return;
        };
        let note = if now.generation == then.generation {
            "the disruption marker changed"
        } else {
            "the machine was restored from a snapshot"
        };
        let event = context.event(EventKind::Moved, Cause::Migration, "");
        events.push(Event {
            note: note.into(),
            ..event
        });
    }

    /// Adds events for changed rates of MONOTONIC and of the counter relative to RAW, and for a
    /// jump of the counter.
    fn detect_rate_changes(
        &mut self,
        context: &EventContext<'_>,
        last: &ClockSample,
        paused: bool,
        events: &mut Vec<Event>,
    ) {
        let (first, sample) = (context.first, context.sample);
        let (Some(raw), Some(first_raw)) = (sample.raw, first.raw) else {
            return;
        };
        let passed = (raw - first_raw) as f64;
        let error_ns = (sample.duration_ns + OFFSET_TOLERANCE_NS) as f64;
        let ahead = (sample.monotonic - first.monotonic) as f64 - passed;
        self.monotonic_offsets
            .add(passed / NS_PER_SECOND, ahead / NS_PER_SECOND);
        let monotonic = (sample.monotonic - first.monotonic) as f64;
        for change in self
            .monotonic_rate
            .add(monotonic, passed, error_ns, sample.trim_ppm)
        {
            events.push(context.slew_event(change));
            self.monotonic_offsets.forget();
        }
        let (Some(counter), Some(first_counter)) = (sample.counter, first.counter) else {
            return;
        };
        let ticks = counter.wrapping_sub(first_counter) as i64 as f64;
        if let Some((jump_ns, bounds_ns)) = self.counter_jump(sample, last) {
            let cause = if paused {
                Cause::Migration
            } else {
                Cause::Counter
            };
            events.push(context.time_event(EventKind::CounterJump, cause, jump_ns, bounds_ns));
            self.counter_rate.forget();
            self.counter_offsets.forget();
            return;
        }
        if let Some([rate, _]) = self.counter_rate.rate() {
            self.counter_offsets.add(
                passed / NS_PER_SECOND,
                (ticks / rate - passed) / NS_PER_SECOND,
            );
        }
        for change in self.counter_rate.add(ticks, passed, error_ns, None) {
            events.push(context.counter_event(change));
            self.counter_offsets.forget();
        }
    }

    /// Returns by how many nanoseconds the counter jumped relative to RAW since the last sample,
    /// with the lower and upper bound. `None` if it did not jump, or its rate is unknown.
    fn counter_jump(&self, sample: &ClockSample, last: &ClockSample) -> Option<(i64, [i64; 2])> {
        let [rate, error] = self.counter_rate.rate()?;
        let passed = (sample.raw? - last.raw?) as f64;
        let ticks = sample.counter?.wrapping_sub(last.counter?) as i64 as f64;
        let jump = ticks / rate - passed;
        let uncertainty = offset_uncertainty(sample, last) as f64
            + (passed.abs() + jump.abs()) * (error / rate.abs() + MAX_RATE_WANDER);
        let bounds = [(jump - uncertainty) as i64, (jump + uncertainty) as i64];
        // Twice the largest correction of a rate that the kernel permits may be a changed rate, which
        // [`Rates`] detects.
        (jump.abs() > uncertainty + JUMP_TOLERANCE_NS + passed.abs() * 2.0 * MAX_SLEW)
            .then_some((jump as i64, bounds))
    }
}

/// Returns the largest error, in nanoseconds, of a measured change of the offset between two clocks
/// from `last` to `sample`.
fn offset_uncertainty(sample: &ClockSample, last: &ClockSample) -> i64 {
    sample.duration_ns + last.duration_ns + OFFSET_TOLERANCE_NS
}

/// Returns the seconds between two samples, including suspends.
fn seconds_between(first: &ClockSample, sample: &ClockSample) -> f64 {
    let time = |sample: &ClockSample| sample.boottime.unwrap_or(sample.monotonic);
    (time(sample) - time(first)) as f64 / NS_PER_SECOND
}

/// Adds an event and returns `true` if BOOTTIME moved forward relative to MONOTONIC.
fn detect_suspend(context: &EventContext<'_>, last: &ClockSample, events: &mut Vec<Event>) -> bool {
    let sample = context.sample;
    let offset = |sample: &ClockSample| Some(sample.boottime? - sample.monotonic);
    let Some(slept_ns) = offset(sample)
        .zip(offset(last))
        .map(|(now, then)| now - then)
    else {
        return false;
    };
    let uncertainty = offset_uncertainty(sample, last);
    if slept_ns <= uncertainty {
        return false;
    }
    events.push(context.time_event(
        EventKind::Suspend,
        Cause::Suspend,
        slept_ns,
        [slept_ns - uncertainty, slept_ns + uncertainty],
    ));
    true
}

/// Adds an event if the time of day moved relative to BOOTTIME. A leap second moves it in the
/// opposite direction of the offset of TAI.
fn detect_step(context: &EventContext<'_>, last: &ClockSample, events: &mut Vec<Event>) {
    let sample = context.sample;
    let offset =
        |sample: &ClockSample| Some(sample.realtime? - sample.boottime.unwrap_or(sample.monotonic));
    let Some(change_ns) = offset(sample)
        .zip(offset(last))
        .map(|(now, then)| now - then)
    else {
        return;
    };
    let uncertainty = offset_uncertainty(sample, last);
    if change_ns.abs() <= uncertainty {
        return;
    }
    let tai_change_s = sample
        .tai_offset_s
        .zip(last.tai_offset_s)
        .map_or(0, |(now, then)| now - then);
    let is_leap_second = tai_change_s != 0
        && (change_ns + tai_change_s.saturating_mul(1_000_000_000)).abs() <= uncertainty;
    let cause = if is_leap_second {
        Cause::LeapSecond
    } else {
        Cause::ClockSet
    };
    events.push(context.time_event(
        EventKind::Step,
        cause,
        change_ns,
        [change_ns - uncertainty, change_ns + uncertainty],
    ));
}

/// Creates the events that a sample shows.
struct EventContext<'a> {
    first: &'a ClockSample,
    sample: &'a ClockSample,
}

impl EventContext<'_> {
    /// Creates an event without a size.
    fn event(&self, kind: EventKind, cause: Cause, unit: &str) -> Event {
        Event {
            kind,
            cause,
            at_s: self.sample.realtime.unwrap_or(0) as f64 / NS_PER_SECOND,
            since_s: seconds_between(self.first, self.sample),
            size: None,
            unit: unit.to_owned(),
            duration: None,
            note: String::new(),
        }
    }

    /// Creates an event whose size and bounds are times in nanoseconds.
    fn time_event(&self, kind: EventKind, cause: Cause, size: i64, ends: [i64; 2]) -> Event {
        let [size, low, high] = [size, ends[0], ends[1]].map(|ns| ns as f64 / NS_PER_SECOND);
        Event {
            size: Some(Interval::with_ends(size, Some((low, high)))),
            ..self.event(kind, cause, "s")
        }
    }

    /// Creates the event for a changed rate of MONOTONIC.
    fn slew_event(&self, change: Change) -> Event {
        let cause = match change.is_requested {
            Some(true) => Cause::Discipline,
            Some(false) => Cause::Kernel,
            None => Cause::Unknown,
        };
        self.rate_event(EventKind::Slew, cause, change)
    }

    /// Creates the event for a changed rate of the counter.
    fn counter_event(&self, change: Change) -> Event {
        self.rate_event(EventKind::CounterRate, Cause::Counter, change)
    }

    /// Creates an event whose size is a change of rate.
    fn rate_event(&self, kind: EventKind, cause: Cause, change: Change) -> Event {
        let (ppm, error_ppm) = (change.ppm, change.error_ppm);
        let ends = (ppm - error_ppm, ppm + error_ppm);
        Event {
            size: Some(Interval::with_ends(ppm, Some(ends))),
            duration: change.duration_s,
            ..self.event(kind, cause, "ppm")
        }
    }
}
