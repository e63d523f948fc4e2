//! Which clock of a report to measure with, and why not the others.

use std::cmp::Ordering;

use serde::Serialize;

use super::clock_facts::{unmet, unsafe_between_threads};
use super::clock_figures::ClockFigures;
use super::harness::{Advice, advise};
use super::plan::{Plan, Shortfall, fastest, percent};
use super::requirement::Requirement;
use super::runtime::{ChoiceError, missing, timers_of};
use crate::model::{Report, TimerRow};
use crate::text::clipped;
use crate::text::numbers::{significant, time};

/// The schema of the document that [`ClockChoice`] is written as.
pub const SCHEMA: &str = "timermeter.pick.v1";

/// The answer to a requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockChoice {
    /// The schema of this document.
    pub schema: &'static str,
    /// What was asked.
    #[serde(rename = "wish")]
    pub requirement: Requirement,
    /// A clock that suffices and costs about as little as any, the safest and most portable of
    /// several; null when none does.
    pub picked: Option<Candidate>,
    /// What comes nearest when none suffices.
    pub nearest: Option<Candidate>,
    /// The clock of the highest Quality among those that are what is needed; it need not be the
    /// cheapest.
    pub highest_quality: Option<String>,
    /// All other clocks, each with the reason why it was not picked.
    pub others: Vec<Loser>,
    /// What it means for common harnesses.
    pub harnesses: Vec<Advice>,
}

/// A clock with the way to use it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// How to measure with it.
    pub plan: Plan,
    /// What to mind.
    pub notes: Vec<String>,
}

/// A clock that was not picked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loser {
    /// Its id.
    pub id: String,
    /// Whether it would do as well.
    pub suffices: bool,
    /// Why it was not picked, in one line.
    pub reason: String,
    /// How one would measure with it, if it suffices.
    pub plan: Option<Plan>,
    /// The same as the reason in fewer words, for a line beside others of the kind.
    #[serde(skip)]
    pub in_short: String,
}

/// A clock that was looked at.
struct ClockVerdict<'a> {
    row: &'a TimerRow,
    clock: Result<ClockFigures, String>,
    /// Which requirements it does not meet, apart from the error.
    unmet: Vec<String>,
    plan: Result<Plan, Shortfall>,
}

const LONGEST_ID: usize = 40;

/// A campaign that takes at most this many times as long as the shortest is as good: the difference
/// is not worth another clock. *Judgement*: 33 and 34 calls of 250 ns differ less than two runs do.
const AS_SHORT: f64 = 1.5;

/// Picks a clock that suffices: of those whose campaigns are [about as short](AS_SHORT) as the
/// shortest one, the safest, of these the one that every platform of its standard has, and of these
/// the cheapest.
///
/// # Errors
/// When the report has no timers of the runtime.
pub fn choose(report: &Report, requirement: &Requirement) -> Result<ClockChoice, ChoiceError> {
    let runtime = requirement.runtime.as_deref();
    let may = |row: &&TimerRow| requirement.may_use(&row.id);
    let rows = timers_of(report, runtime).into_iter().filter(may);
    let mut verdicts: Vec<ClockVerdict> = rows
        .map(|row| ClockVerdict::from_row(report, row, requirement))
        .collect();
    if verdicts.is_empty() {
        return Err(missing(report, runtime));
    }
    verdicts.sort_by(cheapest_first);
    safest_of_the_cheapest_first(&mut verdicts);
    let highest_quality = verdicts
        .iter()
        .filter(|verdict| verdict.unmet.is_empty())
        .filter_map(|verdict| Some((verdict.row.quality?.value, &verdict.row.id)))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, id)| id.clone());
    let picked = verdicts
        .first()
        .filter(|verdict| verdict.suffices())
        .and_then(|verdict| verdict.candidate());
    let nearest = if picked.is_some() {
        None
    } else {
        nearest(&verdicts, requirement)
    };
    let best = verdicts.first().filter(|_| picked.is_some());
    let others = verdicts
        .iter()
        .skip(usize::from(picked.is_some()))
        .map(|verdict| verdict.loser(best))
        .collect();
    let harnesses = advise(report, requirement);
    Ok(ClockChoice {
        schema: SCHEMA,
        requirement: requirement.clone(),
        picked,
        nearest,
        highest_quality,
        others,
        harnesses,
    })
}

impl<'a> ClockVerdict<'a> {
    fn from_row(report: &Report, row: &'a TimerRow, requirement: &Requirement) -> Self {
        let clock = ClockFigures::from_row(row, &report.platform);
        let plan = match &clock {
            Ok(clock) => fastest(clock, requirement),
            Err(why) => Err(Shortfall {
                reason: why.clone(),
                nearest: None,
            }),
        };
        let unmet = clock
            .as_ref()
            .map(|clock| unmet(row, &clock.facts, requirement))
            .unwrap_or_default();
        Self {
            row,
            clock,
            unmet,
            plan,
        }
    }

    fn suffices(&self) -> bool {
        self.plan.is_ok() && self.unmet.is_empty()
    }

    /// The clock with its plan, or the plan that comes nearest.
    fn candidate(&self) -> Option<Candidate> {
        let (plan, clock) = (self.nearest_plan()?, self.clock.as_ref().ok()?);
        Some(Candidate {
            id: self.row.id.clone(),
            label: self.row.label.clone(),
            plan,
            notes: self.notes(clock, &plan),
        })
    }

    fn notes(&self, clock: &ClockFigures, plan: &Plan) -> Vec<String> {
        let alone =
            unsafe_between_threads(self.row).filter(|finding| !self.unmet.contains(finding));
        let alone = alone.map(|finding| format!("take both readings in one thread: {finding}"));
        let mut notes: Vec<String> = alone.into_iter().collect();
        if !clock.facts.ordered {
            notes.push(
            "its reads wait for nothing: put a fence before each (lfence on x86-64, isb on Arm), as timermeter::measure does"
                .to_owned(),
        );
        }
        if plan.method.name() == "edge-crossing" {
            notes.push(
            "let a random time pass between calls, so that they are not synchronous with the clock; only the mean is right, \
             no other statistic"
                .to_owned(),
        );
        }
        notes
    }

    /// Whether one campaign is about as short as the other, or differs by no more than what is not
    /// known of the costs of their reads.
    fn is_tied_with(&self, other: &Self) -> bool {
        let known = |verdict: &Self| match (&verdict.plan, &verdict.clock) {
            (Ok(plan), Ok(clock)) if clock.resolved && verdict.unmet.is_empty() => {
                let reading = plan.campaign_ns * plan.overhead;
                Some((
                    plan.campaign_ns,
                    reading * clock.cost_error_ns / clock.takes_ns().max(f64::MIN_POSITIVE),
                ))
            }
            _ => None,
        };
        known(self)
            .zip(known(other))
            .is_some_and(|((a, a_uncertainty), (b, b_uncertainty))| {
                a.max(b) <= AS_SHORT * a.min(b) || (a - b).abs() <= a_uncertainty + b_uncertainty
            })
    }

    /// What speaks for a clock where campaigns do not: that it cannot be set, that it needs no
    /// fence, that programs find it everywhere, and that its rate is not slewed, which budgets
    /// allow for.
    fn safety(&self) -> [bool; 4] {
        self.clock.as_ref().map_or([false; 4], |clock| {
            let facts = clock.facts;
            [
                facts.monotonic == Some(true),
                facts.ordered,
                clock.is_portable(),
                facts.no_slew == Some(true),
            ]
        })
    }

    fn safer_than(&self, other: &Self) -> Option<&'static str> {
        let reasons = [
            "cannot be set",
            "needs no fence",
            "is on every platform",
            "is not slewed",
        ];
        let ahead = self
            .safety()
            .into_iter()
            .zip(other.safety())
            .position(|(own, others)| own != others)?;
        self.safety()[ahead].then(|| reasons[ahead])
    }

    fn nearest_plan(&self) -> Option<Plan> {
        match &self.plan {
            Ok(plan) => Some(*plan),
            Err(shortfall) => shortfall.nearest,
        }
    }

    fn loser(&self, best: Option<&Self>) -> Loser {
        let of_best = best.map_or("the other", |best| &best.row.id);
        let reason = match (&self.plan, self.unmet.first()) {
            (_, Some(unmet_need)) => unmet_need.clone(),
            (Err(shortfall), None) => shortfall.reason.clone(),
            (Ok(plan), None) if best.is_some_and(|best| self.is_tied_with(best)) => {
                let why = best
                    .and_then(|best| best.safer_than(self))
                    .unwrap_or("is read sooner");
                format!(
                    "suffices as well: {}; {} {why}",
                    plan_in_words(plan),
                    clipped(of_best, LONGEST_ID)
                )
            }
            (Ok(plan), None) => {
                let best_ns = best.and_then(|best| Some(best.plan.as_ref().ok()?.campaign_ns));
                longer(
                    plan,
                    best_ns,
                    self.clock.as_ref().is_ok_and(|clock| clock.resolved),
                )
            }
        };
        let plan = self
            .plan
            .as_ref()
            .ok()
            .copied()
            .filter(|_| self.unmet.is_empty());
        let in_short = self.in_short(best).unwrap_or_else(|| reason.clone());
        Loser {
            id: self.row.id.clone(),
            suffices: self.suffices(),
            reason,
            plan,
            in_short,
        }
    }

    /// What a read costs, how one would measure, and what speaks for the best; `None` where it does
    /// not suffice.
    fn in_short(&self, best: Option<&Self>) -> Option<String> {
        let clock = self
            .clock
            .as_ref()
            .ok()
            .filter(|clock| clock.resolved && self.unmet.is_empty())?;
        let plan = self.plan.as_ref().ok()?;
        let best = best?;
        let how = plan_in_words(plan);
        let how = how.strip_suffix(" calls").unwrap_or(&how);
        let why = if self.is_tied_with(best) {
            format!(
                "{} {}",
                clipped(&best.row.id, LONGEST_ID),
                best.safer_than(self).unwrap_or("is read sooner")
            )
        } else {
            let shortest = best.plan.as_ref().ok()?.campaign_ns;
            format!(
                "{} times as long",
                significant(plan.campaign_ns / shortest, 2)
            )
        };
        Some(format!(
            "{} a read, {how}; {why}",
            time(Some(clock.cost_ns))
        ))
    }
}

/// Why a clock that suffices is not the cheapest.
fn longer(plan: &Plan, best_ns: Option<f64>, resolved: bool) -> String {
    if !resolved {
        return format!(
            "suffices only if its step is what it is bounded by: {}",
            plan_in_words(plan)
        );
    }
    let taken = time(Some(plan.campaign_ns));
    match best_ns {
        Some(best) if plan.campaign_ns >= 2.0 * best => {
            format!(
                "suffices, but takes {} times as long: {}, {taken}",
                significant(plan.campaign_ns / best, 2),
                plan_in_words(plan)
            )
        }
        Some(best) => {
            let more = time(Some((plan.campaign_ns - best).max(0.0)));
            format!(
                "suffices, but takes {more} longer: {}, {taken}",
                plan_in_words(plan)
            )
        }
        None => format!("suffices: {}, {taken}", plan_in_words(plan)),
    }
}

/// The method with its number.
#[must_use]
pub fn plan_in_words(plan: &Plan) -> String {
    use super::plan::Method;
    match plan.method {
        Method::Single => "single calls".into(),
        Method::Batch { calls } => format!("batches of {calls} calls"),
        Method::EdgeCrossing {
            samples, every: 1, ..
        } => format!("edge-crossing over {samples} calls"),
        Method::EdgeCrossing { samples, every, .. } => {
            format!("edge-crossing over {samples} calls, one of {every}")
        }
    }
}

/// Those that suffice by the length of their campaign, those whose step is known first, and the
/// cheaper read first where that is the same; then the others by what they could do.
fn cheapest_first(a: &ClockVerdict, b: &ClockVerdict) -> Ordering {
    let class =
        |verdict: &ClockVerdict| match (&verdict.plan, verdict.unmet.is_empty(), &verdict.clock) {
            (Ok(_), true, Ok(clock)) if clock.resolved => 0,
            (Ok(_), true, _) => 1,
            (Err(_), true, Ok(_)) => 2,
            (_, _, Ok(_)) => 3,
            (_, _, Err(_)) => 4,
        };
    let effort = |verdict: &ClockVerdict| match (&verdict.plan, &verdict.clock) {
        (Ok(plan), Ok(clock)) => [plan.campaign_ns, clock.read_ns()],
        _ => [f64::INFINITY; 2],
    };
    let error = |verdict: &ClockVerdict| {
        verdict
            .nearest_plan()
            .map_or(f64::INFINITY, |plan| plan.error)
    };
    let ([a_ns, a_read], [b_ns, b_read]) = (effort(a), effort(b));
    class(a)
        .cmp(&class(b))
        .then(a_ns.total_cmp(&b_ns))
        .then(a_read.total_cmp(&b_read))
        .then(error(a).total_cmp(&error(b)))
        .then_with(|| a.row.id.cmp(&b.row.id))
}

/// Among those whose costs are not known to differ from those of the cheapest, the safest comes
/// first; of these the cheapest.
fn safest_of_the_cheapest_first(verdicts: &mut [ClockVerdict]) {
    let Some(cheapest) = verdicts.first().filter(|verdict| verdict.suffices()) else {
        return;
    };
    let mut winner = 0;
    for (place, verdict) in verdicts.iter().enumerate() {
        if verdict.is_tied_with(cheapest) && verdict.safety() > verdicts[winner].safety() {
            winner = place;
        }
    }
    // The others stay in their order.
    verdicts[..=winner].rotate_right(1);
}

/// What comes nearest when nothing suffices: the clock with all that is needed and the smallest
/// error, else the cheapest of those with the fewest unmet requirements.
fn nearest(verdicts: &[ClockVerdict], requirement: &Requirement) -> Option<Candidate> {
    let able = |verdict: &&ClockVerdict| verdict.nearest_plan().is_some();
    let by_error = |a: &&ClockVerdict, b: &&ClockVerdict| {
        let error = |verdict: &ClockVerdict| {
            verdict
                .nearest_plan()
                .map_or(f64::INFINITY, |plan| plan.error)
        };
        a.unmet.len().cmp(&b.unmet.len()).then(
            error(a)
                .max(requirement.error)
                .total_cmp(&error(b).max(requirement.error)),
        )
    };
    let best = verdicts.iter().filter(able).min_by(by_error)?;
    let mut candidate = best.candidate()?;
    candidate.notes.splice(0..0, best.unmet.iter().cloned());
    if candidate.plan.error > requirement.error {
        candidate.notes.insert(
            0,
            format!(
                "its error is {}, not {}",
                percent(candidate.plan.error),
                percent(requirement.error)
            ),
        );
    }
    Some(candidate)
}

#[cfg(test)]
mod tests;
