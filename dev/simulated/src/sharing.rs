//! Simulates the core of one process next to its neighbours: how narrow it is, and how slow.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Neighbours, normal};

/// The width of a core alone and next to each neighbour, as ranges of shares of its full width.
/// *Seen* on Zen 3, Zen 4 and Emerald Rapids.
const WIDTHS: [[f64; 2]; 3] = [[0.96, 1.0], [0.68, 0.86], [0.5, 0.7]];
/// The standard deviation of the slowdown between processes in the same state. *Seen* there.
const DEVIATION: f64 = 0.02;

impl Neighbours {
    /// The state of the core at a time since the start of the run, in the unit of `period`: 0 alone,
    /// 1 and 2 next to the neighbour that takes less or more of it; and its width as a share of the
    /// full one.
    #[must_use]
    pub fn state(&self, time_ns: f64) -> (usize, f64) {
        let number = (time_ns / self.period).floor();
        let random = &mut StdRng::seed_from_u64(self.seed.wrapping_add((number as u64) << 20));
        let draw: f64 = random.random();
        let [light, heavy] = self.shares;
        let state = usize::from(draw < light + heavy) + usize::from(draw < heavy);
        let [low, high] = WIDTHS[state];
        (state, random.random_range(low..high))
    }
}

/// A state of the core.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// The width as a share of the full width.
    pub width: f64,
    /// The duration of a computation relative to that alone.
    pub slowdown: f64,
}

/// The states of the core of one process. Times are in nanoseconds.
pub(super) struct Sharing {
    neighbours: Option<Neighbours>,
    /// The start of the process.
    start: f64,
    /// How much slower this process is than others next to the same neighbour.
    own: f64,
    state: State,
    since: f64,
    until: f64,
    /// The slowdowns of earlier states with their durations.
    past: Vec<(f64, f64)>,
}

impl Sharing {
    pub(super) fn new(neighbours: Option<Neighbours>, start: f64, random: &mut StdRng) -> Self {
        let (until, own) = match neighbours {
            Some(_) => (start, (DEVIATION * normal(random)).exp()),
            None => (f64::INFINITY, 1.0),
        };
        Self {
            neighbours,
            start,
            own,
            state: State {
                width: 1.0,
                slowdown: 1.0,
            },
            since: start,
            until,
            past: Vec::new(),
        }
    }

    /// Returns the state at a time, which is not before that of an earlier call.
    pub(super) fn at(&mut self, now: f64) -> State {
        if now >= self.until
            && let Some(neighbours) = self.neighbours
        {
            self.past = self.slowdowns(now);
            self.since = now;
            self.enter(&neighbours, now);
        }
        self.state
    }

    fn enter(&mut self, neighbours: &Neighbours, now: f64) {
        let number = ((now - self.start + neighbours.start) / neighbours.period).floor();
        self.until = self.start - neighbours.start + (number + 1.0) * neighbours.period;
        let (state, width) = neighbours.state((number + 0.5) * neighbours.period);
        let slowdown = match state {
            0 => 1.0,
            _ => self.own * neighbours.factors[state - 1],
        };
        self.state = State { width, slowdown };
    }

    /// Returns the slowdowns so far, each with its duration.
    pub(super) fn slowdowns(&self, now: f64) -> Vec<(f64, f64)> {
        let mut all = self.past.clone();
        let (slowdown, ns) = (self.state.slowdown, now - self.since);
        match all.iter_mut().find(|(other, _)| *other == slowdown) {
            Some((_, sum)) => *sum += ns,
            None => all.push((slowdown, ns)),
        }
        all
    }
}
