//! What a simulated timer is, and what surrounds it: everything that its truth follows from.
//!
//! A simulated clock that is to be had in two ways, one of which may be off.
//!
//! Simulated work around a read: a core of known shape, and reads that are chains of
//! multiplications.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use timers::Context;

/// How the cost of single invocations varies around its base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// Always the same.
    None,
    /// An exponentially distributed extra of this mean, in nanoseconds.
    Exponential(f64),
    /// A slow path: `extra` nanoseconds more, in a `share` of the invocations.
    Bimodal {
        /// What the slow path costs more, in nanoseconds.
        extra: f64,
        /// How often it is taken, in (0, 1).
        share: f64,
    },
    /// Normally distributed around the base, with this standard deviation in nanoseconds; at most a
    /// quarter of the base.
    Normal(f64),
    /// An extra that is gamma distributed: as skewed as its shape says, from a tail (1) to nearly
    /// normal (large).
    Gamma {
        /// Shape, 1 or more.
        shape: f64,
        /// Scale in nanoseconds: the mean over the shape.
        scale: f64,
    },
    /// Three paths: the cheapest, and two that cost more.
    Trimodal {
        /// What these cost more, in nanoseconds, the smaller first.
        extra: [f64; 2],
        /// How often each of them is taken, in (0, 1), below 1 together.
        share: [f64; 2],
    },
    /// An extra with a tail that falls off as a power (Lomax): the share of extras above `x` is (1
    /// + `x`/`scale`)^-`shape`.
    Pareto {
        /// The power; above 2 the variance is finite.
        shape: f64,
        /// Scale in nanoseconds.
        scale: f64,
    },
}

/// Rare long interruptions, by call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    /// How often, as a share of the invocations.
    pub share: f64,
    /// The longest, in nanoseconds; lengths are log-uniform from 1 µs.
    pub longest: f64,
}

/// How the counter moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Updates {
    /// Once in `step`.
    Regular,
    /// After gaps that are uniform between (1 − spread) and (1 + spread) steps.
    Uneven(f64),
    /// After exponentially distributed gaps of one step on average.
    Random,
    /// Never.
    Stuck,
}

/// Everything a simulated timer is.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What kind of timer this is, for people.
    pub name: String,
    /// Time between two updates of the counter, in nanoseconds of its own time.
    pub step: f64,
    /// Nanoseconds in one tick of the values it returns; what does not fit is truncated.
    pub unit: f64,
    /// Whether the unit is declared to the prober.
    pub declared: bool,
    /// What an invocation costs without jitter, in nanoseconds.
    pub base: f64,
    /// How that varies.
    pub jitter: Jitter,
    /// Whether its cost is a number of core cycles; otherwise it waits for a device that has its
    /// own frequency.
    pub follows_core: bool,
    /// Rare interruptions.
    pub outliers: Option<Outliers>,
    /// Whether a second reading within one update is made unique by adding one tick to the last.
    pub unique: bool,
    /// How the counter moves.
    pub updates: Updates,
    /// How much faster than real time it runs, in parts per million.
    pub drift: f64,
    /// How often a reading lies this many ticks back: (share, ticks).
    pub backward: Option<(f64, i64)>,
}

impl Model {
    /// A regular clock in whole units, of constant cost.
    #[must_use]
    pub fn regular(name: &str, step: f64, unit: f64, base: f64) -> Self {
        Self {
            name: name.into(),
            step,
            unit,
            declared: true,
            base,
            jitter: Jitter::None,
            follows_core: true,
            outliers: None,
            unique: false,
            updates: Updates::Regular,
            drift: 0.0,
            backward: None,
        }
    }
}

/// How the processes of a machine differ in what the same call costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Processes {
    /// Not at all.
    #[default]
    Identical,
    /// Each draws a factor, log-normal around 1 with this standard deviation.
    Factor(f64),
    /// Some find other conditions than the rest, as where their code came to lie.
    Regimes {
        /// What a call costs there, relative to the rest.
        factor: f64,
        /// The share of processes that do.
        share: f64,
    },
}

/// Interruptions that come by time and not by call, as those of a timer interrupt or of a neighbour
/// do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interruptions {
    /// Mean time between two, in nanoseconds.
    pub every: f64,
    /// The longest, in nanoseconds; lengths are log-uniform from 0.5 µs.
    pub longest: f64,
}

/// What a machine does to all that runs on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// How processes differ.
    pub processes: Processes,
    /// What interrupts them.
    pub interruptions: Option<Interruptions>,
    /// Standard deviation of the logarithm of the core's frequency, which changes every few
    /// milliseconds; 0 for a fixed one.
    pub wander: f64,
    /// Logarithm of the frequency around which it wanders in this run over the nominal one.
    pub level: f64,
    /// Logarithm of how far two levels lie apart that it steps between besides, half of it to
    /// either side; 0 for none.
    pub apart: f64,
    /// Nanoseconds of one turn of a loop around its call. An empty loop is slower in some
    /// processes, as where its code came to lie; loops that wait for a read are not.
    pub turn: f64,
}

/// Readings of one way, the other, and the first again, of a clock of such steps whose reads take
/// so long. The other way is ahead by `skew_ns`, or behind.
#[must_use]
pub fn paired_reads(
    step_ns: i64,
    read_ns: f64,
    skew_ns: i64,
    count: u32,
    seed: u64,
) -> Vec<[i64; 3]> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut now = random.random_range(1e12..1e15);
    let mut read = |skew: i64, random: &mut StdRng| {
        let latch = random.random_range(0.2..0.8);
        now += latch * read_ns;
        let shown = (now as i64).div_euclid(step_ns) * step_ns + skew;
        now += (1.0 - latch) * read_ns + random.random_range(0.0..0.2 * read_ns);
        shown
    };
    (0..count)
        .map(|_| {
            [
                read(0, &mut random),
                read(skew_ns, &mut random),
                read(0, &mut random),
            ]
        })
        .collect()
}

/// What a multiplication takes that another one waits for, in nanoseconds.
const LINK: f64 = 1.0;
/// How many the core begins in that time.
const WIDTH: f64 = 3.0;
/// Multiplications in a chain of work.
const CHAIN: f64 = 16.0;
/// What a miss takes.
const MISS: f64 = 130.0;
/// What a row of calls, loads and branches takes where nothing holds it up; and how much of it is
/// under way at any moment.
const AHEAD: [f64; 2] = [25.0, 8.0];

/// How long a piece of work takes on a simulated core without a read, and with one that is a chain
/// of a number of nanoseconds, all in nanoseconds. In code that the core runs far ahead in the read
/// waits for all before it, and all behind it waits for the read. `None` for what is not simulated.
#[must_use]
pub fn piece(context: Context, read_ns: f64) -> Option<[f64; 2]> {
    // What is not waited for takes no more than its share of the units.
    let share = read_ns / WIDTH;
    Some(match context {
        Context::Latency => [
            CHAIN * LINK,
            (CHAIN * LINK).max(CHAIN * LINK / WIDTH + share),
        ],
        Context::Throughput => {
            let busy = 4.0 * CHAIN * LINK / WIDTH;
            [busy, busy + share]
        }
        Context::Memory => [MISS, MISS.max(share)],
        Context::Ahead => [AHEAD[0], AHEAD[0] + AHEAD[1] + read_ns],
        Context::Cold | Context::Contended => return None,
    })
}
