//! A timer that waits in a report: how finely a wait can be asked for, how late it returns, what it
//! costs.

use std::collections::BTreeMap;

use timers::waits::Means;

use super::row::headed;
use super::{Interval, RowHead};

/// What else the machine did meanwhile.
#[apply(names)]
#[derive(Default, Hash, PartialOrd, Ord)]
pub enum BackgroundLoad {
    /// Nothing of this program.
    #[default]
    None = "none",
    /// A thread computed on the same CPU.
    SameCpu = "same-cpu",
    /// A thread computed on another CPU.
    OtherCpu = "other-cpu",
}

/// Under what a timer waited.
#[apply(wire)]
#[derive(Default, Eq, Hash, PartialOrd, Ord)]
pub struct WaitConditions {
    /// The kernel's timer slack of the thread, in nanoseconds; null where it is unknown or the
    /// system has none.
    pub slack_ns: Option<u64>,
    /// `other`, `fifo:PRIORITY` or `rr:PRIORITY`; what the process was started with if nothing else
    /// was asked for.
    pub policy: String,
    /// What else ran.
    pub load: BackgroundLoad,
    /// The CPU the process was pinned to; null where it could run on any.
    pub cpu: Option<u32>,
}

/// What is known of a granularity.
#[apply(wire)]
#[derive(Copy)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// This long are its steps, in nanoseconds.
    Step(Interval),
    /// There are no steps longer than this, in nanoseconds: shorter ones drown in what else makes
    /// waits differ.
    AtMost(f64),
}

impl Granularity {
    /// Its steps, where there are any.
    pub fn step(self) -> Option<Interval> {
        match self {
            Self::Step(known) => Some(known),
            Self::AtMost(_) => None,
        }
    }
}

/// How finely waits of about one length can be asked for.
#[apply(wire)]
#[derive(Copy)]
pub struct Steps {
    /// The longest request of those that showed it, in nanoseconds: requests were random up to
    /// that.
    pub up_to_ns: u64,
    /// To what requests are rounded; null where that could not be told.
    pub rounding: Option<Granularity>,
    /// The grid of absolute time that wake-ups lie on; null where that could not be told.
    pub grid: Option<Granularity>,
}

impl Steps {
    /// What is known of them: of requests first.
    pub fn known(&self) -> impl Iterator<Item = Granularity> {
        [self.rounding, self.grid].into_iter().flatten()
    }
}

/// How late waits of one length were: observed minus asked, in nanoseconds. A quantile is null
/// where there were too few waits for it.
#[apply(wire)]
pub struct Lateness {
    /// The length that was asked for, in nanoseconds.
    pub request_ns: u64,
    /// Waits.
    pub waits: u64,
    /// Whether they were made beside those of other timers, on any CPU, as long waits are.
    #[serde(default, rename = "beside_others")]
    pub with_others: bool,
    /// Median.
    pub p50_ns: Option<Interval>,
    /// 90th percentile; from 50 waits on.
    pub p90_ns: Option<Interval>,
    /// 99th percentile; from 500 waits on.
    pub p99_ns: Option<Interval>,
    /// 99.9th percentile; from 5 000 waits on.
    pub p999_ns: Option<Interval>,
    /// The largest.
    pub max_ns: f64,
    /// Median of what is the timer's part: lateness less the time that the thread was ready to run
    /// and had no CPU; null where it spins or the system does not tell.
    pub timers_part_ns: Option<Interval>,
    /// Share of waits that returned before their time, beyond what the clock that saw it can be off
    /// by: a fault.
    pub early: f64,
    /// By how much the earliest of them did, in nanoseconds; 0 where none did.
    pub earliest_ns: f64,
    /// CPU time of the waiting thread a wait, in nanoseconds, what the loop around it takes taken
    /// off; null where it is unknown.
    pub cpu_ns: Option<Interval>,
    /// The same in cycles.
    pub cpu_cycles: Option<f64>,
    /// Resolution: the median of |observed − asked|, in nanoseconds.
    pub error_ns: f64,
    /// Share of waits within ±1 resolution of the median observed length.
    pub spread: Option<f64>,
    /// Formula (1) with resolution := median of |observed − asked|, cost := cycles a wait, and that
    /// spread, in [0, 1]; not to be ranked with clocks.
    pub quality: Option<f64>,
    /// How often each lateness was seen.
    pub histogram: LatenessHistogram,
}

/// How often each lateness was seen: bins grow with lateness, so that microseconds and seconds fit
/// one histogram.
#[apply(wire)]
#[derive(Default)]
pub struct LatenessHistogram {
    /// Waits by bin. Bin 0 holds what is below 1 ns, early waits included; bin k > 0 holds from
    /// 10^((k−1)/20) ns to 10^(k/20) ns.
    pub bins: BTreeMap<u32, u64>,
}

impl LatenessHistogram {
    /// Bins a decade.
    pub const BINS: f64 = 20.0;

    /// The bin of a lateness in nanoseconds.
    pub fn bin(late_ns: f64) -> u32 {
        if late_ns < 1.0 {
            0
        } else {
            (Self::BINS * late_ns.log10()).floor() as u32 + 1
        }
    }

    /// Where a bin ends, as a logarithm to base 10 of nanoseconds.
    pub fn end(bin: u32) -> f64 {
        f64::from(bin) / Self::BINS
    }
}

/// The length that most people wait for, in nanoseconds: it is shown first, where it was measured.
pub const USUAL_WAIT_NS: f64 = 1e6;

impl Lateness {
    /// How far its length is from another one, in nanoseconds: the logarithm of the factor between
    /// them.
    pub fn distance(&self, ns: f64) -> f64 {
        (self.request_ns.max(1) as f64 / ns).ln().abs()
    }

    /// That of the length nearest to another one, in nanoseconds.
    pub fn nearest<'a>(all: impl Iterator<Item = &'a Self>, ns: f64) -> Option<&'a Self> {
        all.min_by(|a, b| a.distance(ns).total_cmp(&b.distance(ns)))
    }
}

/// Of two timers that wait, by what each is late and what it costs, whether one is clearly better
/// in one and not clearly worse in the other.
pub fn beats(one: [f64; 2], other: [f64; 2]) -> bool {
    /// Figures that differ by less than this share are as good as the same: the next run would rank
    /// them otherwise.
    const CLEAR: f64 = 0.1;
    let clearly_better = |a: f64, b: f64| a < (1.0 - CLEAR) * b;
    let better = |at: usize| clearly_better(one[at], other[at]);
    let worse = |at: usize| clearly_better(other[at], one[at]);
    (better(0) || better(1)) && !worse(0) && !worse(1)
}

/// Everything that was found out of a timer that waits.
#[apply(wire)]
#[derive(Default)]
pub struct WaitFigures {
    /// How finely waits can be asked for, at each scale of lengths; it may grow with them.
    pub steps: Vec<Steps>,
    /// How long the shortest wait takes, in nanoseconds: the median of those that asked for 1 ns.
    pub floor_ns: Option<Interval>,
    /// How long a wait of 0 takes, in nanoseconds.
    pub zero_ns: Option<Interval>,
    /// How late waits were, by length.
    pub lateness: Vec<Lateness>,
    /// How much later longer waits are, in ppm of their length: an upper bound, as other interrupts
    /// may wake within the slack.
    pub proportional_ppm: Option<Interval>,
    /// How much more CPU time longer waits take, as a share of their length: near 0 where it
    /// blocks, 1 where it spins.
    pub cpu_slope: Option<Interval>,
    /// What arming and cancelling takes together, in nanoseconds.
    pub arm_cancel_ns: Option<Interval>,
    /// Observed over asked, a sample of points, in nanoseconds.
    pub staircase: Vec<[f64; 2]>,
    /// Fresh processes.
    pub processes: u32,
    /// Waits in all.
    pub waits: u64,
}

impl WaitFigures {
    /// How late waits were, by length, without those of 1 ns: what they ask for is the shortest
    /// wait.
    pub fn by_length(&self) -> impl Iterator<Item = &Lateness> {
        self.lateness.iter().filter(|late| late.request_ns > 1)
    }

    /// All that is known of granularities, of the shortest waits first.
    pub fn granularities(&self) -> impl Iterator<Item = Granularity> {
        self.steps.iter().flat_map(Steps::known)
    }
}

/// A timer that waits, under one set of conditions.
#[apply(wire)]
pub struct WaitRow {
    /// Who was measured, and how that ended.
    #[serde(flatten)]
    pub head: RowHead,
    /// Under what it waited.
    pub conditions: WaitConditions,
    /// What the thread does meanwhile.
    pub means: Means,
    /// What was found; null when it is not `ok`.
    pub figures: Option<WaitFigures>,
}

headed!(WaitRow);
