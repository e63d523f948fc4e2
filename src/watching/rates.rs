//! Measures the rate of one clock relative to another (its reference) in windows of ten seconds,
//! and detects when the rate changes.

/// Shortest window, in nanoseconds of the reference.
/// *Judgement*: if the offset is known to 1 µs at both ends of the window, its rate is known to
/// 0.2 ppm.
const WINDOW_NS: f64 = 10e9;

/// Smallest change of rate that is an event, in ppm, in addition to the uncertainty of both
/// windows.
/// *Judgement*: a time service that is synchronised changes the rate by less from one minute to the
/// next.
const MIN_RATE_CHANGE_PPM: f64 = 5.0;

/// A change of rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The size of the change, in ppm.
    pub ppm: f64,
    /// The largest error of `ppm`, in ppm.
    pub error_ppm: f64,
}

/// The state of the window after a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowState {
    /// The window is not complete, or it has another rate and the next window has to confirm that.
    Open,
    /// The window is complete, and its rate agrees with that of the window before.
    Settled,
    /// The rate changed; the next window confirmed it.
    Changed(Change),
}

/// The windows that measure the rate of one clock relative to a reference.
#[derive(Clone, Debug, Default)]
pub struct RateWindows {
    /// The first reading of the current window.
    begin: Option<Reading>,
    /// The rate in the last window that agreed with the windows before.
    settled: Option<Rate>,
    /// The rate in the window before the settled one. Changes are measured from this rate, because
    /// the settled window may contain the beginning of a change that is too short to be detected.
    before_settled: Option<Rate>,
    /// The rate in the last window, if it differs from the settled rate. That window may contain
    /// the change itself, so the window after it shows the size of the change.
    unconfirmed: Option<Rate>,
}

/// A reading of both clocks, since the watch began.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// The clock, in its unit.
    clock: f64,
    reference_ns: f64,
    /// Largest error of the offset between the clocks.
    error_ns: f64,
}

/// A rate with its largest error.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Units of the clock per nanosecond of the reference.
    rate: f64,
    error: f64,
}

impl RateWindows {
    /// Discards the current window and an unconfirmed change, because another event disturbed them.
    pub fn interrupt(&mut self) {
        self.begin = None;
        self.unconfirmed = None;
    }

    /// Discards all windows.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the rate in units of the clock per nanosecond of the reference, and its uncertainty;
    /// `None` before the first window is complete.
    pub fn rate(&self) -> Option<(f64, f64)> {
        self.settled.map(|rate| (rate.rate, rate.error))
    }

    /// Adds a reading of the clock in its unit and of the reference in nanoseconds, both since the
    /// watch began. `error_ns` is the largest error of the offset between them in nanoseconds.
    pub fn add(&mut self, clock: f64, reference_ns: f64, error_ns: f64) -> WindowState {
        let reading = Reading {
            clock,
            reference_ns,
            error_ns,
        };
        let Some(begin) = self.begin else {
            self.begin = Some(reading);
            return WindowState::Open;
        };
        let span_ns = reference_ns - begin.reference_ns;
        if span_ns < WINDOW_NS {
            return WindowState::Open;
        }
        self.begin = Some(reading);
        let rate = (clock - begin.clock) / span_ns;
        self.complete_window(Rate {
            rate,
            error: rate.abs() * (begin.error_ns + error_ns) / span_ns,
        })
    }

    /// Compares the rate in a complete window with the windows before.
    fn complete_window(&mut self, found: Rate) -> WindowState {
        let Some(settled) = self.settled else {
            self.settled = Some(found);
            return WindowState::Settled;
        };
        let change = |to: Rate| {
            let from = self.before_settled.unwrap_or(settled);
            let error_ppm = (to.error + from.error) / from.rate.abs() * 1e6;
            Change {
                ppm: (to.rate - from.rate) / from.rate * 1e6,
                error_ppm,
            }
        };
        let is_significant =
            |change: Change| change.ppm.abs() > MIN_RATE_CHANGE_PPM + change.error_ppm;
        match self.unconfirmed.take() {
            None if is_significant(change(found)) => {
                self.unconfirmed = Some(found);
                WindowState::Open
            }
            // A change that is not significant updates the settled rate, so that a slow drift never
            // adds up to an event.
            None => {
                self.before_settled = self.settled.replace(found);
                WindowState::Settled
            }
            Some(_) if is_significant(change(found)) => {
                let change = change(found);
                (self.before_settled, self.settled) = (None, Some(found));
                WindowState::Changed(change)
            }
            // The change lasted for less than a window, so the rate of the unconfirmed window is a
            // mean.
            Some(unconfirmed) => WindowState::Changed(change(unconfirmed)),
        }
    }
}
