//! Compares the clocks of a report: picks the one to measure with, and says why each other clock
//! was not picked.

use serde::Serialize;

use super::ChoiceError;
use super::clock_figures::{ClockFigures, PORTABLE};
use super::plan::{MeasuringPlan, plan_fastest};
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
    /// Its figures, if anything can be measured with it.
    clock: Option<ClockFigures>,
    /// The plan; for an insufficient clock the nearest possible one.
    plan: Option<MeasuringPlan>,
    /// Why the clock does not meet the requirement; `None` if it does.
    shortfall: Option<String>,
    /// The class of the clock, the best first: it may be picked and meets the requirement with a
    /// known resolution, with a bound of it, nearly, or not at all. Last is one that may be wrong.
    class: (bool, usize, usize, bool),
    /// The number of calls that would suffice if the cost of a read were exactly known and never varied.
    calls_at_best: u64,
    /// The number of clocks that are clearly better.
    clearly_better: usize,
}

/// Largest ratio of the expected errors of two clocks that count as equally near.
/// *Judgement*: errors of one clock differ less from run to run.
const MAX_EQUAL_RATIO: f64 = 1.5;

/// A property, with the remark that is printed for a clock that lacks it.
type Property = (fn(&ClockFigures) -> bool, &'static str);

/// The properties that make a clock safer, the most important first.
const SAFETY: [Property; 4] = [
    (
        |clock| clock.properties.settable == Some(false),
        "it may be set back",
    ),
    (
        ClockFigures::is_ordered,
        "it needs a fence before each read",
    ),
    (
        |clock| PORTABLE.contains(&&*clock.id),
        "not every platform has it",
    ),
    (
        |clock| clock.properties.slewed == Some(false),
        "its rate may be corrected (NTP)",
    ),
];

/// Compares all clocks of a report by a requirement.
///
/// # Errors
/// When the report has no timer of the requested runtime.
pub fn choose(report: &Report, requirement: &Requirement) -> Result<ClockChoice, ChoiceError> {
    let runtime = requirement.runtime.as_deref();
    let rows: Vec<&TimerRow> = rows_of_runtime(report, runtime).collect();
    if rows.is_empty() {
        return Err(missing_runtime(report, runtime));
    }
    if !rows.iter().any(|row| requirement.may_use(&row.id)) {
        let why = why_unavailable(rows.iter().map(|row| &row.head));
        return Err(ChoiceError(why.unwrap_or_else(|| {
            let clocks = requirement.clocks.join(", ");
            format!("the report has none of the clocks that code in this language reads: {clocks}")
        })));
    }
    let contestants = rows
        .iter()
        .map(|row| Contestant::new(report, row, requirement));
    let mut all: Vec<Contestant> = contestants.collect();
    for at in 0..all.len() {
        let better = all
            .iter()
            .filter(|one| one.is_clearly_better_than(&all[at]));
        all[at].clearly_better = better.count();
    }
    // Of those that are nearly sufficient, the errors that count as equal to the least.
    let error = |one: &Contestant| {
        let plan = one.plan.filter(|_| one.shortfall.is_some())?;
        Some(plan.error.max(requirement.error))
    };
    let equal = MAX_EQUAL_RATIO * all.iter().filter_map(error).fold(f64::INFINITY, f64::min);
    all.sort_by_cached_key(|one| {
        let error = error(one)
            .filter(|error| *error > equal)
            .unwrap_or_default();
        // Properties decide between the others, never figures, which differ from run to run.
        let code = one.clock.as_ref().map(ClockFigures::code_position);
        (
            one.class,
            error.to_bits(),
            one.clearly_better,
            one.lacks(),
            code,
            &one.row.id,
        )
    });
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
        let is_barred = !requirement.may_use(&row.id);
        let is_suspected = row.trust.as_ref().is_some_and(|trust| trust.part.is_some());
        let clock = match ClockFigures::from_row(row, &report.platform) {
            Ok(clock) => clock,
            Err(why) => {
                return Self {
                    row,
                    clock: None,
                    plan: None,
                    shortfall: Some(why.0),
                    class: (is_barred, 3, 0, is_suspected),
                    calls_at_best: 0,
                    clearly_better: 0,
                };
            }
        };
        let [plan, at_best] = [&clock, &clock.at_best()].map(|it| plan_fastest(it, requirement));
        let unmet = clock.unmet();
        let class = match plan.suffices && unmet.is_empty() {
            true => usize::from(!clock.resolved),
            false => 2,
        };
        let shortfall = match &unmet[..] {
            [] => (!plan.suffices).then(|| plan.largest_cause()),
            unmet => Some(unmet.join("; ")),
        };
        Self {
            row,
            clock: Some(clock),
            plan: Some(plan),
            shortfall,
            class: (is_barred, class, unmet.len(), is_suspected),
            calls_at_best: at_best.method.calls(),
            clearly_better: 0,
        }
    }

    /// The plan and the figures of the clock, if the clock meets the requirement.
    fn sufficient(&self) -> Option<(&MeasuringPlan, &ClockFigures)> {
        let plan = self.plan.as_ref().filter(|_| self.shortfall.is_none())?;
        Some((plan, self.clock.as_ref()?))
    }

    /// Whether the clock meets the requirement by a simpler method, or with fewer calls, than the
    /// other clock could at best, if the cost of its reads did not vary.
    fn is_clearly_better_than(&self, other: &Self) -> bool {
        let (own, others) = (self.sufficient(), other.sufficient());
        self.class == other.class
            && others
                .and(own)
                .is_some_and(|(plan, _)| plan.method.calls() < other.calls_at_best)
    }

    /// Which of the properties of [`SAFETY`] the clock lacks.
    fn lacks(&self) -> [bool; 4] {
        SAFETY.map(|(has, _)| !self.clock.as_ref().is_some_and(has))
    }

    fn candidate(&self, best: &Self) -> RankedClock {
        RankedTimer {
            id: self.row.id.clone(),
            label: self.row.label.clone(),
            suffices: self.shortfall.is_none(),
            reason: self.reason(best),
            notes: self.notes(),
            figures: ClockPlan { plan: self.plan },
        }
    }

    /// The reason why this clock is not the best one.
    fn reason(&self, best: &Self) -> String {
        let Some((plan, clock)) = self.sufficient() else {
            return self.shortfall.clone().unwrap_or_default();
        };
        let method = plan.in_words();
        if best.shortfall.is_some() {
            return format!("{} a read, {method}", time(clock.cost_ns));
        }
        if !clock.resolved {
            return format!(
                "suffices with {method}, but only an upper bound of its resolution is known"
            );
        }
        let (own, others) = (self.lacks(), best.lacks());
        let differing = (0..SAFETY.len()).find(|at| own[*at] != others[*at]);
        let why = match differing {
            Some(at) if own[at] => SAFETY[at].1,
            _ if best.is_clearly_better_than(self) => "more calls",
            _ => "as good within the uncertainty",
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
