//! Measures the rate of one clock relative to another in windows, and detects when it changes.

/// Length of a window, in nanoseconds of the other clock.
/// *Judgement*: offsets known to a microsecond at both ends tell its rate to 0.2 ppm.
const WINDOW_NS: f64 = 10e9;

/// Smallest change of rate that is an event, in ppm, in addition to the uncertainty of a window.
/// *Judgement*: a time service that has settled trims by less from one minute to the next.
const LEAST_PPM: f64 = 5.0;

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
pub enum Window {
    /// The window is not complete, or the next window has to confirm it.
    Open,
    /// The window is complete, and its rate agrees with the one before.
    Settled,
    /// The rate changed.
    Changed(Change),
}

/// The rate of one clock relative to another.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    begun: Option<Sample>,
    settled: Option<Rate>,
    /// The window before the settled one. The settled one may contain the beginning of a change,
    /// too short to be detected.
    before: Option<Rate>,
    /// A window with a different rate. It may contain the change itself, so the next one shows the
    /// size of the change.
    differs: Option<Rate>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    one: f64,
    other: f64,
    took: f64,
}

#[derive(Clone, Copy, Debug)]
struct Rate {
    rate: f64,
    error: f64,
}

impl Rates {
    /// Discards the current window, because another event disturbed it.
    pub fn interrupt(&mut self) {
        self.begun = None;
        self.differs = None;
    }

    /// Discards all windows.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns units of the one clock per nanosecond of the other, and the uncertainty; `None`
    /// before the first window is complete.
    pub fn rate(&self) -> Option<(f64, f64)> {
        self.settled.map(|rate| (rate.rate, rate.error))
    }

    /// Adds a sample: the readings of both clocks since the watch began, and the duration of the
    /// sample.
    pub fn add(&mut self, one: f64, other: f64, took: f64) -> Window {
        let sample = Sample { one, other, took };
        let Some(begun) = self.begun else {
            self.begun = Some(sample);
            return Window::Open;
        };
        let span = other - begun.other;
        if span < WINDOW_NS {
            return Window::Open;
        }
        self.begun = Some(sample);
        let rate = (one - begun.one) / span;
        self.window(Rate {
            rate,
            error: rate.abs() * (begun.took + took) / span,
        })
    }

    fn window(&mut self, found: Rate) -> Window {
        let Some(settled) = self.settled else {
            self.settled = Some(found);
            return Window::Settled;
        };
        let change = |to: Rate| {
            let from = self.before.unwrap_or(settled);
            let error_ppm = (to.error + from.error) / from.rate.abs() * 1e6;
            Change {
                ppm: (to.rate - from.rate) / from.rate * 1e6,
                error_ppm,
            }
        };
        let is_event = |change: Change| change.ppm.abs() > LEAST_PPM + change.error_ppm;
        match self.differs.take() {
            None if is_event(change(found)) => {
                self.differs = Some(found);
                Window::Open
            }
            // A change that is no event updates the settled rate, so that a slow drift never adds
            // up to an event.
            None => {
                self.before = self.settled.replace(found);
                Window::Settled
            }
            Some(_) if is_event(change(found)) => {
                let change = change(found);
                (self.before, self.settled) = (None, Some(found));
                Window::Changed(change)
            }
            // The change lasted less than a window, so the rate of that window is a mean.
            Some(before) => Window::Changed(change(before)),
        }
    }
}
