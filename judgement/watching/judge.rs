//! Detects events, such as a pause or a clock that was set, in successive samples of the clocks.

use super::slews::Slews;
use super::{Cause, ClockEvent, ClockSample, EventKind};
use estimators::model::Estimate;

/// Tolerated change of the offset between two clocks from sample to sample, in nanoseconds, in
/// addition to the duration of both samples.
/// *Judgement*: four steps of `acpi_pm`, of 279 ns each; only the periodic tick (`jiffies`) has
/// larger steps.
const OFFSET_TOLERANCE_NS: i64 = 1_117;

/// Derives events from successive samples.
#[derive(Debug, Default)]
pub struct Judge {
    /// The shortest pause that is reported, in nanoseconds.
    shortest_pause_ns: i64,
    /// The last sample, with the last values of what is not read with each.
    last: Option<ClockSample>,
    slews: Slews,
}

impl Judge {
    /// Creates a judge that reports pauses of at least `shortest_pause_ns` nanoseconds.
    pub fn new(shortest_pause_ns: i64) -> Self {
        Self {
            shortest_pause_ns,
            ..Self::default()
        }
    }

    /// Returns whether a sample is late enough for a pause, so that its cause is needed.
    pub fn is_late(&self, sample: &ClockSample) -> bool {
        sample.monotonic.saturating_sub(sample.planned) >= self.shortest_pause_ns
    }

    /// Adds the next sample and returns the events since the last one.
    pub fn add(&mut self, mut sample: ClockSample) -> Vec<ClockEvent> {
        let Some(last) = self.last.take() else {
            self.last = Some(sample);
            return Vec::new();
        };
        for (now, then) in sample.lost_ns.iter_mut().zip(last.lost_ns) {
            *now = now.or(then);
        }
        sample.source = sample.source.or_else(|| last.source.clone());
        let mut events = Vec::new();
        let mut add = |kind, cause, ns: i64, [low, high]: [i64; 2]| {
            let [value, low, high] = [ns, low, high].map(|ns| ns as f64 / 1e9);
            let size = Estimate { value, low, high };
            events.push(event(&sample, kind, cause, Some(size)));
        };
        let error_ns = sample.duration_ns + last.duration_ns + OFFSET_TOLERANCE_NS;
        let around = |ns: i64| [ns - error_ns, ns + error_ns];
        let change = |of: fn(&ClockSample) -> Option<i64>| {
            of(&sample)
                .zip(of(&last))
                .map_or(0, |(now, then)| now - then)
        };
        let slept = change(|it| Some(it.boottime? - it.monotonic));
        let is_awake = slept <= error_ns;
        if !is_awake {
            add(EventKind::Suspend, Cause::Suspend, slept, around(slept));
        }
        let set = change(|it| Some(it.realtime? - it.boottime.unwrap_or(it.monotonic)));
        if set.abs() > error_ns {
            // A leap second moves the time of day and the offset of TAI in opposite directions.
            let leap = change(|it| it.tai_offset_s).saturating_mul(1_000_000_000);
            let cause = match leap != 0 && (set + leap).abs() <= error_ns {
                true => Cause::LeapSecond,
                false => Cause::ClockSet,
            };
            add(EventKind::Step, cause, set, around(set));
        }
        if is_awake && self.is_late(&sample) {
            // The pause began between the last sample and the planned time of this one.
            let late = sample.monotonic - sample.planned;
            let longest = (sample.monotonic - last.monotonic).max(late);
            let lost = |at: usize| sample.lost_ns[at]?.checked_sub(last.lost_ns[at]?);
            let cause = cause_of_pause(late, [0, 1, 2].map(|at| lost(at).unwrap_or(0)));
            add(EventKind::Pause, cause, late, [late, longest]);
        }
        let sources = last.source.as_ref().zip(sample.source.as_ref());
        let changed = sources.filter(|(old, new)| old.current != new.current);
        if let Some((old, new)) = changed {
            let [old, now] = [old, new].map(|it| it.current.as_deref().unwrap_or("unknown"));
            // A clock source that the kernel rejected is no longer available.
            let cause = match new.available.iter().any(|name| name == old) {
                true => Cause::Chosen,
                false => Cause::KernelGaveUp,
            };
            events.push(ClockEvent {
                note: format!("{old} → {now}"),
                ..event(&sample, EventKind::Source, cause, None)
            });
        }
        if changed.is_some() || !is_awake {
            self.slews = Slews::default();
        } else if let Some(raw) = sample.raw {
            let error = sample.duration_ns + OFFSET_TOLERANCE_NS;
            let reading = [raw, sample.monotonic - raw, error].map(|ns| ns as f64);
            let slew = self.slews.add(reading, sample.trim_ppm);
            events
                .extend(slew.map(|(cause, ppm)| event(&sample, EventKind::Slew, cause, Some(ppm))));
        }
        self.last = Some(sample);
        events
    }

    /// Returns the change of rate that the last samples show, when the watch ends.
    pub fn finish(&mut self) -> Option<ClockEvent> {
        let (cause, ppm) = self.slews.judge(true)?;
        Some(event(
            self.last.as_ref()?,
            EventKind::Slew,
            cause,
            Some(ppm),
        ))
    }
}

fn event(
    sample: &ClockSample,
    kind: EventKind,
    cause: Cause,
    size: Option<Estimate>,
) -> ClockEvent {
    ClockEvent {
        kind,
        cause,
        at_s: sample.realtime.unwrap_or(0) as f64 / 1e9,
        size,
        note: String::new(),
    }
}

/// The cause of a pause: which of quotas, the host and other threads took most of it.
fn cause_of_pause(late_ns: i64, [quota, host, others]: [u64; 3]) -> Cause {
    let causes = [
        (Cause::Quota, quota),
        (Cause::Host, host),
        // A thread that a quota stops is ready to run.
        (Cause::Scheduler, others.saturating_sub(quota)),
    ];
    let explains = |(_, ns): &(Cause, u64)| 2.0 * *ns as f64 >= late_ns as f64;
    causes
        .into_iter()
        .find(explains)
        .map_or(Cause::Unknown, |found| found.0)
}
