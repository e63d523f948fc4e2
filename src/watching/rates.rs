//! The rate of one clock against another, window by window, and when it changes.

/// How long a window is, in nanoseconds of the other clock.
/// *Judgement*: offsets known to a microsecond at both ends tell its rate to 0.2 ppm.
const WINDOW_NS: f64 = 10e9;

/// Least change of rate that is an event, in ppm, beside what a window leaves open.
/// *Judgement*: a time service that has settled trims by less from one minute to the next.
const LEAST_PPM: f64 = 5.0;

/// A change of rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// By how much, in ppm.
    pub ppm: f64,
    /// How well that is known.
    pub error_ppm: f64,
}

/// What a look says of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// The window is not over, or has to be confirmed by the next one.
    Open,
    /// It is over, and is as the one before.
    Settled,
    /// The rate changed.
    Changed(Change),
}

/// One clock against another.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    begun: Option<Sample>,
    settled: Option<Rate>,
    /// The window before: the last one may hold the beginning of a change, too little of it to be
    /// seen.
    before: Option<Rate>,
    /// A window that differs: it may hold the change itself, so that the next one tells how large
    /// it was.
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
    /// Forgets the window that is under way: something else happened in it.
    pub fn interrupt(&mut self) {
        self.begun = None;
        self.differs = None;
    }

    /// Forgets all.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Units of the one clock in a nanosecond of the other, and how well that is known; `None`
    /// before the first window.
    pub fn rate(&self) -> Option<(f64, f64)> {
        self.settled.map(|rate| (rate.rate, rate.error))
    }

    /// Adds a look: what both clocks passed since the watch began, and how long it took.
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
            // What is no event is followed, so that a slow drift never adds up to one.
            None => {
                self.before = self.settled.replace(found);
                Window::Settled
            }
            Some(_) if is_event(change(found)) => {
                let change = change(found);
                (self.before, self.settled) = (None, Some(found));
                Window::Changed(change)
            }
            // It lasted less than a window: what that one held is a mean.
            Some(before) => Window::Changed(change(before)),
        }
    }
}
