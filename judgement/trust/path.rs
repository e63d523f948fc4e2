//! Judges the read path of a timer.
//!
//! The *read path* is where a read is answered: in user mode, by the kernel or by the hypervisor.
//! The cost of a read shows it, compared with that of the variant through the system call.

use serde::{Deserialize, Serialize};
use timers::clock_sources::{self, TIME_STAMP_COUNTER};

use super::Case;
use crate::model::{Counted, Outcome, Path, ReadPath, ReadsBy};
use crate::numbers::time;

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
    /// The id of the variant; `None` if it reads another clock.
    pub id: Option<&'a str>,
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
        .map(|variant| {
            let name = variant.id.unwrap_or("a system call that reads a clock");
            format!("{name} takes {}", time(variant.cost_ns))
        })
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
/// own variant if it was measured, otherwise that of the system's clock, which is named only if it
/// reads the same clock.
fn syscall_variant<'a>(case: &Case<'a>) -> Option<SyscallVariant<'a>> {
    let baselines = case.machine.baselines;
    let called = baselines.clock_call.as_deref();
    let called = called.unwrap_or("monotonic-syscall");
    let own = case.properties.syscall_variant.as_deref();
    let usual = baselines.clock_call_ns.map(|cost_ns| SyscallVariant {
        id: own.filter(|id| *id == called),
        cost_ns,
    });
    let by_vdso = case.properties.reads_by == Some(ReadsBy::Vdso);
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
