//! Beside a clock, from CPU to CPU and asleep or not: what comes at once, and what lasts.

use crate::rate::{Rate, by_looks};
use crate::statistics::median;
use crate::trace::CounterLook;

/// How much faster one CPU counts than the first one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuRate {
    /// The CPU.
    pub cpu: u32,
    /// How much, in ppm.
    pub tested: Tested,
}

/// A figure that should be 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tested {
    /// What was found.
    pub value: f64,
    /// The true figure lies within that of it.
    pub uncertainty: f64,
    /// A true figure as large as this shows for certain.
    pub sees: f64,
}

impl Tested {
    /// In ppm, from a share; what is as large as twice its uncertainty shows for certain.
    pub fn from_share(value: f64, uncertainty: f64) -> Self {
        Self {
            value: 1e6 * value,
            uncertainty: 1e6 * uncertainty,
            sees: 2e6 * uncertainty,
        }
    }

    /// Whether it is known not to be 0.
    pub fn is_found(&self) -> bool {
        self.value.abs() > self.uncertainty
    }
}

/// What passed between two looks from the same CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passing {
    /// Whether the thread slept in it.
    pub slept: bool,
    /// By the clock, in nanoseconds.
    pub passed_ns: f64,
    /// What the counter gained on it.
    pub gained_ns: f64,
    /// What the reads leave uncertain of that.
    pub uncertainty_ns: f64,
}

/// By how much two oscillators may wander apart while a counter is watched, as a share: what is
/// less is no fault of the counter. *Judgement*: quartz does so by less than a tenth of that within
/// seconds.
const WANDER: f64 = 1e-6;
/// A look that took this many times as long as usual was interrupted and is left out.
/// *Judgement*.
const INTERRUPTED: f64 = 4.0;
/// Largest share of the windows that sudden changes may affect; where more are affected, it is a
/// rate. *Judgement*.
const AT_ONCE: f64 = 0.1;
/// A change lasts if it holds for this share of the time at least, before and after it.
/// *Judgement*.
const LASTS: f64 = 0.125;

/// What passed from look to look, for each CPU; `ns` is the length of a tick.
pub fn series(looks: &[CounterLook], ns: f64) -> Vec<Vec<Passing>> {
    let passing = |pair: &[CounterLook]| {
        let [first, last] = [&pair[0], &pair[1]];
        let moved = |at: usize| last.values[at].wrapping_sub(first.values[at]) as f64;
        let passed_ns = moved(1);
        Passing {
            slept: last.slept,
            passed_ns,
            gained_ns: f64::midpoint(moved(0), moved(2)) * ns - passed_ns,
            // Half of each look, and a step of the clock.
            uncertainty_ns: (width(first) + width(last)) / 2.0 * ns + 1.0,
        }
    };
    let all = by_cpu(looks).into_iter();
    all.map(|(_, looks)| looks.windows(2).map(passing).collect())
        .collect()
}

/// How much counter lies between the two reads of a look, in ticks.
fn width(look: &CounterLook) -> f64 {
    look.values[2].wrapping_sub(look.values[0]) as f64
}

/// Those of each CPU that were not interrupted, in the order in which CPUs were seen first.
fn by_cpu(looks: &[CounterLook]) -> Vec<(u32, Vec<CounterLook>)> {
    let mut all: Vec<(u32, Vec<CounterLook>)> = Vec::new();
    for look in looks {
        match all.iter_mut().find(|(cpu, _)| *cpu == look.cpu) {
            Some((_, looks)) => looks.push(*look),
            None => all.push((look.cpu, vec![*look])),
        }
    }
    for (_, looks) in &mut all {
        let usual = median(looks.iter().map(width)).unwrap_or(0.0);
        looks.retain(|look| width(look) <= INTERRUPTED * usual.max(1.0));
    }
    all
}

/// How much faster each further CPU counts than the first one.
pub fn cpu_rates(looks: &[CounterLook]) -> Vec<CpuRate> {
    let rate = |(cpu, looks): (u32, Vec<CounterLook>)| {
        let looks: Vec<[i64; 3]> = looks.iter().map(|look| look.values).collect();
        (cpu, by_looks(&looks, 1.0))
    };
    let mut all = by_cpu(looks).into_iter().map(rate);
    let Some((_, Some(first))) = all.next() else {
        return Vec::new();
    };
    let against_first = |(cpu, rate): (u32, Option<Rate>)| {
        let rate = rate?;
        let uncertainty = rate.uncertainty + first.uncertainty + WANDER;
        let tested = Tested::from_share(first.ns_per_tick / rate.ns_per_tick - 1.0, uncertainty);
        Some(CpuRate { cpu, tested })
    };
    all.filter_map(against_first).collect()
}

/// How much slower it counts asleep, in ppm.
pub fn asleep(series: &[Vec<Passing>]) -> Option<Tested> {
    let middle = |slept: bool, figure: fn(&Passing) -> f64| {
        let all = series.iter().flatten();
        let all = all.filter(|passing| passing.slept == slept && passing.passed_ns > 0.0);
        median(all.map(|passing| figure(passing) / passing.passed_ns))
    };
    let both = |figure| Some([middle(false, figure)?, middle(true, figure)?]);
    let [awake, asleep] = both(|passing| passing.gained_ns)?;
    let [reads, others] = both(|passing| passing.uncertainty_ns)?;
    Some(Tested::from_share(awake - asleep, reads + others + WANDER))
}

/// The largest gain and the largest loss that came at once, in nanoseconds; `rate` is what the rate
/// is known to.
pub fn leaps(series: &[Vec<Passing>], rate: f64) -> (Option<Tested>, Option<Tested>) {
    let most = |sign: f64| {
        let of = |passing: &Passing| Tested {
            value: sign * passing.gained_ns,
            uncertainty: passing.uncertainty_ns + (rate + WANDER) * passing.passed_ns,
            sees: 0.0,
        };
        let largest = |run: &Vec<Passing>| {
            let all: Vec<Tested> = run.iter().map(of).collect();
            let beyond = all.iter().filter(|one| one.value > one.uncertainty).count() as f64;
            let sees = 2.0 * all.iter().map(|one| one.uncertainty).fold(0.0, f64::max);
            let largest = all.into_iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
            let at_once = beyond <= (AT_ONCE * run.len() as f64).max(1.0);
            let value = if at_once { largest.value.max(0.0) } else { 0.0 };
            Some(Tested {
                value,
                sees,
                ..largest
            })
        };
        let all: Vec<Tested> = series.iter().filter_map(largest).collect();
        let sees = all.iter().map(|one| one.sees).fold(f64::INFINITY, f64::min);
        // What comes at once comes on all CPUs.
        let worst = all
            .into_iter()
            .max_by(|a, b| (a.value - a.uncertainty).total_cmp(&(b.value - b.uncertainty)))?;
        Some(Tested { sees, ..worst })
    };
    (most(1.0), most(-1.0))
}

/// The change of rate that shows most clearly, in ppm.
pub fn change(series: &[Vec<Passing>]) -> Option<Tested> {
    let run = series.iter().max_by_key(|run| run.len())?;
    let total: f64 = run.iter().map(|passing| passing.passed_ns).sum();
    let all: f64 = run.iter().map(|passing| passing.gained_ns).sum();
    let (mut passed, mut gained) = (0.0, 0.0);
    let mut best: Option<Tested> = None;
    let mut sees = 0.0_f64;
    for passing in run {
        passed += passing.passed_ns;
        gained += passing.gained_ns;
        let left = total - passed;
        if passed < LASTS * total || left < LASTS * total {
            continue;
        }
        let reads = passing.uncertainty_ns * (1.0 / passed + 1.0 / left);
        let change = Tested::from_share((all - gained) / left - gained / passed, reads + WANDER);
        sees = sees.max(change.sees);
        let clarity = |tested: Tested| tested.value.abs() / tested.uncertainty;
        if best.is_none_or(|best| clarity(change) > clarity(best)) {
            best = Some(change);
        }
    }
    best.map(|best| Tested { sees, ..best })
}
