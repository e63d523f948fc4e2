//! Judges the read path of a timer, and compares the paths to one clock.
//!
//! The *read path* is where a read is answered: in user mode, by the kernel or by the hypervisor.
//! The cost of a read shows it, compared with that of the variant through the system call.
//!
//! Several timers may read one clock on different paths. A reading on one path that is taken
//! between two readings on another must lie between them, except for the truncation to its unit and
//! for the lag of a clock that only the timer interrupt updates.

use serde::{Deserialize, Serialize};
use timers::clock_sources::{self, TIME_STAMP_COUNTER};

use super::Case;
use super::stability::MAX_LATE_STEPS;
use crate::model::{ComparedPath, Counted, Outcome, Path, Paths, ReadPath, ReadsBy};
use crate::numbers::time;
use crate::trace::OtherPath;

/// The cost of leaving user mode on this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadPathBaselines {
    /// Cost of an empty system call, in nanoseconds.
    pub system_call_ns: Option<f64>,
    /// Cost of reading the system's clock by its system call, in nanoseconds.
    pub clock_call_ns: Option<f64>,
    /// The id of the timer that makes that call; `None` in older traces, which means
    /// `monotonic-syscall`.
    pub clock_call: Option<String>,
    /// Cost of an instruction that traps to the hypervisor, in nanoseconds; `None` without a
    /// hypervisor.
    pub trap_ns: Option<f64>,
    /// The clock source that the kernel uses.
    pub clock_source: Option<String>,
    /// Whether there is a vDSO.
    pub vdso: Option<bool>,
}

/// The variant of a clock that is read through the system call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyscallVariant<'a> {
    /// The id of the variant.
    pub id: &'a str,
    /// The cost of the variant, in nanoseconds.
    pub cost_ns: f64,
}

/// A read that costs less than this share of an empty system call never left user mode.
/// *Judgement*: a system call costs at least as much as an empty one; the two costs are not
/// measured at one moment.
const USER_MODE_SHARE: f64 = 0.7;
/// A read that costs at least this share of its system call is a system call, and one of a cycle
/// counter that costs at least this share of an instruction known to trap also traps.
/// *Judgement*: as for `BELOW_SHARE`, the two are not timed at one moment.
const EQUAL_SHARE: f64 = 0.8;
/// A read that costs less than this share of its system call is not a system call, and one that
/// costs less than this share of an instruction known to trap does not trap.
/// *Judgement*: the two are not timed at one moment, and the core may be slower at one of them.
const BELOW_SHARE: f64 = 0.5;

pub(super) fn judge(case: &Case) -> ReadPath {
    if let Some(device) = case.device {
        return ReadPath {
            outcome: Outcome::NotApplicable,
            evidence: format!("{} reads it, without a system call", device.name),
            path: None,
            system_call_ns: None,
            trap_ns: None,
        };
    }
    let (outcome, path, evidence) = classify(case);
    ReadPath {
        outcome,
        evidence,
        path,
        system_call_ns: case.machine.baselines.system_call_ns,
        trap_ns: case.machine.baselines.trap_ns,
    }
}

fn classify(case: &Case) -> (Outcome, Option<Path>, String) {
    use Outcome::{Fail, NotTested, Pass};
    let baselines = case.machine.baselines;
    let (Some(cost), Some(call)) = (case.profile.cost, baselines.system_call_ns) else {
        let evidence = "its cost, or that of a system call, is not known";
        return (NotTested, None, evidence.into());
    };
    let cost = cost.value;
    let costs = time(cost.max(0.0));
    // Without a vDSO every read of such a clock enters the kernel, whatever it costs.
    let must_enter_kernel =
        baselines.vdso == Some(false) && case.properties.reads_by == Some(ReadsBy::Vdso);
    if let Some(what) = find_trap(case, cost).filter(|_| !must_enter_kernel) {
        let evidence = format!(
            "{what} traps to the hypervisor: a read takes {costs}, an instruction that is known to trap {}",
            time(baselines.trap_ns)
        );
        return (Fail, Some(Path::Trapped), evidence);
    }
    let empty_call = time(call);
    let variant = syscall_variant(case);
    let variant_takes = variant
        .map(|variant| format!("{} takes {}", variant.id, time(variant.cost_ns)))
        .unwrap_or_default();
    match variant.map(|variant| cost / variant.cost_ns) {
        Some(share) if share >= EQUAL_SHARE => {
            let because = match baselines.clock_source.as_deref() {
                _ if baselines.vdso == Some(false) => {
                    ", because the kernel maps no vDSO".to_owned()
                }
                Some(TIME_STAMP_COUNTER) | None => String::new(),
                Some(source) => format!(", because the clock source is {source}"),
            };
            let evidence =
                format!("it costs as much as its system call: {costs}, {variant_takes}{because}");
            (Fail, Some(Path::SystemCall), evidence)
        }
        _ if cost < USER_MODE_SHARE * call => {
            let evidence =
                format!("answered in user mode: {costs}, an empty system call takes {empty_call}");
            (Pass, Some(Path::UserMode), evidence)
        }
        Some(share) if share < BELOW_SHARE => {
            let evidence = format!("answered in user mode: {costs}, {variant_takes}");
            (Pass, Some(Path::UserMode), evidence)
        }
        Some(_) => {
            let evidence = format!(
                "its cost does not decide it: {costs}, {variant_takes}, an empty system call {empty_call}"
            );
            (NotTested, None, evidence)
        }
        None => {
            let evidence = format!("a system call: {costs}, an empty one takes {empty_call}");
            (Pass, Some(Path::SystemCall), evidence)
        }
    }
}

/// Returns the variant through the system call of a clock that should be answered in user mode: its
/// own variant if it was measured, otherwise that of the system's clock.
fn syscall_variant<'a>(case: &Case<'a>) -> Option<SyscallVariant<'a>> {
    let by_vdso = case.properties.reads_by == Some(ReadsBy::Vdso);
    let id = case
        .machine
        .baselines
        .clock_call
        .as_deref()
        .unwrap_or("monotonic-syscall");
    let usual = case
        .machine
        .baselines
        .clock_call_ns
        .map(|cost_ns| SyscallVariant { id, cost_ns });
    case.syscall_variant.or(usual).filter(|_| by_vdso)
}

/// Returns what traps to the hypervisor, if anything: the instruction or counter that the timer
/// reads directly, or the counter that the kernel reads for its clocks.
fn find_trap(case: &Case, cost: f64) -> Option<&'static str> {
    let baselines = case.machine.baselines;
    let trap = baselines
        .trap_ns
        .filter(|trap| cost >= BELOW_SHARE * trap)?;
    // A read through the kernel costs as much as its system call, plus the trap. The cost of that
    // call may be unknown, and so may the overhead of a runtime.
    let call_ns = match case.properties.reads_by {
        Some(ReadsBy::Instruction) => Some(0.0),
        _ => case.syscall_variant.map(|variant| variant.cost_ns),
    };
    let reads_counter = baselines
        .clock_source
        .as_deref()
        .is_some_and(clock_sources::reads_counter);
    match (case.trace.declared, case.claimed()) {
        (false, Some(Counted::ThreadCycles)) => {
            (cost - call_ns? >= EQUAL_SHARE * trap).then_some("its counter")
        }
        (false, Some(Counted::Wall)) => Some("its instruction"),
        // The cost of entering the kernel is not part of a trap.
        (true, Some(Counted::Wall))
            if reads_counter
                && case.properties.reads_by.is_some()
                && cost - baselines.system_call_ns.unwrap_or(0.0) >= BELOW_SHARE * trap =>
        {
            Some("the counter that it is made of")
        }
        _ => None,
    }
}

/// A comparison of two paths to one clock.
#[derive(Clone, Copy, Debug)]
pub struct PathComparison<'a> {
    /// The id of the timer whose readings were enclosed.
    pub inner_id: &'a str,
    /// The step of this timer, or its upper bound, in nanoseconds: it lags by no more steps than a
    /// clock of the timer interrupt does, whatever it declares.
    pub step_ns: Option<f64>,
    /// Whether successive readings of this timer and of the enclosing one went back.
    pub went_back: [bool; 2],
    /// The result.
    pub found: &'a OtherPath,
}

/// One of the two paths of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathRole {
    Inner,
    Outer,
}

impl PathComparison<'_> {
    /// Returns the largest differences that truncation and late updates do not explain.
    fn result(&self) -> ComparedPath {
        let found = self.found;
        let step_ns = self.step_ns.map_or(i64::MAX, |step| step.ceil() as i64);
        let allowed_ns = found.unit_ns + MAX_LATE_STEPS as i64 * found.lag_ns.min(step_ns);
        let behind_ns = found.behind_ns - allowed_ns + 1;
        ComparedPath {
            within: found.outer_id.clone(),
            busy: found.busy,
            readings: found.readings,
            ahead_ns: found.ahead_ns.max(0) as f64,
            behind_ns: behind_ns.max(0) as f64,
            min_detected_ns: (found.min_width_ns + allowed_ns) as f64,
        }
    }

    fn differs(&self) -> bool {
        self.result().difference() > 0.0
    }

    /// Returns the path that is wrong if the two differ, and the reason: a path that goes back by
    /// itself, or the one that a third path contradicts, which reaches the clock by another route
    /// than the enclosing one and is precise enough. `None` if nothing tells.
    fn wrong_side(&self, all: &[Self]) -> Option<(PathRole, String)> {
        let back = |id: &str| format!("readings of {id} alone went back");
        let [inner_back, outer_back] = self.went_back;
        if self.found.min_width_ns < 0 || (outer_back && !inner_back) {
            return Some((PathRole::Outer, back(&self.found.outer_id)));
        }
        if inner_back && !outer_back {
            return Some((PathRole::Inner, back(self.inner_id)));
        }
        let route = |id: &str| timers::find(id).and_then(|entry| entry.info.properties.reads_by);
        let size = self.result().difference();
        let third_paths = all.iter().filter(|third| {
            third.found.outer_id == self.found.outer_id
                && third.inner_id != self.inner_id
                && route(third.inner_id) != route(&self.found.outer_id)
                && (third.differs() || third.result().min_detected_ns < size)
        });
        let (differing, agreeing): (Vec<&Self>, Vec<&Self>) =
            third_paths.partition(|third| third.differs());
        match (differing.first(), agreeing.first()) {
            (Some(third), None) => Some((
                PathRole::Outer,
                format!("{} contradicts {} too", third.inner_id, self.found.outer_id),
            )),
            (None, Some(third)) => Some((
                PathRole::Inner,
                format!("{} agrees with {}", third.inner_id, self.found.outer_id),
            )),
            _ => None,
        }
    }
}

/// Judges whether readings on the other paths to the same clock lie between the readings around
/// them, and if not, which of the two paths is wrong. `None` if the timer was not compared with
/// another path, or only enclosed readings that agree with it.
pub(super) fn compare_paths(case: &Case) -> Option<Paths> {
    let side = |comparison: &PathComparison| {
        let is_inner = comparison.inner_id == case.id;
        let is_outer = comparison.found.outer_id == case.id && comparison.differs();
        (is_inner || is_outer).then_some(if is_inner {
            PathRole::Inner
        } else {
            PathRole::Outer
        })
    };
    let own: Vec<(PathRole, &PathComparison)> = (case.machine.paths.iter())
        .filter_map(|comparison| Some((side(comparison)?, comparison)))
        .collect();
    let row = |(side, comparison): &(PathRole, &PathComparison)| ComparedPath {
        within: match side {
            PathRole::Inner => comparison.found.outer_id.clone(),
            PathRole::Outer => comparison.inner_id.to_owned(),
        },
        ..comparison.result()
    };
    let rows: Vec<ComparedPath> = own.iter().map(row).collect();
    // The worst difference that is this path's fault decides, then one that nothing decides.
    let judged = own
        .iter()
        .filter(|(_, comparison)| comparison.differs())
        .map(|(side, comparison)| {
            let wrong = comparison.wrong_side(case.machine.paths);
            let is_own = wrong.as_ref().map(|(wrong, _)| wrong == side);
            (is_own, comparison.result(), *comparison, wrong)
        });
    let place = |is_own: Option<bool>| match is_own {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    };
    let worst = judged.max_by(|a, b| {
        (place(a.0).cmp(&place(b.0))).then(a.1.difference().total_cmp(&b.1.difference()))
    });
    let (outcome, evidence) = match worst {
        Some((is_own, result, comparison, wrong)) => {
            let (by, place) = match result.ahead_ns >= result.behind_ns {
                true => (time(result.ahead_ns), "after the next one"),
                false => (time(result.behind_ns), "before the last one"),
            };
            let (inner, outer) = (comparison.inner_id, &result.within);
            let why = wrong.map_or_else(
                || "nothing here tells which of the two is wrong".to_owned(),
                |(_, why)| why,
            );
            let evidence =
                format!("a reading of {inner} lay {place} of {outer}, by up to {by}; {why}");
            let outcome = match is_own {
                Some(true) => Outcome::Fail,
                _ => Outcome::NotTested,
            };
            (outcome, evidence)
        }
        None => {
            let all: u64 = rows.iter().map(|row| u64::from(row.readings)).sum();
            let detectable = rows.iter().map(|row| row.min_detected_ns);
            let detectable = time(detectable.fold(0.0, f64::max));
            let within = &rows.first()?.within;
            let evidence = format!(
                "{all} readings lay between those of {within} around them; a difference of {detectable} would have been detected"
            );
            (Outcome::Pass, evidence)
        }
    };
    Some(Paths {
        outcome,
        evidence,
        compared: rows,
    })
}
