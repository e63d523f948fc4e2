//! The cost of an invocation in a report: percentiles, the modes of its distribution, and the time
//! that a read adds to the code around it.

use timers::Context;

use super::Estimate;

/// The quantity that stays the same when the core frequency changes: cycles or time.
#[apply(wire, Copy, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Following {
    /// The cost is a number of core cycles, so its time follows the core frequency.
    Core,
    /// The cost is a time that another component determines (a device, another machine).
    Device,
    /// Unknown, for example because the core frequency was constant.
    #[serde(other)]
    Unknown,
}

/// The median and the tail of the cost of single invocations, and how they were
/// measured. The costs of the loop and of the reference are subtracted.
#[apply(wire)]
pub struct Cost {
    /// Median of single invocations as measured by the reference, in nanoseconds, a multiple of its
    /// step.
    pub single_median_ns: Option<f64>,
    /// 90th percentile of single invocations as measured by the reference, in nanoseconds; absent in
    /// reports of earlier versions.
    #[optional]
    pub p90_ns: Option<f64>,
    /// 99th percentile of single invocations as measured by the reference, in nanoseconds.
    pub p99_ns: Option<f64>,
    /// The longest single invocation, in nanoseconds; absent in reports of earlier versions.
    #[optional]
    pub longest_ns: Option<f64>,
    /// Whether the cost follows the core frequency, as found from the processes of the run; absent
    /// if not tested.
    #[optional]
    pub follows: Option<Following>,
    /// The id of the timer that measured the invocations.
    pub reference: String,
}

/// The distribution of the cost of single invocations, except its median.
#[apply(wire)]
pub struct Distribution {
    /// The modes (values around which costs cluster) with their shares, in ascending order; empty
    /// if the distribution has no separate modes.
    pub modes: Vec<Mode>,
    /// Standard deviation within a process around the mode that contains the median, in
    /// nanoseconds; without modes, of all invocations except the tail.
    pub within_ns: f64,
    /// Standard deviation of the median cost between processes, in nanoseconds; null for a single
    /// process.
    pub between_ns: Option<f64>,
    /// Share of invocations far above all others, such as interruptions, in [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub tail_share: f64,
}

/// The smallest number of undisturbed processes with which disturbed processes are left out.
/// *Default*: moves no figure; fewer processes show no scatter.
pub const MIN_PROCESSES: usize = 3;

/// The least width of a core, as a share of its full width, at which a process had the core to
/// itself. *Seen*: 0.95 to 1 without and 0.5 to 0.87 next to another thread, on Zen 3 and Zen 4.
pub const MIN_ALONE_WIDTH: f64 = 0.9;

/// Whether a process had its core to itself.
#[apply(wire, Copy, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Core {
    /// The core had its full width before and after the measurement, and kept its frequency.
    Alone,
    /// The core was narrower, because another thread used it, or its frequency changed.
    Shared,
    /// The width of the core, or its full width, is not known.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The figures of one process that measured a clock, whether or not the figures of the clock rest on
/// it.
#[apply(wire, Copy, Default)]
pub struct ProcessFigures {
    /// The number of the process in the run, from 0: rows with the same number were measured by the
    /// same process; null if unknown.
    pub process: Option<u32>,
    /// The CPU; null if unknown.
    pub cpu: Option<u32>,
    /// Whether the process had its core to itself.
    pub core: Core,
    /// The width of the core as a share of its full width; null if unknown.
    pub width: Option<f64>,
    /// Median of single invocations in nanoseconds, at the core frequency of the run; null in reports
    /// of earlier versions.
    pub cost_ns: Option<f64>,
    /// 99th percentile of single invocations in nanoseconds, at the core frequency of the run; absent
    /// in reports of earlier versions.
    #[optional]
    pub p99_ns: Option<f64>,
    /// Amortised cost of an invocation in nanoseconds, as measured.
    pub amortised_ns: f64,
    /// Amortised cost of an invocation in core cycles; null if the core frequency is unknown.
    pub amortised_cycles: Option<f64>,
    /// Share of single invocations within ±1 resolution of their median; null if unknown.
    pub spread: Option<f64>,
}

/// A value around which costs cluster.
#[apply(wire, Copy)]
pub struct Mode {
    /// Location of the mode, in nanoseconds.
    pub ns: f64,
    /// Share of invocations of this mode, in [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub share: f64,
}

impl Distribution {
    /// Returns whether the modes, `within_ns` and `tail_share` are finite.
    pub fn is_finite(&self) -> bool {
        let modes = self
            .modes
            .iter()
            .all(|mode| (mode.ns + mode.share).is_finite());
        modes && (self.within_ns + self.tail_share).is_finite()
    }
}

/// The time that a read adds to code of one kind.
#[apply(wire, Copy)]
pub struct AddedTime {
    /// The duration of a piece of work with a read in its middle minus its duration without a read,
    /// in nanoseconds; may be slightly negative if the read overlaps with the work.
    #[serde(flatten)]
    pub ns: Estimate,
    /// The duration of the piece of work without a read, in nanoseconds; for a cold read, the
    /// duration of the reads of the reference around it.
    pub work_ns: f64,
}

macro_rules! contexts {
    ($($(#[doc = $about:literal])* $id:ident = $name:ident;)*) => {
        /// The time that a read adds to the code around it, by kind of code.
        #[apply(wire, Copy, Default)]
        pub struct AddedTimes {
            $($(#[doc = $about])*
            #[optional]
            pub $name: Option<AddedTime>,)*
        }

        impl AddedTimes {
            /// Returns the result for this kind of code, if it was measured.
            pub fn get(&self, context: Context) -> Option<AddedTime> {
                match context {
                    $(Context::$id => self.$name,)*
                }
            }

            /// Sets the result for this kind of code.
            pub fn set(&mut self, context: Context, added: Option<AddedTime>) {
                match context {
                    $(Context::$id => self.$name = added,)*
                }
            }
        }
    };
}

contexts! {
    /// Work bound by latency: a chain of multiplications, each of which depends on the preceding
    /// one.
    Latency = latency;
    /// Work bound by throughput: four such independent chains.
    Throughput = throughput;
    /// Work bound by memory: a load that misses the core's caches, whose address depends on the
    /// preceding load.
    Memory = memory;
    /// Code with much out-of-order execution: hundreds of instructions of calls, loads and
    /// well-predicted branches.
    Ahead = ahead;
    /// The first read after a millisecond of other work.
    Cold = cold;
    /// Work bound by throughput while every other allowed CPU reads the same timer.
    Contended = contended;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_work_has_its_time() {
        let added = |ns: f64| {
            Some(AddedTime {
                ns: Estimate::with_ends(ns, Some((ns - 1.0, ns + 1.0))),
                work_ns: 9.0,
            })
        };
        let mut times = AddedTimes::default();
        for (context, ns) in Context::ALL
            .into_iter()
            .zip([0.1, 0.7, 3.5, 4.0, 700.0, 90.0])
        {
            times.set(context, added(ns));
            assert_eq!(times.get(context), added(ns));
        }
        let text = serde_json::to_string(&Context::ALL).unwrap();
        assert_eq!(
            text,
            r#"["latency","throughput","memory","ahead","cold","contended"]"#
        );
    }
}
