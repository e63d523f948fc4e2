//! Judges the read path of a timer.
//!
//! The *read path* is where a read is answered: in user mode, by the kernel or by the hypervisor.
//! The cost of a read shows it, compared with that of a read through the system call.

use serde::{Deserialize, Serialize};
use timers::clock_sources::{self, TIME_STAMP_COUNTER};

use super::Case;
use estimators::model::{Counted, Outcome, Path, ReadPath, ReadsBy};
use estimators::numbers::time;

/// The cost of leaving user mode on this machine.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadPathBaselines {
    /// Cost of an empty system call, in nanoseconds.
    pub system_call_ns: Option<f64>,
    /// Cost of reading the system's clock by its system call, in nanoseconds.
    pub clock_call_ns: Option<f64>,
    /// Cost of an instruction that traps to the hypervisor, in nanoseconds; `None` without a
    /// hypervisor.
    pub trap_ns: Option<f64>,
    /// The clock source that the kernel uses.
    pub clock_source: Option<String>,
    /// Whether there is a vDSO.
    pub vdso: Option<bool>,
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
    let baselines = case.machine.baselines;
    let is_by_cpu = |_: &f64| case.device.is_none();
    let (outcome, path, evidence) = match case.device {
        Some(device) => {
            let evidence = format!("{} reads it, without a system call", device.name);
            (Outcome::NotApplicable, None, evidence)
        }
        None => classify(case).unwrap_or_else(|| {
            let evidence = "its cost, or that of a system call, is not known";
            (Outcome::NotTested, None, evidence.into())
        }),
    };
    ReadPath {
        outcome,
        evidence,
        path,
        system_call_ns: baselines.system_call_ns.filter(is_by_cpu),
        trap_ns: baselines.trap_ns.filter(is_by_cpu),
    }
}

/// Returns the path with the evidence; `None` if a cost that decides it is unknown.
fn classify(case: &Case) -> Option<(Outcome, Option<Path>, String)> {
    use Outcome::{Fail, NotTested, Pass};
    let baselines = case.machine.baselines;
    let (cost, call) = (case.figures.cost?.value, baselines.system_call_ns?);
    let costs = format!("a read takes {}", time(cost.max(0.0)));
    let by_vdso = case.properties.reads_by == Some(ReadsBy::Vdso);
    let has_no_vdso = baselines.vdso == Some(false);
    // Without a vDSO a clock of the kernel makes a system call, which may cost as much as a trap.
    if !(has_no_vdso && by_vdso) && traps(case, cost) == Some(true) {
        let trap = time(baselines.trap_ns);
        let evidence = format!(
            "its counter traps to the hypervisor: {costs}, an instruction that is known to trap {trap}"
        );
        return Some((Fail, Some(Path::Trapped), evidence));
    }
    // A clock that should be answered in user mode is compared with its system call, or with that of
    // the system's clock.
    let own = case.syscall_ns.map(|ns| ("its system call", ns));
    let other = baselines.clock_call_ns;
    let by_call = own.or(other.map(|ns| ("a system call that reads a clock", ns)));
    let by_call = by_call.filter(|_| by_vdso);
    let share = by_call.map(|(_, ns)| cost / ns);
    let is_below = share.is_some_and(|share| share < BELOW_SHARE);
    let (outcome, path, what) = if share >= Some(EQUAL_SHARE) {
        let what = "it costs as much as its system call";
        (Fail, Some(Path::SystemCall), what)
    } else if is_below || cost < USER_MODE_SHARE * call {
        (Pass, Some(Path::UserMode), "answered in user mode")
    } else if share.is_some() {
        (NotTested, None, "its cost does not decide it")
    } else {
        (Pass, Some(Path::SystemCall), "a system call")
    };
    let mut evidence = format!("{what}: {costs}, an empty system call {}", time(call));
    if let Some((call, ns)) = by_call {
        evidence += &format!(", {call} {}", time(ns));
    }
    if outcome == Fail && has_no_vdso {
        evidence += ", because the kernel maps no vDSO";
    } else if let (Fail, Some(source)) = (outcome, &baselines.clock_source)
        && source != TIME_STAMP_COUNTER
    {
        evidence += &format!(", because the clock source is {source}");
    }
    Some((outcome, path, evidence))
}

/// Returns whether the counter that the timer reads, or that the kernel reads for it, traps to the
/// hypervisor; `None` if it reads no counter, or a cost that decides it is unknown.
fn traps(case: &Case, cost: f64) -> Option<bool> {
    let baselines = case.machine.baselines;
    let source = baselines.clock_source.as_deref();
    let reads_counter = source.is_some_and(clock_sources::reads_counter);
    // What a read costs besides the trap, and the share of a trap from which the rest is one.
    let (besides, share) = match (case.trace.declared, case.claimed()?) {
        (false, Counted::ThreadCycles)
            if case.properties.reads_by == Some(ReadsBy::Instruction) =>
        {
            (0.0, EQUAL_SHARE)
        }
        (false, Counted::ThreadCycles) => (case.syscall_ns?, EQUAL_SHARE),
        (false, Counted::Wall) => (0.0, BELOW_SHARE),
        (true, Counted::Wall) if reads_counter && case.properties.reads_by.is_some() => {
            (baselines.system_call_ns?, BELOW_SHARE)
        }
        _ => return None,
    };
    Some(cost - besides >= share * baselines.trap_ns?)
}
