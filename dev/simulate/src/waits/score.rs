//! How the estimators did on many timers that wait: steps and policies right, intervals that hold
//! the truth, and how wide these are.

use std::collections::BTreeMap;

use serde::Serialize;
use simulated::{Missed, WaitModel};
use timers::Answer;
use timers::waits::Means;

use super::truth::{Ticks, Waits, cpu_slope, is_proportional};
use super::{TickCase, WaitCase};
use crate::figure::{FigureScore, FigureSummary, FoundFigure};
use timermeter::model::{
    Granularity, Interval, Lateness, MissedPolicy, PeriodFigures, Steps, WaitFigures,
};

/// A step is right within this share.
const RIGHT: f64 = 0.01;
/// Off by more than this share, it is another one.
const WRONG: f64 = 0.05;
/// A step shows where what waits differ by is below this share of it.
const SHOWS: f64 = 0.1;

/// What was found of the steps of a timer, at all scales together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// All that show, and no others.
    Right,
    /// A step that shows was not found.
    Missed,
    /// A step that there is not, or a bound below one that there is.
    False,
}

/// How often steps were right, and exactly what policies and counts were.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Timers.
    pub timers: u32,
    /// Of them: everything right.
    pub right: u32,
    /// Of them: something that is there was not found.
    pub missed: u32,
    /// Of them: something was found that is not there.
    pub wrong: u32,
}

impl Counts {
    /// Of all kinds.
    #[must_use]
    pub fn sum(counts: &BTreeMap<String, Self>) -> Self {
        counts.values().fold(Self::default(), |sum, counts| Self {
            timers: sum.timers + counts.timers,
            right: sum.right + counts.right,
            missed: sum.missed + counts.missed,
            wrong: sum.wrong + counts.wrong,
        })
    }
}

/// The score of a population.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// Granularity, by kind of timer.
    pub steps: BTreeMap<String, Counts>,
    /// Policy and missed counts, by kind of timer.
    pub policies: BTreeMap<String, Counts>,
    figures: BTreeMap<&'static str, FigureScore>,
}

impl Score {
    /// Intervals of each figure.
    #[must_use]
    pub fn summary(&self) -> BTreeMap<&'static str, FigureSummary> {
        self.figures
            .iter()
            .map(|(name, score)| (*name, score.summary()))
            .collect()
    }

    /// Counts one more timer.
    pub fn add(&mut self, judged: &Judged) {
        let counts = if judged.periodic {
            &mut self.policies
        } else {
            &mut self.steps
        };
        let counts = counts.entry(judged.kind.clone()).or_default();
        counts.timers += 1;
        match judged.judgement {
            Judgement::Right => counts.right += 1,
            Judgement::Missed => counts.missed += 1,
            Judgement::False => counts.wrong += 1,
        }
        for (name, found, relative) in &judged.figures {
            self.figures.entry(*name).or_default().add(
                found,
                found.covered() == Some(true),
                *relative,
            );
        }
    }
}

/// What was found of one timer compared with what is true.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Whether steps were right, or policy and counts exact.
    pub judgement: Judgement,
    kind: String,
    periodic: bool,
    /// By name; whether the interval is relative to the truth.
    figures: Vec<(&'static str, FoundFigure, bool)>,
}

impl Judged {
    fn new(kind: &str, periodic: bool, judgement: Judgement) -> Self {
        Self {
            judgement,
            kind: kind.into(),
            periodic,
            figures: Vec::new(),
        }
    }

    fn add(
        &mut self,
        name: &'static str,
        truth: Option<f64>,
        known: Option<Interval>,
        relative: bool,
    ) {
        let found = |known: Interval| FoundFigure {
            truth,
            value: Some(known.value),
            low: known.low(),
            high: known.high(),
            irreducible: 0.0,
        };
        self.figures
            .extend(known.map(|known| (name, found(known), relative)));
    }

    /// A countdown timer.
    #[must_use]
    pub fn wait(case: &WaitCase, figures: &WaitFigures) -> Self {
        let model = &case.model;
        let mut judged = Self::new(&model.name, false, judged(model, &figures.steps));
        let step = [|steps: &Steps| steps.rounding, |steps: &Steps| steps.grid];
        for (declared, of) in declared(model).into_iter().zip(step) {
            let scale = figures
                .steps
                .iter()
                .find_map(|steps| match (declared(steps), of(steps)) {
                    (Some(truth), Some(Granularity::Step(known))) => Some((truth, known)),
                    _ => None,
                });
            if let Some((truth, known)) = scale {
                judged.add("step", Some(truth), Some(known), true);
            }
        }
        let floor = Waits::draw(model, 1.0, case.seed);
        judged.add(
            "floor",
            floor.late(0.5).map(|late| late + 1.0),
            figures.floor_ns,
            true,
        );
        if is_proportional(model) {
            judged.add(
                "proportional error",
                Some(model.ppm),
                figures.proportional_ppm,
                false,
            );
        }
        if is_proportional(model) || model.means != Means::Spins {
            judged.add(
                "CPU time over length",
                Some(cpu_slope(model)),
                figures.cpu_slope,
                false,
            );
        }
        // One length of each timer: what its processes differ by is the same for all.
        let rows: Vec<&Lateness> = figures
            .lateness
            .iter()
            .filter(|row| row.waits >= MANY)
            .collect();
        if let Some(row) = rows.get(case.seed as usize % rows.len().max(1)) {
            let truth = Waits::draw(model, row.request_ns as f64, case.seed);
            judged.add("lateness p50", truth.late(0.5), row.p50_ns, true);
            judged.add("lateness p90", truth.late(0.9), row.p90_ns, true);
            judged.add("lateness p99", truth.late(0.99), row.p99_ns, true);
            judged.add("lateness p99.9", truth.late(0.999), row.p999_ns, true);
            judged.add(
                "timer's part",
                truth.timers_part(),
                row.timers_part_ns,
                true,
            );
            judged.add("CPU time", truth.cpu(), row.cpu_ns, true);
        }
        judged
    }

    /// A periodic timer, whose `missed` points are declared. Its policy and counts are exact or
    /// not.
    ///
    /// # Errors
    /// As the questions to it, which are all answered.
    pub fn ticks(case: &TickCase, figures: &PeriodFigures, missed: [u64; 2]) -> Answer<Self> {
        let policy = match case.model.missed {
            Missed::Burst => MissedPolicy::Burst,
            Missed::Skip { .. } => MissedPolicy::Skip,
            Missed::Delay | Missed::Relative => MissedPolicy::Delay,
        };
        let exact =
            figures.policy == Some(policy) && [figures.missed_reported, figures.missed] == missed;
        let judgement = match figures.policy {
            _ if exact => Judgement::Right,
            None => Judgement::Missed,
            Some(_) => Judgement::False,
        };
        let mut judged = Self::new(&case.model.name, true, judgement);
        let truth = Ticks::draw(&case.model, case.period_ns, case.seed)?;
        judged.add("rate error", Some(truth.ppm), figures.rate_error_ppm, false);
        judged.add("jitter p50", truth.jitter(0.5), figures.jitter_p50_ns, true);
        judged.add(
            "jitter p99",
            truth.jitter(0.99),
            figures.jitter_p99_ns,
            true,
        );
        judged.add(
            "lateness to the grid p50",
            truth.late(0.5),
            figures.lateness_p50_ns,
            true,
        );
        judged.add(
            "lateness to the grid p99",
            truth.late(0.99),
            figures.lateness_p99_ns,
            true,
        );
        Ok(judged)
    }
}

/// Waits of a length without which its quantiles are not looked at.
const MANY: u64 = 50;

/// The declared step of either kind, at a scale.
fn declared(model: &WaitModel) -> [impl Fn(&Steps) -> Option<f64> + use<>; 2] {
    let grows = model.grows;
    // Requests are rounded, whatever becomes of them then: lateness that grows with length is no
    // longer step.
    [model.rounding, model.grid].map(|step| {
        move |steps: &Steps| {
            let growth = grows
                .filter(|(from, _)| steps.up_to_ns as f64 > *from)
                .map_or(1.0, |(_, factor)| factor);
            Some(step? * growth)
        }
    })
}

/// Whether it is this step and no other, though not as well known as it should be.
fn near(step: Interval, truth: f64) -> bool {
    (step.value / truth - 1.0).abs() < WRONG
}

fn judged(model: &WaitModel, scales: &[Steps]) -> Judgement {
    let declared = declared(model);
    let mut found = [false, false];
    for steps in scales {
        for (which, given) in [steps.rounding, steps.grid].into_iter().enumerate() {
            match (given, declared[which](steps)) {
                (Some(Granularity::Step(known)), Some(truth))
                    if (known.value / truth - 1.0).abs() <= RIGHT =>
                {
                    found[which] = true;
                }
                // Of few waits a step is determined, but not as well; where steps grow, a scan from 0 on
                // holds short ones as well.
                (Some(Granularity::Step(known)), Some(truth))
                    if near(known, truth)
                        || model
                            .grows
                            .is_some_and(|(_, factor)| near(known, truth / factor)) => {}
                (Some(Granularity::Step(_)), _) => return Judgement::False,
                (Some(Granularity::AtMost(bound)), Some(truth)) if bound < truth => {
                    return Judgement::False;
                }
                _ => {}
            }
        }
    }
    let noise = model.delays.median * model.delays.deviation;
    let shows = |step: Option<f64>| step.is_some_and(|step| noise < SHOWS * step);
    let missing = [model.rounding, model.grid]
        .into_iter()
        .zip(found)
        .any(|(step, found)| shows(step) && !found);
    if missing {
        Judgement::Missed
    } else {
        Judgement::Right
    }
}
