//! Compares the clocks of a report: picks the one to measure with, and says why each other clock
//! was not picked.

use std::cmp::Ordering;

use serde::Serialize;

use super::clock_facts::{list_unmet, untested_between_cpus};
use super::clock_figures::ClockFigures;
use super::plan::{Method, Plan, Shortfall, plan_fastest};
use super::requirement::Requirement;
use super::runtime::{missing_runtime, rows_of_runtime};
use crate::model::{Report, TimerRow};
use crate::text::numbers::{significant, time};

/// The result of comparing the timers of a report by a requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice<R, F> {
    /// The schema of this document.
    pub schema: &'static str,
    /// The requirement.
    pub requirement: R,
    /// The best sufficient timer; null if none is sufficient.
    pub picked: Option<Candidate<F>>,
    /// The timer that comes nearest to the requirement; null if one was picked.
    pub nearest: Option<Candidate<F>>,
    /// The remaining timers, in order of preference.
    pub others: Vec<Candidate<F>>,
}

/// A compared timer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Candidate<F> {
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
    /// Builds the choice from candidates in order of preference.
    pub(super) fn from_ranked(
        schema: &'static str,
        requirement: R,
        ranked: impl IntoIterator<Item = Candidate<F>>,
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
            picked,
            nearest,
            others: others.collect(),
        }
    }
}

/// The result of comparing clocks by a requirement.
pub type ClockChoice = Choice<Requirement, ClockPlan>;

/// The plan for measuring with a clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockPlan {
    /// The plan; for an insufficient clock the nearest possible one.
    pub plan: Option<Plan>,
}

/// A clock while it is compared with the rest.
struct Contestant<'a> {
    row: &'a TimerRow,
    clock: Option<ClockFigures>,
    /// Whether the requirement allows this clock to be picked.
    eligible: bool,
    unmet: Vec<String>,
    plan: Result<Plan, Shortfall>,
}

/// Largest ratio to the shortest campaign at which a campaign still counts as equally short: the
/// difference is not worth another clock. *Judgement*: 33 and 34 calls of 250 ns differ less than
/// two runs do.
const MAX_CAMPAIGN_RATIO: f64 = 1.5;

/// Compares all clocks of a report by a requirement.
///
/// # Errors
/// When the report has no timer of the requested runtime.
pub fn choose(report: &Report, requirement: &Requirement) -> Result<ClockChoice, String> {
    let runtime = requirement.runtime.as_deref();
    let mut all: Vec<Contestant> = rows_of_runtime(report, runtime)
        .map(|row| Contestant::new(report, row, requirement))
        .collect();
    if !all.iter().any(|contestant| contestant.eligible) {
        return Err(match all.is_empty() {
            true => missing_runtime(report, runtime),
            false => format!(
                "the report has none of the clocks that code in this language reads: {}",
                requirement.clocks.join(", ")
            ),
        });
    }
    all.sort_by(|a, b| a.compared_to(b, requirement));
    move_safest_to_front(&mut all);
    let candidates = all.iter().map(|contestant| contestant.candidate(&all[0]));
    Ok(Choice::from_ranked(
        "timermeter.pick.v1",
        requirement.clone(),
        candidates,
    ))
}

/// Replaces the plan for the picked clock by that of the code for it, if that keeps the requirement.
#[must_use]
pub fn plan_code(report: &Report, mut choice: ClockChoice) -> ClockChoice {
    if let Some(picked) = &choice.picked {
        let by_code = Requirement {
            by_code: true,
            clocks: vec![picked.id.rsplit(':').next().unwrap_or_default().to_owned()],
            ..choice.requirement.clone()
        };
        let planned = choose(report, &by_code).ok();
        choice.picked = planned.and_then(|one| one.picked).or(choice.picked);
    }
    choice
}

impl<'a> Contestant<'a> {
    fn new(report: &Report, row: &'a TimerRow, requirement: &Requirement) -> Self {
        let eligible = requirement.may_use(&row.id);
        match ClockFigures::from_row(row, &report.platform) {
            Ok(clock) => Self {
                row,
                eligible,
                unmet: list_unmet(row, &clock.facts, requirement),
                plan: plan_fastest(&clock, requirement),
                clock: Some(clock),
            },
            Err(why) => Self {
                row,
                eligible,
                unmet: Vec::new(),
                plan: Err(Shortfall::because(why)),
                clock: None,
            },
        }
    }

    /// The plan and the figures of the clock, if the clock meets the requirement.
    fn sufficient(&self) -> Option<(&Plan, &ClockFigures)> {
        let plan = self.plan.as_ref().ok().filter(|_| self.unmet.is_empty())?;
        Some((plan, self.clock.as_ref()?))
    }

    /// The plan; for an insufficient clock the nearest possible one, if any.
    fn nearest_plan(&self) -> Option<Plan> {
        match &self.plan {
            Ok(plan) => Some(*plan),
            Err(shortfall) => shortfall.nearest,
        }
    }

    /// Orders clocks by preference: eligible clocks first, then those that meet the requirement, by
    /// the duration of their campaign, then the rest, by the expected error of the nearest plan.
    /// Among clocks that meet the requirement, those of known resolution come first.
    fn compared_to(&self, other: &Self, requirement: &Requirement) -> Ordering {
        let rank = |one: &Self| {
            let plan = one.nearest_plan();
            let (class, order_in_class) = match (one.sufficient(), plan) {
                (Some((plan, clock)), _) => (usize::from(!clock.resolved), plan.campaign_ns),
                (None, Some(plan)) => (2, plan.error.max(requirement.error)),
                (None, None) => (3, f64::INFINITY),
            };
            let read = one
                .clock
                .as_ref()
                .map_or(f64::INFINITY, ClockFigures::read_ns);
            (
                (!one.eligible, class, one.unmet.len()),
                [order_in_class, read],
            )
        };
        let ((a, [a_order, a_read]), (b, [b_order, b_read])) = (rank(self), rank(other));
        a.cmp(&b)
            .then(a_order.total_cmp(&b_order))
            .then(a_read.total_cmp(&b_read))
            .then_with(|| self.row.id.cmp(&other.row.id))
    }

    /// Whether both clocks meet the requirement, their resolutions are known, and their campaigns
    /// are about equally short or differ by no more than the uncertainty of the costs.
    fn is_tied_with(&self, other: &Self) -> bool {
        // The duration of the campaign and its uncertainty in nanoseconds.
        let campaign = |one: &Self| {
            let (plan, clock) = one.sufficient().filter(|(_, clock)| clock.resolved)?;
            let reading_ns = plan.campaign_ns * plan.overhead;
            let uncertainty = clock.cost_error_ns / clock.takes_ns().max(f64::MIN_POSITIVE);
            Some((plan.campaign_ns, reading_ns * uncertainty))
        };
        campaign(self).zip(campaign(other)).is_some_and(
            |((a, a_uncertainty), (b, b_uncertainty))| {
                a.max(b) <= MAX_CAMPAIGN_RATIO * a.min(b)
                    || (a - b).abs() <= a_uncertainty + b_uncertainty
            },
        )
    }

    /// Whether the clock has each of the properties that make a clock safer, the most important
    /// first, with the remark that is printed for a clock that lacks it.
    fn safety(&self) -> [(bool, &'static str); 4] {
        let has = |property: fn(&ClockFigures) -> bool| self.clock.as_ref().is_some_and(property);
        [
            (
                has(|clock| clock.facts.monotonic == Some(true)),
                "can be set",
            ),
            (has(|clock| clock.facts.ordered), "needs a fence"),
            (has(ClockFigures::is_portable), "not on every platform"),
            (has(|clock| clock.facts.no_slew == Some(true)), "is slewed"),
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

    fn candidate(&self, best: &Self) -> Candidate<ClockPlan> {
        Candidate {
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
            return match &self.plan {
                Err(shortfall) if self.unmet.is_empty() => shortfall.reason.clone(),
                _ => self.unmet.join("; "),
            };
        };
        let method = plan.in_words();
        if !clock.resolved {
            return format!(
                "suffices, but only an upper bound of its resolution is known: {method}"
            );
        }
        let why = match (best.safer_than(self), best.sufficient()) {
            (Some(why), _) if self.is_tied_with(best) => format!("; {why}"),
            (_, Some((shortest, _))) => {
                let ratio = plan.campaign_ns / shortest.campaign_ns;
                format!("; {} times as long", significant(ratio, 2))
            }
            (_, None) => String::new(),
        };
        format!("{} a read, {method}{why}", time(Some(clock.cost_ns)))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(why) = untested_between_cpus(self.row) {
            notes.push(format!(
                "whether it agrees between CPUs was not tested: {why}"
            ));
        }
        if self
            .clock
            .as_ref()
            .is_some_and(|clock| !clock.facts.ordered)
        {
            notes.push(
                "its reads do not wait for earlier work: put a fence before each (lfence on x86-64, isb on Arm)"
                    .into(),
            );
        }
        if let Some(Method::EdgeCrossing { .. }) = self.nearest_plan().map(|plan| plan.method) {
            notes.push(
                "let a random time pass between calls, so that they do not keep in step with the clock; only the mean is right"
                    .into(),
            );
        }
        notes
    }
}

/// Moves the safest of the clocks tied with the first one to the front; the rest keep their order.
fn move_safest_to_front(all: &mut [Contestant]) {
    let mut safest = 0;
    for (index, contestant) in all.iter().enumerate() {
        if contestant.eligible
            && contestant.is_tied_with(&all[0])
            && contestant.safer_than(&all[safest]).is_some()
        {
            safest = index;
        }
    }
    all[..=safest].rotate_right(1);
}

#[cfg(test)]
mod tests;
