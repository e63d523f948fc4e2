//! Compares the kernel's clocks with the real-time clock (RTC): a witness that counts whole seconds
//! only, but does not depend on the clock source.
//!
//! A sudden change of the offset between them is an event. A steady one is a difference of rate, of
//! which the error is one second over the time watched.

use super::{Cause, ClockSample, EventKind};
use crate::model::{Interval, MAX_SLEW};

/// Largest error, in seconds, of the time between two readings of the RTC.
/// *Computed*: the RTC counts whole seconds, and is read at most 50 ms after the other clocks.
const RTC_ERROR_S: f64 = 1.05;

/// Smallest sudden change of the offset, in seconds.
/// *Judgement*: about twice the error, so that an RTC that is read late once is no event.
const MIN_JUMP_S: f64 = 2.0;

/// Smallest sudden change of the offset as a share of the time since the last reading.
/// *Judgement*: a wrong rate may explain less.
const MAX_RATE_ERROR: f64 = 0.1;

/// The RTC since the last sudden change of its offset from the kernel's clocks.
#[derive(Clone, Debug, Default)]
pub struct Rtc {
    first: Option<RtcReading>,
    /// The first reading at which the offset had changed by more than the error.
    middle: Option<RtcReading>,
    last: Option<RtcReading>,
    is_rate_reported: bool,
}

/// A reading of the RTC with the time of its sample by the kernel's clocks, in seconds.
#[derive(Clone, Copy, Debug)]
struct RtcReading {
    rtc: f64,
    clock: f64,
}

impl RtcReading {
    /// By how many seconds the RTC advanced more than the clocks since an earlier reading.
    fn gain_since(self, then: Self) -> f64 {
        self.rtc - then.rtc - (self.clock - then.clock)
    }
}

impl Rtc {
    /// Adds the RTC of a sample, if it was read. Returns the kind and the cause of the event that it
    /// shows, and its size with the unit.
    pub fn add(
        &mut self,
        sample: &ClockSample,
    ) -> Option<(EventKind, Cause, Interval, &'static str)> {
        let machine = sample.machine.as_ref()?;
        let now = RtcReading {
            rtc: machine.rtc_s? as f64,
            clock: sample.boottime.unwrap_or(sample.monotonic) as f64 / 1e9,
        };
        let first = *self.first.get_or_insert(now);
        let last = self.last.replace(now).unwrap_or(now);
        let jump = now.gain_since(last);
        if jump.abs() >= MIN_JUMP_S + MAX_RATE_ERROR * (now.clock - last.clock) {
            *self = Self {
                first: Some(now),
                ..Self::default()
            };
            let size = Interval::around(jump, RTC_ERROR_S);
            return (jump > 0.0).then_some((EventKind::Frozen, Cause::Machine, size, "s"));
        }
        let Some(middle) = self.middle else {
            self.middle = Some(now).filter(|now| now.gain_since(first).abs() > RTC_ERROR_S);
            return None;
        };
        // A change that is not sudden enough for an event shows on one side of the middle only.
        let is_steady = now.gain_since(middle) * middle.gain_since(first).signum() > RTC_ERROR_S;
        let ppm = self
            .rate_ppm()
            .filter(|_| is_steady && !self.is_rate_reported)?;
        // An intact oscillator explains less.
        let limit_ppm = MAX_SLEW * 1e6;
        self.is_rate_reported = ppm.low.max(-ppm.high) > limit_ppm;
        let trim_ppm = sample.trim_ppm.unwrap_or(0.0);
        let cause = if (ppm.low..=ppm.high).contains(&trim_ppm) {
            Cause::Discipline
        } else if machine.synchronised == Some(true) && trim_ppm.abs() <= limit_ppm {
            Cause::Rtc
        } else {
            Cause::Unknown
        };
        self.is_rate_reported
            .then_some((EventKind::RtcRate, cause, ppm, "ppm"))
    }

    /// Returns by how many ppm the kernel's clocks are faster than the RTC; `None` unless the time
    /// watched exceeds the error of the RTC.
    pub fn rate_ppm(&self) -> Option<Interval> {
        let (first, last) = self.first.zip(self.last)?;
        let rtc = last.rtc - first.rtc;
        let ppm = |error: f64| ((last.clock - first.clock) / (rtc + error) - 1.0) * 1e6;
        let ends = (ppm(RTC_ERROR_S), ppm(-RTC_ERROR_S));
        (rtc > RTC_ERROR_S).then(|| Interval::with_ends(ppm(0.0), Some(ends)))
    }
}
