//! Simulates other threads on the core that measures. The core is in one of three states, alone or
//! next to a neighbour that takes less or more of it, for a millisecond or for minutes; all clocks
//! become slower together. The constants are *Seen* on Zen 3, Zen 4 and Emerald Rapids guests.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use estimators::model::Core;
use estimators::model::MIN_ALONE_WIDTH;
use simulated::draw::normal;

use super::variation::in_range;

/// The mean slowdown of each family next to a neighbour, as a logarithm: on AMD and on Intel.
const SLOWDOWNS: [[f64; 4]; 2] = [[0.02, 0.04, 0.18, 0.2], [0.16, 0.19, 0.13, 0.18]];
/// The range of a machine's slowdowns relative to these.
const SEVERITIES: [f64; 2] = [0.7, 1.3];
/// The slowdown next to a neighbour that takes more of the core, as a multiple of the other.
const HEAVY: f64 = 1.75;
/// The range of the time in seconds after which the core may enter another state.
const STATE_S: [f64; 2] = [0.001, 120.0];
/// The range of the time in seconds after which neighbours use the core for another share of the time.
const LOAD_S: [f64; 2] = [1.0, 600.0];
/// The time after which the core frequency changes, and the range of its deviations within a run.
const FREQUENCY_S: f64 = 1.0;
const FREQUENCY_DEVIATIONS: [f64; 2] = [0.002, 0.04];
/// The duration of a process in seconds, and the number of its parts in each of which the core stays
/// in one state.
const PROCESS_S: f64 = 0.02;
const PARTS: u32 = 8;
/// The share of the machines whose full width is known.
const KNOWN_WIDTH: f64 = 0.75;

/// The neighbours of a machine.
pub(super) struct Neighbours {
    seed: u64,
    /// The logarithm of the slowdown of each family.
    pub slowdowns: [f64; 4],
    state_s: f64,
    load_s: f64,
    frequency_deviation: f64,
    knows_width: bool,
}

/// What a process observes.
pub(super) struct Surroundings {
    /// The share of its time in each state.
    pub shares: [f64; 3],
    pub core: Core,
    /// The width of its core before and after it, the lesser of the two; `None` if it is unknown.
    pub width: Option<f64>,
    /// The logarithm of the core frequency, relative to that of the run.
    pub frequency: f64,
}

impl Neighbours {
    pub(super) fn new(seed: u64, is_intel: bool, random: &mut StdRng) -> Self {
        let severity = in_range(SEVERITIES, random);
        Self {
            seed,
            slowdowns: SLOWDOWNS[usize::from(is_intel)].map(|slowdown| severity * slowdown),
            state_s: in_range(STATE_S, random),
            load_s: in_range(LOAD_S, random),
            frequency_deviation: in_range(FREQUENCY_DEVIATIONS, random),
            knows_width: random.random_bool(KNOWN_WIDTH),
        }
    }

    /// Draws what stays the same in a period of `length_s` seconds around a time.
    fn period(&self, time_s: f64, length_s: f64, what: u64) -> StdRng {
        let number = (time_s / length_s) as u64;
        StdRng::seed_from_u64(self.seed.wrapping_mul(1 << 30) ^ (number << 2 | what))
    }

    /// Returns the state at a time, from 0, and the width of the core; `loads` is the range of the
    /// share of the time in which neighbours use the core.
    fn state(&self, time_s: f64, loads: [f64; 2]) -> (usize, f64) {
        let load = self
            .period(time_s, self.load_s, 0)
            .random_range(loads[0]..=loads[1]);
        let neighbours = simulated::Neighbours {
            shares: [load / 2.0; 2],
            factors: [1.0; 2],
            period: self.state_s,
            seed: self.seed,
            start: 0.0,
        };
        neighbours.state(time_s)
    }

    /// Returns what the process that starts at a time observes.
    pub(super) fn surroundings(&self, time_s: f64, loads: [f64; 2]) -> Surroundings {
        let part =
            |at: u32| self.state(time_s + PROCESS_S * f64::from(at) / f64::from(PARTS), loads);
        let mut shares = [0.0; 3];
        (0..PARTS).for_each(|at| shares[part(at).0] += 1.0 / f64::from(PARTS));
        let [before, after] = [0, PARTS - 1].map(|at| part(at).1);
        let width = self.knows_width.then_some(before.min(after));
        let core = match width {
            None => Core::Unknown,
            Some(width) if width >= MIN_ALONE_WIDTH => Core::Alone,
            Some(_) => Core::Shared,
        };
        let frequency = &mut self.period(time_s, FREQUENCY_S, 2);
        Surroundings {
            shares,
            core,
            width,
            frequency: self.frequency_deviation * normal(frequency),
        }
    }
}

impl Surroundings {
    /// Returns the mean cost of a clock in all states of the process, relative to its cost alone.
    /// `log` is the logarithm of its slowdown.
    pub(super) fn slowdown(&self, log: f64) -> f64 {
        let [alone, light, heavy] = self.shares;
        alone + light * log.exp() + heavy * (HEAVY * log).exp()
    }
}

/// Returns when a process starts, in seconds from the start of the run.
pub(super) fn start_s(round: usize, clock: usize, clocks: usize) -> f64 {
    (round * clocks + clock) as f64 * PROCESS_S
}
