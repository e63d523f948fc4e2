//! What an invocation costs: alone, in a row, how that is distributed, and what a read adds to the
//! code around it.

use timers::Context;

use super::Interval;

/// Whether a cost follows the frequency of the core.
#[apply(wire)]
#[derive(Copy, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Following {
    /// It is a number of core cycles.
    Core,
    /// It is a time that something else takes (a device, another machine).
    Device,
    /// That cannot be told, as where the core kept its frequency.
    #[serde(other)]
    Unknown,
}

/// What an invocation costs, apart from its median. Floors of loop and reference are taken off.
#[apply(wire)]
pub struct Cost {
    /// Median cost of a single invocation, in CPU cycles.
    pub median_cycles: Option<f64>,
    /// What a call costs in a row of many: the mean over batches, in nanoseconds, in which calls
    /// may overlap.
    pub amortised_ns: Option<f64>,
    /// Median of single invocations as the reference shows them, in whole steps of the reference.
    pub single_median_ns: Option<f64>,
    /// 99th percentile of single invocations as the reference shows them.
    pub p99_ns: Option<f64>,
    /// Whether it follows the frequency of the core, as far as the processes of the run can tell;
    /// absent where that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Following>,
    /// What a read adds to the code around it; absent where that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds: Option<Adds>,
    /// The timer that timed the invocations.
    pub reference: String,
}

/// What single invocations cost, apart from their median.
#[apply(wire)]
pub struct Distribution {
    /// The costs there are, the least first, with their shares; empty where costs do not gather
    /// around places.
    pub modes: Vec<Mode>,
    /// Standard deviation around the cost that holds the median, within a process, in nanoseconds;
    /// of all invocations but the tail where there are no modes.
    pub within_ns: f64,
    /// Standard deviation of the median cost between processes, in nanoseconds; null where one
    /// process is all there was.
    pub between_ns: Option<f64>,
    /// Share of invocations far above all others, as interruptions are, in [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub tail_share: f64,
}

/// One of the costs.
#[apply(wire)]
#[derive(Copy)]
pub struct Mode {
    /// In nanoseconds.
    pub ns: f64,
    /// The share of invocations that cost about that, in [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub share: f64,
}

impl Distribution {
    /// Whether its figures are numbers.
    pub fn is_finite(&self) -> bool {
        let modes = self
            .modes
            .iter()
            .all(|mode| (mode.ns + mode.share).is_finite());
        modes && (self.within_ns + self.tail_share).is_finite()
    }
}

/// What a read adds to code of one kind.
#[apply(wire)]
#[derive(Copy)]
pub struct Added {
    /// How much longer a piece of work takes with a read in its middle, in nanoseconds; may come
    /// out slightly negative where the read is done beside it.
    pub ns: Interval,
    /// How long such a piece takes without a read, in nanoseconds; of a cold read what the reads of
    /// the reference around it take.
    pub work_ns: f64,
}

macro_rules! contexts {
    ($($(#[doc = $about:literal])* $id:ident = $name:ident;)*) => {
        /// What a read adds to the code around it, by what that is.
        #[apply(wire)]
        #[derive(Copy, Default)]
        pub struct Adds {
            $($(#[doc = $about])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $name: Option<Added>,)*
        }

        impl Adds {
            /// In that code, where it was asked.
            pub fn get(&self, context: Context) -> Option<Added> {
                match context {
                    $(Context::$id => self.$name,)*
                }
            }

            /// Keeps what was found.
            pub fn set(&mut self, context: Context, added: Option<Added>) {
                match context {
                    $(Context::$id => self.$name = added,)*
                }
            }
        }
    };
}

contexts! {
    /// Work bound by latency: a chain of multiplications, each of which waits for the one before.
    Latency = latency;
    /// Work bound by throughput: four such chains side by side.
    Throughput = throughput;
    /// Work bound by memory: a load that misses the caches of the core, whose address follows from
    /// the one before.
    Memory = memory;
    /// Code that the core runs far ahead in: calls, loads and branches that are predicted well,
    /// hundreds of instructions.
    Ahead = ahead;
    /// The first read after a millisecond of other work.
    Cold = cold;
    /// Work bound by throughput while every other allowed CPU reads the same timer.
    Contended = contended;
}

impl Adds {
    /// The least and the most that it adds to the kinds of work that are [usual](Context::USUAL).
    pub fn range(&self) -> Option<[f64; 2]> {
        let found = Context::USUAL
            .into_iter()
            .filter_map(|context| Some(self.get(context)?.ns.value));
        found.filter(|ns| ns.is_finite()).fold(None, |range, ns| {
            let [low, high] = range.unwrap_or([ns; 2]);
            Some([ns.min(low), ns.max(high)])
        })
    }

    /// The most that it adds to these, by the upper ends of their intervals.
    pub fn most_ns(&self) -> Option<f64> {
        let found = Context::USUAL
            .into_iter()
            .filter_map(|context| self.get(context));
        found
            .map(|added| added.ns.high().unwrap_or(added.ns.value))
            .filter(|ns| ns.is_finite())
            .max_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_of_usual_work() {
        let added = |ns: f64| {
            Some(Added {
                ns: Interval::with_ends(ns, Some((ns - 1.0, ns + 1.0))),
                work_ns: 9.0,
            })
        };
        let mut adds = Adds::default();
        assert_eq!((adds.range(), adds.most_ns()), (None, None));
        for (context, ns) in Context::ALL
            .into_iter()
            .zip([0.1, 0.7, 3.5, 4.0, 700.0, 90.0])
        {
            adds.set(context, added(ns));
            assert_eq!(adds.get(context), added(ns));
        }
        assert_eq!(
            (adds.range(), adds.most_ns()),
            (Some([0.1, 4.0]), Some(5.0))
        );
        let text = serde_json::to_string(&Context::ALL).unwrap();
        assert_eq!(
            text,
            r#"["latency","throughput","memory","ahead","cold","contended"]"#
        );
    }
}
