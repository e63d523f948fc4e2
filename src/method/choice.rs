//! The clocks of a report compared: the one to measure with, and why not the others.

use std::cmp::Ordering;

use serde::Serialize;

use super::clock_facts::{thread_fault, unmet};
use super::clock_figures::ClockFigures;
use super::plan::{Method, Plan, Shortfall, fastest};
use super::requirement::Requirement;
use super::runtime::{missing, timers_of};
use crate::model::{Report, TimerRow};
use crate::text::numbers::{significant, time};

/// What was chosen among the timers of a report, and by which requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice<R, F> {
    /// The schema of this document.
    pub schema: &'static str,
    /// What was asked for.
    pub requirement: R,
    /// The best of those that suffice; null where none does.
    pub picked: Option<Candidate<F>>,
    /// The nearest, where none suffices.
    pub nearest: Option<Candidate<F>>,
    /// The others, the best first.
    pub others: Vec<Candidate<F>>,
}

/// A timer that was compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Candidate<F> {
    /// Its id.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// Whether it suffices.
    pub suffices: bool,
    /// Why it was not picked; empty of the one that was.
    pub reason: String,
    /// What a user of it should know.
    pub notes: Vec<String>,
    /// Figures of it.
    #[serde(flatten)]
    pub figures: F,
}

impl<R, F> Choice<R, F> {
    /// The choice from candidates that are ordered, the best first.
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

/// Which clock to use for a requirement, and how.
pub type ClockChoice = Choice<Requirement, ClockPlan>;

/// How to measure with a clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockPlan {
    /// The plan; of a clock that does not suffice, the nearest that is possible.
    pub plan: Option<Plan>,
}

/// A clock, and how it meets the requirement.
struct Contestant<'a> {
    row: &'a TimerRow,
    clock: Option<ClockFigures>,
    /// Whether it may be picked.
    eligible: bool,
    unmet: Vec<String>,
    plan: Result<Plan, Shortfall>,
}

/// A campaign that takes at most this many times as long as the shortest is as good: the difference
/// is not worth another clock. *Judgement*: 33 and 34 calls of 250 ns differ less than two runs do.
const AS_SHORT: f64 = 1.5;

/// Compares all clocks of a report by a requirement.
///
/// # Errors
/// When the report has no timer of the runtime.
pub fn choose(report: &Report, requirement: &Requirement) -> Result<ClockChoice, String> {
    let runtime = requirement.runtime.as_deref();
    let mut all: Vec<Contestant> = timers_of(report, runtime)
        .map(|row| Contestant::new(report, row, requirement))
        .collect();
    if !all.iter().any(|contestant| contestant.eligible) {
        return Err(missing(report, runtime));
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

impl<'a> Contestant<'a> {
    fn new(report: &Report, row: &'a TimerRow, requirement: &Requirement) -> Self {
        let eligible = requirement.may_use(&row.id);
        match ClockFigures::from_row(row, &report.platform) {
            Ok(clock) => Self {
                row,
                eligible,
                unmet: unmet(row, &clock.facts, requirement),
                plan: fastest(&clock, requirement),
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

    /// The plan that keeps the requirement, and the clock, if it suffices.
    fn sufficient(&self) -> Option<(&Plan, &ClockFigures)> {
        let plan = self.plan.as_ref().ok().filter(|_| self.unmet.is_empty())?;
        Some((plan, self.clock.as_ref()?))
    }

    fn nearest_plan(&self) -> Option<Plan> {
        match &self.plan {
            Ok(plan) => Some(*plan),
            Err(shortfall) => shortfall.nearest,
        }
    }

    /// Those that suffice come first, by how long they take; then those that lack least.
    fn compared_to(&self, other: &Self, requirement: &Requirement) -> Ordering {
        let rank = |one: &Self| {
            let plan = one.nearest_plan();
            let (class, effort) = match (one.sufficient(), plan) {
                (Some((plan, clock)), _) => (usize::from(!clock.resolved), plan.campaign_ns),
                (None, Some(plan)) => (2, plan.error.max(requirement.error)),
                (None, None) => (3, f64::INFINITY),
            };
            let read = one
                .clock
                .as_ref()
                .map_or(f64::INFINITY, ClockFigures::read_ns);
            ((!one.eligible, class, one.unmet.len()), [effort, read])
        };
        let ((a, [a_effort, a_read]), (b, [b_effort, b_read])) = (rank(self), rank(other));
        a.cmp(&b)
            .then(a_effort.total_cmp(&b_effort))
            .then(a_read.total_cmp(&b_read))
            .then_with(|| self.row.id.cmp(&other.row.id))
    }

    /// Whether the campaigns of both are about as short, or may be as far as their costs are known.
    fn is_tied_with(&self, other: &Self) -> bool {
        let known = |one: &Self| {
            let (plan, clock) = one.sufficient().filter(|(_, clock)| clock.resolved)?;
            let reading = plan.campaign_ns * plan.overhead;
            let uncertainty = clock.cost_error_ns / clock.takes_ns().max(f64::MIN_POSITIVE);
            Some((plan.campaign_ns, reading * uncertainty))
        };
        known(self)
            .zip(known(other))
            .is_some_and(|((a, a_uncertainty), (b, b_uncertainty))| {
                a.max(b) <= AS_SHORT * a.min(b) || (a - b).abs() <= a_uncertainty + b_uncertainty
            })
    }

    /// What makes a clock safer than another, the most important first, with what is said of one that
    /// lacks it.
    fn safety(&self) -> [(bool, &'static str); 4] {
        let known = |holds: fn(&ClockFigures) -> bool| self.clock.as_ref().is_some_and(holds);
        [
            (
                known(|clock| clock.facts.monotonic == Some(true)),
                "can be set",
            ),
            (known(|clock| clock.facts.ordered), "needs a fence"),
            (known(ClockFigures::is_portable), "not on every platform"),
            (
                known(|clock| clock.facts.no_slew == Some(true)),
                "is slewed",
            ),
        ]
    }

    /// What another one lacks, if that is less safe.
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

    /// Why it is not the best.
    fn reason(&self, best: &Self) -> String {
        let Some((plan, clock)) = self.sufficient() else {
            return match &self.plan {
                Err(shortfall) if self.unmet.is_empty() => shortfall.reason.clone(),
                _ => self.unmet.join("; "),
            };
        };
        let how = plan.in_words();
        if !clock.resolved {
            return format!("suffices only if its step is what it is bounded by: {how}");
        }
        let why = match (best.safer_than(self), best.sufficient()) {
            (Some(why), _) if self.is_tied_with(best) => format!("; {why}"),
            (_, Some((shortest, _))) => {
                let ratio = plan.campaign_ns / shortest.campaign_ns;
                format!("; {} times as long", significant(ratio, 2))
            }
            (_, None) => String::new(),
        };
        format!("{} a read, {how}{why}", time(Some(clock.cost_ns)))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(fault) = thread_fault(self.row).filter(|_| self.unmet.is_empty()) {
            notes.push(format!("take both readings in one thread: {fault}"));
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

/// Moves the safest of those that are about as short as the first to the front; the others stay in
/// their order.
fn move_safest_to_front(all: &mut [Contestant]) {
    let mut winner = 0;
    for (place, contestant) in all.iter().enumerate() {
        if contestant.eligible
            && contestant.is_tied_with(&all[0])
            && contestant.safer_than(&all[winner]).is_some()
        {
            winner = place;
        }
    }
    all[..=winner].rotate_right(1);
}

#[cfg(test)]
mod tests;
