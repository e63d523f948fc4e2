//! Compares the clocks of a report: picks the one to measure with, and says why each other clock
//! was not picked.

use serde::Serialize;

use super::ChoiceError;
use super::clock_figures::{ClockFigures, PORTABLE};
use super::recipe::{Recipe, plan_fastest};
use super::requirement::Requirement;
use super::runtime::{missing_runtime, rows_of_runtime, why_unavailable};
use estimators::model::{Answer, Assessment, Report, TimerRow, Trust};
use estimators::numbers::time;

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
pub type RankedClock = RankedTimer<ClockRecipe>;

/// The result of comparing clocks by a requirement.
pub type ClockChoice = Choice<Requirement, ClockRecipe>;

/// The plan for measuring with a clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockRecipe {
    /// The plan; for an insufficient clock the nearest possible one.
    pub plan: Option<Recipe>,
}

/// A clock while it is compared with the rest.
struct Candidate {
    /// The clock with its plan, for an insufficient one the nearest possible one. Its reason is that why
    /// it does not suffice.
    ranked: RankedClock,
    /// Its figures; `None` if nothing can be measured with it.
    clock: Option<ClockFigures>,
    /// The class of the clock, the best first: it may be picked and meets the requirement with a
    /// known resolution, with a bound of it, nearly, or not at all. Last is one that may be wrong.
    class: (bool, usize, usize, bool),
    /// The number of calls that would suffice if the cost of a read were exactly known and never varied.
    calls_at_best: u64,
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
        .map(|row| Candidate::new(report, row, requirement));
    let mut all: Vec<Candidate> = contestants.collect();
    let calls = |one: &Candidate| Some((one.class, one.sufficient()?.0.method.calls()));
    // Sorted, because a report may have thousands of clocks.
    let mut all_calls: Vec<_> = all.iter().filter_map(calls).collect();
    all_calls.sort_unstable();
    // Of those that are nearly sufficient, the errors that count as equal to the least.
    let error = |one: &Candidate| {
        let plan = one.ranked.figures.plan.filter(|_| !one.ranked.suffices)?;
        Some(plan.error.max(requirement.error))
    };
    let equal = MAX_EQUAL_RATIO * all.iter().filter_map(error).fold(f64::INFINITY, f64::min);
    all.sort_by_cached_key(|one| {
        let error = error(one)
            .filter(|error| *error > equal)
            .unwrap_or_default()
            .to_bits();
        // Properties decide between the others, never figures, which differ from run to run.
        let code = one.clock.as_ref().map(ClockFigures::code_position);
        (
            one.class,
            error,
            // How many of its class are clearly better, and all of the classes before.
            all_calls.partition_point(|other| *other < (one.class, one.calls_at_best)),
            one.lacks(),
            code,
            one.ranked.id.clone(),
        )
    });
    let ranked = all.iter().map(|one| RankedTimer {
        reason: one.reason(&all[0]),
        ..one.ranked.clone()
    });
    Ok(Choice::from_ranked(
        report,
        "timermeter.pick.v1",
        requirement.clone(),
        ranked,
    ))
}

impl Candidate {
    fn new(report: &Report, row: &TimerRow, requirement: &Requirement) -> Self {
        let clock = ClockFigures::from_row(row, &report.platform);
        let plan_with = |clock: &ClockFigures| plan_fastest(clock, requirement);
        let plan = clock.as_ref().ok().map(plan_with);
        let at_best = clock.as_ref().ok().map(|clock| plan_with(&clock.at_best()));
        let unmet = clock.as_ref().map_or(Vec::new(), ClockFigures::unmet);
        let (class, shortfall) = match (&clock, &plan) {
            (Err(why), _) => (3, Some(why.0.clone())),
            _ if !unmet.is_empty() => (2, Some(unmet.join("; "))),
            (_, Some(plan)) if !plan.suffices => (2, Some(plan.largest_cause())),
            (Ok(clock), _) => (usize::from(!clock.resolved), None),
        };
        let trust = row.trust.as_ref();
        let is_suspected = trust.is_some_and(|trust| trust.part.is_some());
        // What is untested, and what users of the clock have to mind.
        let untested = trust.filter(|trust| trust.answer == Answer::Open);
        let caution = trust.and_then(|trust| Some(trust.caution?.in_words().to_owned()));
        let notes = untested.map(Trust::in_short).into_iter().chain(caution);
        Self {
            ranked: RankedTimer {
                id: row.id.clone(),
                label: row.label.clone(),
                suffices: shortfall.is_none(),
                reason: shortfall.unwrap_or_default(),
                notes: notes.collect(),
                figures: ClockRecipe { plan },
            },
            class: (
                !requirement.may_use(&row.id),
                class,
                unmet.len(),
                is_suspected,
            ),
            calls_at_best: at_best.map_or(0, |plan| plan.method.calls()),
            clock: clock.ok(),
        }
    }

    /// The plan and the figures of the clock, if the clock meets the requirement.
    fn sufficient(&self) -> Option<(&Recipe, &ClockFigures)> {
        let plan = self.ranked.figures.plan.as_ref();
        plan.zip(self.clock.as_ref())
            .filter(|_| self.ranked.suffices)
    }

    /// Whether the clock meets the requirement by a simpler method, or with fewer calls, than the
    /// other clock could at best, if the cost of its reads did not vary.
    fn is_clearly_better_than(&self, other: &Self) -> bool {
        let is_better = |(plan, _): (&Recipe, _)| plan.method.calls() < other.calls_at_best;
        self.class == other.class && self.sufficient().is_some_and(is_better)
    }

    /// Which of the properties of [`SAFETY`] the clock lacks.
    fn lacks(&self) -> [bool; 4] {
        SAFETY.map(|(has, _)| !self.clock.as_ref().is_some_and(has))
    }

    /// The reason why this clock is not the best one.
    fn reason(&self, best: &Self) -> String {
        let Some((plan, clock)) = self.sufficient() else {
            return self.ranked.reason.clone();
        };
        let method = plan.in_words();
        if !best.ranked.suffices {
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
}

#[cfg(test)]
mod tests;
