//! Compares the clocks of a report: picks the one to measure with, and says why each other clock
//! was not picked.

use std::cmp::Ordering;

use serde::Serialize;

use super::ChoiceError;
use super::clock_figures::{ClockFigures, PORTABLE};
use super::plan::{MeasuringPlan, PlanMethod, plan_fastest};
use super::requirement::Requirement;
use super::runtime::{missing_runtime, rows_of_runtime, why_unavailable};
use crate::model::{Answer, Assessment, Report, TimerRow, Trust};
use crate::numbers::time;

/// The result of comparing the timers of a report by a requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice<R, F> {
    /// The schema of this document.
    pub schema: &'static str,
    /// The requirement.
    pub requirement: R,
    /// What follows from the report.
    pub assessment: Assessment,
    /// The best sufficient timer; null if none is sufficient.
    pub picked: Option<RankedTimer<F>>,
    /// The timer that comes nearest to the requirement; null if one was picked.
    pub nearest: Option<RankedTimer<F>>,
    /// The remaining timers, in order of preference.
    pub others: Vec<RankedTimer<F>>,
}

/// A compared timer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankedTimer<F> {
    /// Id of the timer.
    pub id: String,
    /// The call that reads the timer or waits with it.
    pub label: String,
    /// Whether the timer meets the requirement.
    pub suffices: bool,
    /// The reason why the timer was not picked; empty for the picked one.
    pub reason: String,
    /// Advice for users of the timer.
    pub notes: Vec<String>,
    /// The figures of the timer.
    #[serde(flatten)]
    pub figures: F,
}

impl<R, F> Choice<R, F> {
    /// The picked timer, or else the nearest.
    pub fn best(&self) -> Option<&RankedTimer<F>> {
        self.picked.as_ref().or(self.nearest.as_ref())
    }

    /// Builds the choice from candidates in order of preference.
    pub(super) fn from_ranked(
        report: &Report,
        schema: &'static str,
        requirement: R,
        ranked: impl IntoIterator<Item = RankedTimer<F>>,
    ) -> Self {
        let mut others = ranked.into_iter();
        let (mut picked, mut nearest) = (None, None);
        match others.next() {
            Some(mut best) if best.suffices => {
                best.reason.clear();
                picked = Some(best);
            }
            best => nearest = best,
        }
        Self {
            schema,
            requirement,
            assessment: report.assessment.clone(),
            picked,
            nearest,
            others: others.collect(),
        }
    }
}

/// A clock compared by the plan for measuring with it.
pub type RankedClock = RankedTimer<ClockPlan>;

/// The result of comparing clocks by a requirement.
pub type ClockChoice = Choice<Requirement, ClockPlan>;

/// The plan for measuring with a clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockPlan {
    /// The plan; for an insufficient clock the nearest possible one.
    pub plan: Option<MeasuringPlan>,
}

/// A clock while it is compared with the rest.
struct Contestant<'a> {
    row: &'a TimerRow,
    /// Its figures and its plan, or why nothing can be measured with it.
    measured: Result<(ClockFigures, MeasuringPlan), ChoiceError>,
    /// Whether the requirement allows this clock to be picked.
    eligible: bool,
    unmet: Vec<String>,
    /// The method that would suffice if the cost of a read were exactly known and never varied.
    at_best: Option<PlanMethod>,
    /// The number of clocks that are clearly better.
    clearly_better: usize,
}

/// Largest ratio of the expected errors of two clocks that count as equally near.
/// *Judgement*: errors of one clock differ less from run to run.
const MAX_EQUAL_RATIO: f64 = 1.5;

/// Compares all clocks of a report by a requirement.
///
/// # Errors
/// When the report has no timer of the requested runtime.
pub fn choose(report: &Report, requirement: &Requirement) -> Result<ClockChoice, ChoiceError> {
    let runtime = requirement.runtime.as_deref();
    let mut all: Vec<Contestant> = rows_of_runtime(report, runtime)
        .map(|row| Contestant::new(report, row, requirement))
        .collect();
    if !all.iter().any(|contestant| contestant.eligible) {
        return Err(match all.is_empty() {
            true => missing_runtime(report, runtime),
            false => ChoiceError(why_unavailable(rows_of_runtime(report, runtime).map(|row| &row.head)).unwrap_or_else(|| {
                format!(
                    "the report has none of the clocks that code in this language reads: {}",
                    requirement.clocks.join(", ")
                )
            })),
        });
    }
    for at in 0..all.len() {
        let better = all
            .iter()
            .filter(|one| one.is_clearly_better_than(&all[at]));
        all[at].clearly_better = better.count();
    }
    let errors = all.iter().map(|one| one.shortfall_error(requirement));
    let least = errors
        .filter(|error| *error > 0.0)
        .fold(f64::INFINITY, f64::min);
    all.sort_by(|a, b| a.compared_to(b, requirement, MAX_EQUAL_RATIO * least));
    let candidates = all.iter().map(|contestant| contestant.candidate(&all[0]));
    Ok(Choice::from_ranked(
        report,
        "timermeter.pick.v1",
        requirement.clone(),
        candidates,
    ))
}

impl<'a> Contestant<'a> {
    fn new(report: &Report, row: &'a TimerRow, requirement: &Requirement) -> Self {
        let clock = ClockFigures::from_row(row, &report.platform);
        let unmet = clock.as_ref().map_or(Vec::new(), ClockFigures::unmet);
        let at_best = clock.as_ref().ok();
        let at_best = at_best.map(|clock| plan_fastest(&clock.at_best(), requirement));
        Self {
            row,
            eligible: requirement.may_use(&row.id),
            unmet,
            at_best: at_best.filter(|plan| plan.suffices).map(|plan| plan.method),
            measured: clock.map(|clock| {
                let plan = plan_fastest(&clock, requirement);
                (clock, plan)
            }),
            clearly_better: 0,
        }
    }

    /// The plan and the figures of the clock, if the clock meets the requirement.
    fn sufficient(&self) -> Option<(&MeasuringPlan, &ClockFigures)> {
        let (clock, plan) = self.measured.as_ref().ok()?;
        (plan.suffices && self.unmet.is_empty()).then_some((plan, clock))
    }

    /// The plan; for an insufficient clock the nearest possible one, if any.
    fn nearest_plan(&self) -> Option<MeasuringPlan> {
        self.measured.as_ref().ok().map(|(_, plan)| *plan)
    }

    /// Whether its figures are known and have this property.
    fn has(&self, property: fn(&ClockFigures) -> bool) -> bool {
        let figures = self.measured.as_ref();
        figures.is_ok_and(|(clock, _)| property(clock))
    }

    /// The class of the clock, the best first: it may be picked and meets the requirement with a
    /// known resolution, with a bound of it, nearly, or not at all. Last is one that may be wrong.
    fn class(&self) -> (bool, usize, usize, bool) {
        let class = match (self.sufficient(), self.nearest_plan()) {
            (Some((_, clock)), _) => usize::from(!clock.resolved),
            (None, Some(_)) => 2,
            (None, None) => 3,
        };
        let trust = self.row.trust.as_ref();
        let is_suspected = trust.is_some_and(|trust| trust.part.is_some());
        (!self.eligible, class, self.unmet.len(), is_suspected)
    }

    /// The expected error of the nearest plan of a clock that does not meet the requirement; otherwise
    /// 0.
    fn shortfall_error(&self, requirement: &Requirement) -> f64 {
        match (self.sufficient(), self.nearest_plan()) {
            (None, Some(plan)) => plan.error.max(requirement.error),
            _ => 0.0,
        }
    }

    /// Orders clocks by preference: by class, then, among clocks that meet the requirement, by the
    /// number of clocks that are clearly better, among the rest by the expected error of the nearest
    /// plan if it is above `equal`. Properties decide between the others, never figures, which differ from run to run.
    fn compared_to(&self, other: &Self, requirement: &Requirement, equal: f64) -> Ordering {
        let error = |one: &Self| {
            Some(one.shortfall_error(requirement))
                .filter(|error| *error > equal)
                .unwrap_or(0.0)
        };
        let safety = |one: &Self| one.safety().map(|(is_safer, _)| !is_safer);
        let code = |one: &Self| one.measured.as_ref().ok().map(|(it, _)| it.code_position());
        (self.class().cmp(&other.class()))
            .then(error(self).total_cmp(&error(other)))
            .then(self.clearly_better.cmp(&other.clearly_better))
            .then(safety(self).cmp(&safety(other)))
            .then(code(self).cmp(&code(other)))
            .then_with(|| self.row.id.cmp(&other.row.id))
    }

    /// Whether the clock meets the requirement by a simpler method, or with fewer calls, than the
    /// other clock could at best, if the cost of its reads did not vary.
    fn is_clearly_better_than(&self, other: &Self) -> bool {
        let suffice = self.sufficient().zip(other.sufficient());
        self.class() == other.class()
            && suffice.is_some_and(|((own, _), (others, _))| {
                own.method.calls() < other.at_best.unwrap_or(others.method).calls()
            })
    }

    /// Whether the clock has each of the properties that make a clock safer, the most important
    /// first, with the remark that is printed for a clock that lacks it.
    fn safety(&self) -> [(bool, &'static str); 4] {
        [
            (
                self.has(|clock| clock.properties.settable == Some(false)),
                "it may be set back",
            ),
            (
                self.has(ClockFigures::is_ordered),
                "it needs a fence before each read",
            ),
            (
                PORTABLE.contains(&&*self.row.id),
                "not every platform has it",
            ),
            (
                self.has(|clock| clock.properties.slewed == Some(false)),
                "its rate may be corrected (NTP)",
            ),
        ]
    }

    /// The remark on the first safety property in which the two clocks differ, if this clock has
    /// the property and `other` lacks it; otherwise `None`.
    fn safer_than(&self, other: &Self) -> Option<&'static str> {
        let ((is_safer, why), _) = self
            .safety()
            .into_iter()
            .zip(other.safety())
            .find(|(own, others)| own != others)?;
        is_safer.then_some(why)
    }

    fn candidate(&self, best: &Self) -> RankedClock {
        RankedTimer {
            id: self.row.id.clone(),
            label: self.row.label.clone(),
            suffices: self.sufficient().is_some(),
            reason: self.reason(best),
            notes: self.notes(),
            figures: ClockPlan {
                plan: self.nearest_plan(),
            },
        }
    }

    /// The reason why this clock is not the best one.
    fn reason(&self, best: &Self) -> String {
        let Some((plan, clock)) = self.sufficient() else {
            return match &self.measured {
                Err(why) => why.0.clone(),
                Ok((_, plan)) if self.unmet.is_empty() => plan.largest_cause(),
                Ok(_) => self.unmet.join("; "),
            };
        };
        let method = plan.in_words();
        if best.sufficient().is_none() {
            return format!("{} a read, {method}", time(clock.cost_ns));
        }
        if !clock.resolved {
            return format!(
                "suffices with {method}, but only an upper bound of its resolution is known"
            );
        }
        let why = match best.safer_than(self) {
            Some(why) => why,
            None if best.is_clearly_better_than(self) => "more calls",
            None => "as good within the uncertainty",
        };
        format!("{} a read, {method}; {why}", time(clock.cost_ns))
    }

    /// What is untested, and what users of the clock have to mind.
    fn notes(&self) -> Vec<String> {
        let trust = self.row.trust.iter();
        let untested = trust.clone().filter(|trust| trust.answer == Answer::Open);
        let cautions = trust.filter_map(|trust| Some(trust.caution?.in_words().to_owned()));
        untested.map(Trust::in_short).chain(cautions).collect()
    }
}

#[cfg(test)]
mod tests;
