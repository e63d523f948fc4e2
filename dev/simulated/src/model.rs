//! Declares the properties of simulated timers and machines, from which their true figures follow.
//! Simulates also a clock that is read on two paths, and code around a read on a simple core.

use timers::Context;

/// The distribution of the cost of single calls around the base cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// A constant cost.
    None,
    /// An exponentially distributed extra with this mean in nanoseconds.
    Exponential(f64),
    /// A slow path that a share of the calls takes.
    Bimodal {
        /// The additional cost of the slow path in nanoseconds.
        extra: f64,
        /// The share of calls that take the slow path, in (0, 1).
        share: f64,
    },
    /// A slow path that one call in `every` takes, in strict turn.
    InTurn {
        /// The additional cost of the slow path in nanoseconds.
        extra: f64,
        /// The number of calls from one slow call to the next, at least 2.
        every: u32,
    },
    /// Normally distributed around the base, with this standard deviation in nanoseconds; at most a
    /// quarter of the base.
    Normal(f64),
    /// A gamma distributed extra: exponential for a shape of 1, nearly normal for a large shape.
    Gamma {
        /// Shape, 1 or more.
        shape: f64,
        /// Scale in nanoseconds: the mean divided by the shape.
        scale: f64,
    },
    /// Three paths: the cheapest, and two that cost more.
    Trimodal {
        /// The additional costs of the two slower paths in nanoseconds, in ascending order.
        extra: [f64; 2],
        /// The share of calls that take each of them, in (0, 1), with a sum below 1.
        share: [f64; 2],
    },
    /// An extra with a power-law tail (Lomax distribution): the share of extras above `x` is (1 +
    /// `x`/`scale`)^-`shape`.
    Pareto {
        /// The exponent; above 2 the variance is finite.
        shape: f64,
        /// Scale in nanoseconds.
        scale: f64,
    },
}

/// Rare long interruptions that occur with a constant probability per call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    /// The share of calls that are interrupted.
    pub share: f64,
    /// The longest interruption in nanoseconds; durations are log-uniform from 1 µs.
    pub longest: f64,
}

/// The way in which the counter of a clock advances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Updates {
    /// At equal intervals of one step.
    Regular,
    /// At intervals with a uniform distribution from (1 − spread) to (1 + spread) steps.
    Uneven(f64),
    /// At exponentially distributed intervals with a mean of one step.
    Random,
    /// Each update is late by a uniformly distributed share of a step, up to this one in [0, 1], as
    /// in browsers. The values are those of regular updates.
    Moved(f64),
    /// Never.
    Stuck,
}

/// The declared properties of a simulated timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The kind of timer, for output.
    pub name: String,
    /// Time between two updates of the counter, in nanoseconds of its own time.
    pub step: f64,
    /// Nanoseconds per tick of the returned values, which are truncated to whole ticks.
    pub unit: f64,
    /// All values are multiples of this many ticks.
    pub multiple: i64,
    /// Whether the unit is declared to the prober.
    pub declared: bool,
    /// The cost of a call without jitter, in nanoseconds.
    pub base: f64,
    /// The variation of the cost.
    pub jitter: Jitter,
    /// Whether the cost is a number of core cycles; otherwise the call waits for a device with its
    /// own frequency.
    pub follows_core: bool,
    /// Rare interruptions.
    pub outliers: Option<Outliers>,
    /// The number of ticks by which each reading is at least greater than the previous one; 0 if
    /// readings may be equal.
    pub unique: i64,
    /// The number of ticks by which each call moves the clock.
    pub per_call: i64,
    /// The share of readings that are rounded to a multiple, in ticks, and this multiple.
    pub rounded: Option<(f64, i64)>,
    /// The way in which the counter advances.
    pub updates: Updates,
    /// The relative error of the rate, in parts per million.
    pub drift: f64,
    /// The share of readings that are too low, and by how many ticks.
    pub backward: Option<(f64, i64)>,
}

impl Model {
    /// Returns a clock with regular updates, a declared unit and a constant cost.
    #[must_use]
    pub fn regular(name: &str, step: f64, unit: f64, base: f64) -> Self {
        Self {
            name: name.into(),
            step,
            unit,
            multiple: 1,
            declared: true,
            base,
            jitter: Jitter::None,
            follows_core: true,
            outliers: None,
            unique: 0,
            per_call: 0,
            rounded: None,
            updates: Updates::Regular,
            drift: 0.0,
            backward: None,
        }
    }
}

/// The differences between processes in the cost of the same call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Processes {
    /// No difference.
    #[default]
    Identical,
    /// Each process draws a log-normal factor with a median of 1; the value is the standard
    /// deviation of its logarithm.
    Factor(f64),
    /// A share of the processes has another cost, for example because of the address of their code.
    Regimes {
        /// The cost of a call in these processes, relative to the others.
        factor: f64,
        /// The share of these processes.
        share: f64,
    },
}

/// Interruptions that occur at a constant rate per time, such as timer interrupts and those caused
/// by other virtual machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interruptions {
    /// The mean time between two interruptions in nanoseconds.
    pub every: f64,
    /// The longest interruption in nanoseconds; durations are log-uniform from 0.5 µs.
    pub longest: f64,
}

/// Other threads on the core, which make all computations slower for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbours {
    /// The shares of the time next to a neighbour that takes less of the core, and next to one that
    /// takes more.
    pub shares: [f64; 2],
    /// The duration of a computation next to each of them, relative to that alone.
    pub factors: [f64; 2],
    /// The time in nanoseconds after which the core may enter another state.
    pub period: f64,
    /// Determines the states of the core during a run.
    pub seed: u64,
    /// The start of the process in nanoseconds since the start of the run.
    pub start: f64,
}

/// The declared properties of a simulated machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The differences between processes.
    pub processes: Processes,
    /// Interruptions of all timers, if there are any.
    pub interruptions: Option<Interruptions>,
    /// Other threads on the core, if there are any.
    pub neighbours: Option<Neighbours>,
    /// The standard deviation of the logarithm of the core frequency, which changes every few
    /// milliseconds; 0 for a constant frequency.
    pub wander: f64,
    /// The logarithm of the mean core frequency of this run, relative to the nominal one.
    pub level: f64,
    /// The logarithm of the ratio of two frequencies that the core steps between; 0 for none.
    pub apart: f64,
    /// The standard deviation between processes of the logarithm of the core frequency.
    pub between_processes: f64,
    /// The duration of one turn of a loop without its call, in nanoseconds. An empty loop is slower
    /// in some processes, because of the address of its code; a loop that waits for a read is not.
    pub turn: f64,
    /// Whether the loop is that of native hosts, with many calls in a turn: no loop is around a single
    /// call, and no empty loop is timed.
    pub unrolled: bool,
    /// The range of how much longer, or shorter, a turn of the empty loop takes, from which each
    /// process draws: it is other code, and the core begins the next turn before a call completes.
    pub empty_turn: [f64; 2],
    /// The time in nanoseconds for which the first call after a read of the reference runs while
    /// that read completes, as it does out of order. It is part of what a call takes, because the
    /// caller of isolated calls waits for it, but not of the difference of one call to none.
    pub overlap: f64,
    /// The duration of a core cycle in nanoseconds, if all code of the loops takes whole cycles of a
    /// clock that the reference steps with; 0 for loops of any duration.
    pub locked_cycle: f64,
}

/// The latency of a multiplication in nanoseconds.
const LINK_NS: f64 = 1.0;
/// The number of multiplications that the core begins in that time.
const CORE_WIDTH: f64 = 3.0;
/// The number of multiplications in a chain of work.
const CHAIN_LINKS: f64 = 16.0;
/// The duration of a cache miss in nanoseconds.
const MISS_NS: f64 = 130.0;
/// The duration of a series of calls, loads and branches, and the part of it that the core executes
/// ahead, in nanoseconds.
const AHEAD_NS: [f64; 2] = [25.0, 8.0];

/// Returns the duration in nanoseconds of a piece of code without a read and with one. The read is
/// a dependency chain of `read_ns`. In [`Context::Ahead`] it waits for all code before it, and all
/// code behind it waits for the read. `None` if the context is not simulated.
#[must_use]
pub fn code_duration_ns(context: Context, read_ns: f64) -> Option<[f64; 2]> {
    // A read that no other operation waits for occupies only its share of the execution units.
    let share = read_ns / CORE_WIDTH;
    Some(match context {
        Context::Latency => [
            CHAIN_LINKS * LINK_NS,
            (CHAIN_LINKS * LINK_NS).max(CHAIN_LINKS * LINK_NS / CORE_WIDTH + share),
        ],
        Context::Throughput => {
            let busy = 4.0 * CHAIN_LINKS * LINK_NS / CORE_WIDTH;
            [busy, busy + share]
        }
        Context::Memory => [MISS_NS, MISS_NS.max(share)],
        Context::Ahead => [AHEAD_NS[0], AHEAD_NS[0] + AHEAD_NS[1] + read_ns],
        Context::Cold | Context::Contended => return None,
    })
}
