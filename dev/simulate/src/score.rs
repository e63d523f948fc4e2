//! Summarises the verdicts on many simulated timers: how often each figure is right, how often its
//! 95 % interval contains the truth, and how wide the interval is.

use indexmap::IndexMap;
use serde::Serialize;
use simulated::{Jitter, Processes, Updates};

use super::figure::{FigureScore, FigureSummary};
use super::{Case, Verdict};

/// Counts of verdicts on one group of timers.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// The number of timers.
    pub timers: u32,
    /// The counts for resolution, cost, spread and Quality, in this order.
    pub figures: [FigureScore; 4],
    /// Timers whose backward steps were reported correctly.
    order: u32,
    /// Timers all of whose figures were right.
    all: u32,
    /// Timers whose reported step is wrong.
    wrong_steps: u32,
    /// Timers with a relevant error outside the interval.
    misses: u32,
    /// The sum of the probabilities of such errors that no exact interval can avoid.
    unavoidable: f64,
}

/// A [`Score`] as shares of its timers, in [0, 1].
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The number of timers.
    pub timers: u32,
    /// The resolution.
    pub resolution: FigureSummary,
    /// The median cost of an isolated call.
    pub cost: FigureSummary,
    /// The share of calls within ±1 resolution of the median cost.
    pub spread: FigureSummary,
    /// Quality, Formula (1).
    pub quality: FigureSummary,
    /// Share of timers whose backward steps were reported correctly: found if the timer has some,
    /// and not found otherwise.
    pub order: f64,
    /// Share of timers all of whose figures were right.
    pub all: f64,
    /// Number of timers whose true step lies outside its interval with an error above 1 %.
    pub wrong_steps: u32,
    /// Share of timers whose true cost lies outside its interval with an error above 1 %, or whose
    /// true Quality lies outside its interval with an error above 0.1 points.
    pub misses: f64,
    /// The smallest possible share of such misses, given the widths of the intervals and a coverage
    /// of exactly 95 %.
    pub unavoidable: f64,
}

impl Summary {
    /// Returns the summaries in the order of [`FIGURES`].
    #[must_use]
    pub fn figures(&self) -> [FigureSummary; 4] {
        [self.resolution, self.cost, self.spread, self.quality]
    }
}

/// The names of the figures, in the order of reports.
pub const FIGURES: [&str; 4] = ["resolution", "cost", "spread", "Quality"];

impl Score {
    /// Adds the verdict on one timer.
    pub fn add(&mut self, verdict: &Verdict) {
        self.timers += 1;
        let [resolution, cost, spread, quality] = &mut self.figures;
        resolution.add(&verdict.resolution, verdict.resolution_holds(), true);
        cost.add(&verdict.cost, verdict.cost_holds(), true);
        spread.add(&verdict.spread, verdict.spread_holds(), false);
        quality.add(&verdict.quality, verdict.quality_holds(), false);
        self.order += u32::from(verdict.order_holds());
        self.all += u32::from(verdict.holds());
        self.wrong_steps += u32::from(verdict.step_is_wrong());
        self.misses += u32::from(verdict.misses());
        self.unavoidable += verdict.unavoidable();
    }

    /// Converts the counts to shares.
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
            wrong_steps: self.wrong_steps,
            misses,
            unavoidable,
        }
    }
}

/// The group of timers whose median cost [any reference determines](median_is_identifiable).
pub const SHOWN: &str = "shown: all";
/// The timers of [`SHOWN`] whose processes do not differ.
pub const SHOWN_IDENTICAL: &str = "shown: processes identical";

/// A second cost that occurs in a smaller share of the calls counts as rare.
const RARE_SHARE: f64 = 0.03;
/// Neighbours that slow calls by more are those that stay for milliseconds.
const BRIEF_FACTOR: f64 = 1.25;
/// The step of the coarse reference in nanoseconds. It cannot separate two costs that differ by
/// less.
const COARSE_STEP_NS: f64 = 10.0;

/// The scores of all groups of timers, by the names of the groups.
#[derive(Clone, Debug, Default)]
pub struct Scores(pub IndexMap<String, Score>);

impl Scores {
    /// Adds the verdict on a timer to each group that the timer belongs to.
    pub fn add(&mut self, case: &Case, verdict: &Verdict) {
        for group in groups(case) {
            self.0.entry(group).or_default().add(verdict);
        }
        self.0.sort_unstable_keys();
    }
}

/// Returns the kind of a timer, which is named by its step.
#[must_use]
pub fn kind(case: &Case) -> String {
    match case.timer.updates {
        Updates::Regular | Updates::Moved(_) => case.timer.name.clone(),
        _ => format!("no step: {}", case.timer.name),
    }
}

/// Whether a coarse reference determines the median cost of the timer: the distribution of the cost
/// has one mode, or two that differ by at least one step of that reference; the core does not step
/// between frequencies; the budget of the run suffices. For other timers, single readings of a
/// coarse reference leave the median open within a step, and the interval has to say so.
#[must_use]
pub fn median_is_identifiable(case: &Case) -> bool {
    let machine = &case.surroundings;
    let steady = machine.apart == 0.0
        && machine.neighbours.is_none()
        && machine.overlap == 0.0
        && machine.empty_turn == [0.0; 2]
        && machine.locked_cycle == 0.0
        && case.cut.is_none();
    steady
        && match case.timer.jitter {
            Jitter::None | Jitter::Exponential(_) | Jitter::Normal(_) | Jitter::Gamma { .. } => {
                true
            }
            Jitter::Bimodal { extra, share } => share >= RARE_SHARE && extra >= COARSE_STEP_NS,
            Jitter::InTurn { .. } | Jitter::Trimodal { .. } | Jitter::Pareto { .. } => false,
        }
}

/// Returns the groups that a timer belongs to: by its step, by the distribution of its cost, and by
/// its machine.
#[must_use]
pub fn groups(case: &Case) -> Vec<String> {
    let cost = match case.timer.jitter {
        Jitter::None => "constant",
        Jitter::Exponential(_) => "with a tail",
        Jitter::Normal(_) => "normal",
        Jitter::Gamma { .. } => "skewed",
        Jitter::Bimodal { share, .. } if share < RARE_SHARE => "rare slow path",
        Jitter::Bimodal { extra, .. } if extra < COARSE_STEP_NS => "two within 10 ns",
        Jitter::Bimodal { .. } => "bimodal",
        Jitter::InTurn { .. } => "in turn",
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
    if median_is_identifiable(case) {
        groups.push(SHOWN.into());
        groups.extend(
            (case.surroundings.processes == Processes::Identical).then(|| SHOWN_IDENTICAL.into()),
        );
    }
    if let Some(neighbours) = case.surroundings.neighbours {
        let is_alone = neighbours.shares.iter().sum::<f64>() < 0.999;
        let name = if neighbours.factors[0] > BRIEF_FACTOR {
            "shared for milliseconds"
        } else if is_alone {
            "next to neighbours"
        } else {
            "never alone"
        };
        groups.push(format!("machine: {name}"));
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
    let machine = &case.surroundings;
    for (is_so, name) in [
        (
            machine.between_processes > 0.0,
            "machine: processes at frequencies",
        ),
        (machine.locked_cycle > 0.0, "reads: phases locked"),
        (machine.overlap > 0.0, "reads: overlap"),
        (machine.empty_turn != [0.0; 2], "reads: other empty loop"),
    ] {
        groups.extend(is_so.then(|| name.into()));
    }
    if case.cut.is_some() {
        groups.push("run: cut short".into());
    }
    groups
}
