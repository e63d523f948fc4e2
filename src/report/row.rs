//! From a profile to a row of the report: units, Quality, and what the reader should know.

use std::cmp::Ordering;

use crate::analysis::Estimate;
use crate::analysis::figures::figures;
use crate::analysis::profile::Profile;
use crate::analysis::resolution::Resolution;
use crate::analysis::statistics::over_processes;
use crate::quality::quality;
use crate::report::{
    Accuracy, AccuracyKind, Cost, Observations, Outcome, Status, TimerRow, Verdicts, Warning,
};
use crate::trace::{Reference, Trace};
use crate::units::{Cycles, Hertz, Nanos};

impl TimerRow {
    /// A row that holds nothing yet but the name of its timer.
    #[must_use]
    pub fn unmeasured(id: &str, label: &str, runtime: &str, status: Status) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            legend: None,
            runtime: runtime.into(),
            status,
            reason: None,
            remedy: None,
            ns_per_tick: None,
            accuracy: None,
            cost: None,
            spread: None,
            quality: None,
            quality_low: None,
            quality_high: None,
            verdicts: None,
            printed_quality: None,
            observations: None,
            figures: None,
            warnings: Vec::new(),
        }
    }

    /// Fills the row from what was observed and what follows from it. `frequency` turns time into cycles; without it there
    /// are no cycles and no Quality.
    pub fn fill(&mut self, trace: &Trace, profile: &Profile, frequency: Option<Hertz>) {
        self.ns_per_tick = profile.ns_per_tick;
        self.accuracy = accuracy(profile, frequency);
        self.cost = cost(trace, profile, frequency);
        self.spread = profile.spread.map(|spread| spread.value);
        self.observations = Some(observations(trace, profile));
        self.figures = Some(figures(trace, profile.step()));
        self.judge(profile);
        if let (Status::Ok, Some(frequency)) = (self.status, frequency) {
            self.score(profile, frequency);
        }
        self.warnings = warnings(trace, profile, frequency);
    }

    /// Adds the verdicts. A timer that is not monotonic, not thread-safe or not stable has Quality 0, whatever its figures
    /// are: that value is kept for those (ICPE 2011, section 3).
    pub fn condemn(&mut self, verdicts: Verdicts) {
        let condemned: Vec<Warning> = verdicts
            .condemning()
            .filter_map(|(name, finding)| {
                let message = format!("{finding}, so its Quality is 0");
                warning(&format!("not-{name}"), message, "take no durations with it")
            })
            .collect();
        if !condemned.is_empty() {
            (self.quality, self.quality_low, self.quality_high) = (Some(0.0), Some(0.0), Some(0.0));
        }
        self.warnings.splice(0..0, condemned);
        let failed = |outcome: Outcome| outcome == Outcome::Fail;
        if failed(verdicts.counts.outcome) {
            let advice = "choose a clock that counts what you want to know";
            self.warnings.extend(warning("counts-something-else", verdicts.counts.finding.clone(), advice));
        }
        if failed(verdicts.read_path.outcome) {
            let advice = "see which clock source is in use, and why: `timermeter check`";
            self.warnings.extend(warning("read-path", verdicts.read_path.finding.clone(), advice));
        }
        self.verdicts = Some(verdicts);
    }

    /// The order of a report: those with a Quality by Quality, then those without a step, the failed, and the unavailable.
    #[must_use]
    pub fn best_first(&self, other: &Self) -> Ordering {
        let class = |row: &Self| match row.status {
            Status::Ok => 0,
            Status::Unresolved => 1,
            Status::Failed => 2,
            Status::Unavailable => 3,
        };
        let quality = |row: &Self| row.quality.unwrap_or(-1.0);
        class(self).cmp(&class(other)).then(quality(other).total_cmp(&quality(self)))
    }

    fn judge(&mut self, profile: &Profile) {
        let (status, reason, remedy) = match &profile.resolution {
            Resolution::Resolved { .. } if profile.ns_per_tick.is_none() => {
                (Status::Unresolved, Some("the length of its tick could not be found".into()), None)
            }
            Resolution::Resolved { .. } if profile.cost.is_none() || profile.spread.is_none() => {
                (Status::Unresolved, Some("its invocation cost could not be determined".into()), None)
            }
            Resolution::Resolved { .. } => (Status::Ok, None, None),
            Resolution::AtMost { reason, .. } => (
                Status::Unresolved,
                Some(format!("no step could be determined: {reason}")),
                Some("try --thorough; a clock that moves irregularly has no step to be found"),
            ),
            Resolution::Unmoved => (
                Status::Unresolved,
                Some("it did not move while it was watched".into()),
                Some("try --thorough, which watches longer"),
            ),
        };
        self.status = status;
        self.reason = reason;
        self.remedy = remedy.map(Into::into);
    }

    /// Quality and its interval: that of the figures, and those of each process around it.
    fn score(&mut self, profile: &Profile, frequency: Hertz) {
        let cycles = |ns: f64| Nanos(ns).cycles(frequency);
        let Some(accuracy) = profile.accuracy_ns() else { return };
        let of = |cost: f64, spread: f64| quality(cycles(accuracy.value), cycles(cost), spread);
        self.quality =
            profile.cost.zip(profile.spread).and_then(|(cost, spread)| of(cost.value, spread.value));
        let each: Vec<f64> =
            profile.processes.iter().filter_map(|&(cost, spread)| of(cost, spread)).collect();
        if let (Some(value), Some(interval)) = (self.quality, over_processes(&each)) {
            self.quality_low = Some(interval.low.min(value).max(0.0));
            self.quality_high = Some(interval.high.max(value).min(1.0));
        }
    }
}

fn accuracy(profile: &Profile, frequency: Option<Hertz>) -> Option<Accuracy> {
    let (step, kind) = match &profile.resolution {
        Resolution::Resolved { step, .. } => (*step, AccuracyKind::Resolved),
        Resolution::AtMost { bound, .. } if bound.is_finite() => {
            (Estimate { value: *bound, low: 0.0, high: *bound, samples: 0 }, AccuracyKind::AtMost)
        }
        _ => return None,
    };
    let time = profile.ns_per_tick.map(|ns| step.scaled(ns));
    Some(Accuracy {
        ns: time.map(|time| time.value),
        low_ns: time.map(|time| time.low).filter(|_| kind == AccuracyKind::Resolved),
        high_ns: time.map(|time| time.high),
        ticks: step.value,
        cycles: time.zip(frequency).map(|(time, frequency)| Nanos(time.value).cycles(frequency).0),
        kind,
    })
}

fn cost(trace: &Trace, profile: &Profile, frequency: Option<Hertz>) -> Option<Cost> {
    // A call that costs nothing may come out a hair below nothing.
    let median = profile.cost?;
    let floored = |ns: f64| ns.max(0.0);
    Some(Cost {
        median_ns: Some(floored(median.value)),
        low_ns: Some(floored(median.low)),
        high_ns: Some(floored(median.high)),
        median_cycles: frequency.map(|frequency| Nanos(floored(median.value)).cycles(frequency).0),
        single_median_ns: profile.single_median.map(floored),
        p99_ns: profile.p99.map(floored),
        reference: trace.reference.id.clone(),
    })
}

fn observations(trace: &Trace, profile: &Profile) -> Observations {
    let runs = &trace.runs;
    let intervals = runs.iter().flat_map(|run| &run.intervals).chain(&trace.slow);
    Observations {
        processes: runs.len() as u32,
        disturbed_processes: profile.disturbed,
        spoilt_processes: trace.spoilt,
        dropped_windows: trace.dropped.clone(),
        intervals: intervals.map(|group| group.deltas.len() as u64).sum(),
        batched_calls: runs.iter().map(|run| run.batches.calls * run.batches.deltas.len() as u64).sum(),
        single_calls: runs.iter().map(|run| run.singles.deltas.len() as u64).sum(),
        backward_steps: profile.backward.steps,
        reference_accuracy_ns: Some(trace.reference.doubt_ns()),
        resolution_rule: match &profile.resolution {
            Resolution::Resolved { rule, .. } => Some(rule.name().into()),
            _ => None,
        },
    }
}

fn warnings(trace: &Trace, profile: &Profile, frequency: Option<Hertz>) -> Vec<Warning> {
    [
        finer_unit(trace, profile),
        dearer_than_step(profile),
        unsteady_cost(profile),
        vague_reference(trace),
        disturbed(profile, trace.runs.len()),
        below_one_cycle(profile, frequency),
        runtime_at_work(trace),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn warning(code: &str, message: String, advice: &str) -> Option<Warning> {
    Some(Warning { code: code.into(), message, advice: advice.into() })
}

fn finer_unit(trace: &Trace, profile: &Profile) -> Option<Warning> {
    let (unit, step) = (profile.ns_per_tick?, profile.accuracy_ns()?.value);
    (trace.declared && step > 1.5 * unit).then(|| {
        warning(
            "unit-finer-than-step",
            format!("it counts in units of {} but moves in steps of {}", time(unit), time(step)),
            "take the step, not the unit, for its accuracy: a single duration is uncertain by one step",
        )
    })?
}

fn dearer_than_step(profile: &Profile) -> Option<Warning> {
    let (cost, step) = (profile.cost?.value, profile.accuracy_ns()?.value);
    (cost > 2.0 * step).then(|| {
        warning(
            "read-dearer-than-step",
            format!("a read takes {}, longer than the step of {}", time(cost), time(step)),
            "take the cost of a read off short durations, or time many operations between two reads",
        )
    })?
}

fn unsteady_cost(profile: &Profile) -> Option<Warning> {
    let cost = profile.cost?;
    let half = (cost.high - cost.low) / 2.0;
    (cost.samples > 1 && half > (0.05 * cost.value).max(0.5)).then(|| {
        warning(
            "unsteady-cost",
            format!(
                "its median cost differs between processes: {} to {} at 95 % confidence",
                time(cost.low.max(0.0)),
                time(cost.high)
            ),
            "keep the machine idle and repeat with --thorough; compare it with others only beyond this interval",
        )
    })?
}

fn vague_reference(trace: &Trace) -> Option<Warning> {
    let Reference { id, step_at_most, ns_per_tick, .. } = &trace.reference;
    let at_most = step_at_most.as_ref()? * ns_per_tick;
    warning(
        "vague-reference",
        format!(
            "the step of `{id}`, which timed it, could not be determined; it is at most {}",
            time(at_most)
        ),
        "its cost holds, but do not rely on its spread nor its Quality: repeat when the machine is quiet",
    )
}

fn disturbed(profile: &Profile, processes: usize) -> Option<Warning> {
    (2 * profile.disturbed as usize > processes).then(|| {
        warning(
            "disturbed",
            format!(
                "{} of {processes} processes cost clearly more than the others and were left out",
                profile.disturbed
            ),
            "something else uses the core or its sibling (another program, another guest of the host): repeat when \
             it is quiet",
        )
    })?
}

fn below_one_cycle(profile: &Profile, frequency: Option<Hertz>) -> Option<Warning> {
    let one = Cycles(1.0).nanos(frequency?).0;
    let (cost, step) = (profile.cost?.value, profile.accuracy_ns()?.value);
    (cost < one || step < one).then(|| {
        warning(
            "below-one-cycle",
            format!("its cost ({}) or step ({}) is below one CPU cycle", time(cost.max(0.0)), time(step)),
            "none needed: for Quality it counts as one cycle",
        )
    })?
}

fn runtime_at_work(trace: &Trace) -> Option<Warning> {
    let disturbed: u32 = trace.runs.iter().map(|run| run.disturbed).sum();
    (disturbed > 0).then(|| {
        warning(
            "runtime-at-work",
            format!("its runtime collected or compiled in {disturbed} windows and did so again when they were repeated"),
            "its calls make the garbage themselves: take the median cost, not the tail",
        )
    })?
}

fn time(ns: f64) -> String {
    super::figures::time(Some(ns))
}
