//! How the estimators did on many timers: how often each figure is right, how often its interval
//! holds the truth, and how wide that is.

use indexmap::IndexMap;
use serde::Serialize;
use simulated::{Jitter, Processes, Updates};

use super::figure::{FigureScore, FigureSummary};
use super::{Case, Verdict};

/// How the estimators did on one group of timers.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// How many there were.
    pub timers: u32,
    /// Resolution, cost, spread and Quality.
    pub figures: [FigureScore; 4],
    order: u32,
    all: u32,
    misses: u32,
    unavoidable: f64,
}

/// The same as shares.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How many timers.
    pub timers: u32,
    /// Step of the counter.
    pub resolution: FigureSummary,
    /// What a call costs alone.
    pub cost: FigureSummary,
    /// Share of calls within a step of that.
    pub spread: FigureSummary,
    /// The unified metric.
    pub quality: FigureSummary,
    /// Share on which steps backwards were seen exactly where there are some.
    pub order: f64,
    /// Share on which all figures were right.
    pub all: f64,
    /// Share on which the truth lay outside the interval of cost or Quality, and off by more than 1
    /// % or 0.1 points.
    pub misses: f64,
    /// The share of such misses that intervals of these widths have at least if each holds the
    /// truth 95 times in 100.
    pub unavoidable: f64,
}

impl Summary {
    /// In the order of [`FIGURES`].
    #[must_use]
    pub fn figures(&self) -> [FigureSummary; 4] {
        [self.resolution, self.cost, self.spread, self.quality]
    }
}

/// Names of the figures, in their order.
pub const FIGURES: [&str; 4] = ["resolution", "cost", "spread", "Quality"];

impl Score {
    /// Counts one more timer.
    pub fn add(&mut self, verdict: &Verdict) {
        self.timers += 1;
        let [resolution, cost, spread, quality] = &mut self.figures;
        resolution.add(&verdict.resolution, verdict.resolution_holds(), true);
        cost.add(&verdict.cost, verdict.cost_holds(), true);
        spread.add(&verdict.spread, verdict.spread_holds(), false);
        quality.add(&verdict.quality, verdict.quality_holds(), false);
        self.order += u32::from(verdict.order_holds());
        self.all += u32::from(verdict.holds());
        self.misses += u32::from(verdict.misses());
        self.unavoidable += verdict.unavoidable();
    }

    /// As shares.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let share = |part: u32| f64::from(part) / f64::from(self.timers.max(1));
        let [resolution, cost, spread, quality] = self.figures.each_ref().map(FigureScore::summary);
        let (order, all, misses) = (share(self.order), share(self.all), share(self.misses));
        let unavoidable = self.unavoidable / f64::from(self.timers.max(1));
        Summary {
            timers: self.timers,
            resolution,
            cost,
            spread,
            quality,
            order,
            all,
            misses,
            unavoidable,
        }
    }
}

/// The group of timers of which any reference [shows the middle](shows_its_middle), and of those
/// the ones whose processes do not differ.
pub const SHOWN: &str = "shown: all";
/// See [`SHOWN`].
pub const SHOWN_IDENTICAL: &str = "shown: processes identical";

/// A second cost is rare that is met in a smaller share of the calls.
const RARE: f64 = 0.03;
/// Nanoseconds in a step of the coarse reference: two costs that lie closer show at the same
/// levels.
const A_STEP: f64 = 10.0;

/// Scores of groups, in the order of [`groups`].
#[derive(Clone, Debug, Default)]
pub struct Scores(pub IndexMap<String, Score>);

impl Scores {
    /// Counts a timer in all groups that it belongs to.
    pub fn add(&mut self, case: &Case, verdict: &Verdict) {
        for group in groups(case) {
            self.0.entry(group).or_default().add(verdict);
        }
        self.0.sort_unstable_keys();
    }
}

/// The kind of a timer: its step.
#[must_use]
pub fn kind(case: &Case) -> String {
    match case.timer.updates {
        Updates::Regular => case.timer.name.clone(),
        _ => format!("no step: {}", case.timer.name),
    }
}

/// Whether single calls of the timer follow a law of which a coarse reference shows the middle: one
/// cost, however it varies, or two a step or more apart, on a core that does not step between
/// frequencies, in as many processes as it takes. A figure of others is as good as its interval
/// says: what several costs within a step are, that reference does not tell.
#[must_use]
pub fn shows_its_middle(case: &Case) -> bool {
    let steady = case.surroundings.apart == 0.0 && case.cut.is_none();
    steady
        && match case.timer.jitter {
            Jitter::None | Jitter::Exponential(_) | Jitter::Normal(_) | Jitter::Gamma { .. } => {
                true
            }
            Jitter::Bimodal { extra, share } => share >= RARE && extra >= A_STEP,
            Jitter::Trimodal { .. } | Jitter::Pareto { .. } => false,
        }
}

/// The groups that a timer with a step belongs to: by its step, by how its cost varies, by what
/// surrounds it.
fn groups(case: &Case) -> Vec<String> {
    let cost = match case.timer.jitter {
        Jitter::None => "constant",
        Jitter::Exponential(_) => "with a tail",
        Jitter::Normal(_) => "normal",
        Jitter::Gamma { .. } => "skewed",
        Jitter::Bimodal { share, .. } if share < RARE => "rare slow path",
        Jitter::Bimodal { extra, .. } if extra < A_STEP => "two within 10 ns",
        Jitter::Bimodal { .. } => "bimodal",
        Jitter::Trimodal { .. } => "three modes",
        Jitter::Pareto { .. } => "Pareto tail",
    };
    let processes = match case.surroundings.processes {
        Processes::Identical => "identical",
        Processes::Factor(_) => "differ",
        Processes::Regimes { .. } => "two regimes",
    };
    let mut groups = vec![
        format!("step: {}", kind(case)),
        format!("cost: {cost}"),
        format!("processes: {processes}"),
    ];
    if shows_its_middle(case) {
        groups.push(SHOWN.into());
        groups.extend(
            (case.surroundings.processes == Processes::Identical).then(|| SHOWN_IDENTICAL.into()),
        );
    }
    if case.surroundings.interruptions.is_some() {
        groups.push("machine: interrupted".into());
    }
    if case.surroundings.wander > 0.0 {
        let core_frequency = if case.timer.follows_core {
            "frequency wanders"
        } else {
            "wanders, device"
        };
        groups.push(format!("machine: {core_frequency}"));
    }
    if case.surroundings.apart > 0.0 {
        groups.push("machine: two frequencies".into());
    }
    if case.cut.is_some() {
        groups.push("run: cut short".into());
    }
    groups
}
