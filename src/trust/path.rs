//! Read path: who answers, judged by the cost against that of its variants through the system call.
//!
//! Paths: does a clock that is to be had in several ways say the same in each?
//!
//! A reading between two of the same clock in the usual way is neither below the first nor above
//! the last, but for what its unit cuts off and for the lag of a clock that only the timer
//! interrupt moves.

use serde::{Deserialize, Serialize};
use timers::clock_sources::{self, TIME_STAMP_COUNTER};

use super::Case;
use crate::model::{ComparedPath, Counted, Outcome, Path, Paths, ReadPath, ReadsBy};
use crate::text::numbers::time;
use crate::trace::OtherPath;

/// What leaving user mode costs here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Yardsticks {
    /// An empty system call, in nanoseconds.
    pub system_call_ns: Option<f64>,
    /// A read of the system's clock by its system call, in nanoseconds.
    pub clock_call_ns: Option<f64>,
    /// The id of the timer that makes that call; `monotonic-syscall` where an older trace does not
    /// say.
    pub clock_call: Option<String>,
    /// An instruction that traps to the hypervisor, in nanoseconds; `None` without one.
    pub trap_ns: Option<f64>,
    /// The clock source that the kernel uses.
    pub clock_source: Option<String>,
    /// Whether there is a vDSO.
    pub vdso: Option<bool>,
}

/// The same clock through the system call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyscallVariant<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it costs, in nanoseconds.
    pub cost_ns: f64,
}

/// A read that costs less than this share of an empty system call never left user mode.
/// *Judgement*.
const LESS: f64 = 0.7;
/// A read that costs at least this share of its system call is one.
/// *Judgement*.
const AS_MUCH: f64 = 0.8;
/// A read that costs less than this share of its system call is none.
/// *Judgement*: the two are not timed at one moment, and the core may be slower at one of them.
const CLEARLY_LESS: f64 = 0.5;
/// An instruction that costs at least this share of one that is known to trap does so too: leaving
/// the guest and coming back is most of it. *Judgement*.
const TRAPS: f64 = 0.5;

/// The same for counters of cycles, of which nothing else is known.
/// *Judgement*.
const TRAPS_SURELY: f64 = 0.8;

pub(super) fn judge(case: &Case) -> ReadPath {
    let yard = case.yardsticks;
    let answer = |outcome, path, finding: String| ReadPath {
        outcome,
        finding,
        path,
        system_call_ns: yard.system_call_ns,
        trap_ns: yard.trap_ns,
    };
    let (Some(cost), Some(call)) = (
        case.profile.cost.map(|cost| cost.value),
        yard.system_call_ns,
    ) else {
        return answer(
            Outcome::NotTested,
            None,
            "its cost, or that of a system call, is not known".into(),
        );
    };
    let costs = time(Some(cost.max(0.0)));
    // Without a vDSO only the kernel reads the counter, whatever that costs it.
    let by_kernel = yard.vdso == Some(false) && case.properties.reads_by == Some(ReadsBy::Vdso);
    if let Some(finding) = trapped(case, cost, &costs).filter(|_| !by_kernel) {
        return answer(Outcome::Fail, Some(Path::Trapped), finding);
    }
    let syscall_variant = syscall_variant(case);
    if let Some(syscall_variant) =
        syscall_variant.filter(|variant| cost >= AS_MUCH * variant.cost_ns)
    {
        let finding = costs_like_syscall(case.id, &costs, &syscall_variant, yard);
        return answer(Outcome::Fail, Some(Path::SystemCall), finding);
    }
    let empty = time(Some(call));
    if cost < LESS * call {
        let finding =
            format!("answered in user mode: {costs}, where an empty system call takes {empty}");
        return answer(Outcome::Pass, Some(Path::UserMode), finding);
    }
    if let Some(SyscallVariant { id, cost_ns }) = syscall_variant {
        let takes = time(Some(cost_ns));
        if cost < CLEARLY_LESS * cost_ns {
            let finding = format!("answered in user mode: {costs}, where {id} takes {takes}");
            return answer(Outcome::Pass, Some(Path::UserMode), finding);
        }
        let finding = format!(
            "its cost does not decide it: {costs}, where {id} takes {takes} and an empty system call {empty}"
        );
        return answer(Outcome::NotTested, None, finding);
    }
    answer(
        Outcome::Pass,
        Some(Path::SystemCall),
        format!("a system call: {costs}, an empty one takes {empty}"),
    )
}

/// What a clock that should be answered in user mode would cost through the system call: its own,
/// where that was measured, else that of the system's clock.
fn syscall_variant<'a>(case: &Case<'a>) -> Option<SyscallVariant<'a>> {
    let by_vdso = case.properties.reads_by == Some(ReadsBy::Vdso);
    let id = case
        .yardsticks
        .clock_call
        .as_deref()
        .unwrap_or("monotonic-syscall");
    let usual = case
        .yardsticks
        .clock_call_ns
        .map(|cost_ns| SyscallVariant { id, cost_ns });
    case.syscall_variant.or(usual).filter(|_| by_vdso)
}

/// Whether the counter cannot be read without the hypervisor: as it shows where it is read bare,
/// and where the kernel reads it for its own clocks.
fn trapped(case: &Case, cost: f64, costs: &str) -> Option<String> {
    let trap = case
        .yardsticks
        .trap_ns
        .filter(|trap| cost >= TRAPS * trap)?;
    let takes = time(Some(trap));
    // Read by a system call it takes what another event takes that way, and the trap; how, and what
    // a runtime adds, may be unknown.
    let beneath_ns = match case.properties.reads_by {
        Some(ReadsBy::Instruction) => Some(0.0),
        _ => case
            .syscall_variant
            .map(|syscall_variant| syscall_variant.cost_ns),
    };
    let source = case.yardsticks.clock_source.as_deref();
    let reads_counter = source.is_some_and(clock_sources::reads_counter);
    match (case.trace.declared, case.claimed()) {
        (false, Some(Counted::ThreadCycles)) => (cost - beneath_ns? >= TRAPS_SURELY * trap).then(|| {
            format!(
                "its counter cannot be read without the hypervisor: a read takes {costs}, an instruction that is known to trap \
                 takes {takes}"
            )
        }),
        (false, Some(Counted::Wall)) => Some(format!(
            "an instruction that traps to the hypervisor: a read takes {costs}, an instruction that is known to trap takes {takes}"
        )),
        // What entering the kernel takes is no trap.
        (true, Some(Counted::Wall))
            if reads_counter
                && case.properties.reads_by.is_some()
                && cost - case.yardsticks.system_call_ns.unwrap_or(0.0) >= TRAPS * trap =>
        {
            Some(format!(
                "the counter beneath it traps to the hypervisor: a read takes {costs}, an instruction that is known to trap takes {takes}"
            ))
        }
        _ => None,
    }
}

fn costs_like_syscall(
    id: &str,
    costs: &str,
    syscall_variant: &SyscallVariant,
    yard: &Yardsticks,
) -> String {
    let call = time(Some(syscall_variant.cost_ns));
    let because = match yard.clock_source.as_deref() {
        _ if yard.vdso == Some(false) => ", because the kernel maps none".to_owned(),
        Some(TIME_STAMP_COUNTER) | None => String::new(),
        Some(source) => format!(", because the clock source is {source}"),
    };
    format!(
        "{id} costs as much as its system call ({costs}, {} {call}): it is not answered in user mode, as by a vDSO{because}",
        syscall_variant.id
    )
}

/// A clock that the timer interrupt updates may lag by this many of its declared steps: the
/// interrupt may come late. *Judgement*: as many as of clocks that are updated late.
const LATE: i64 = 10;

pub(super) fn beside_others(case: &Case) -> Option<Paths> {
    let others = &case.evidence().other_paths;
    let rows: Vec<ComparedPath> = others.iter().map(row).collect();
    let worst = rows
        .iter()
        .zip(others)
        .filter(|(row, _)| row.ahead_ns > 0.0 || row.behind_ns > 0.0);
    let worst = worst.max_by(|a, b| {
        a.0.ahead_ns
            .max(a.0.behind_ns)
            .total_cmp(&b.0.ahead_ns.max(b.0.behind_ns))
    });
    let all: u64 = others.iter().map(|one| u64::from(one.readings)).sum();
    let first = others.first()?;
    let (outcome, finding) = match worst {
        Some((row, seen)) => {
            let (by, side) = if row.ahead_ns >= row.behind_ns {
                (row.ahead_ns, "after the next one")
            } else {
                (row.behind_ns, "before the last one")
            };
            let busy = if row.busy {
                " while another CPU was busy"
            } else {
                ""
            };
            let by = time(Some(by));
            (
                Outcome::Fail,
                format!(
                    "a reading of it lay {side} of {}, by up to {by}{busy}",
                    seen.within
                ),
            )
        }
        None => {
            let sees = rows.iter().map(|row| row.sees_ns).fold(0.0, f64::max);
            let busy = if rows.iter().any(|row| row.busy) {
                ", idle and while another CPU was busy"
            } else {
                ""
            };
            let finding = format!(
                "{all} readings lay between those of {} around them{busy}; a difference of {} would have shown",
                first.within,
                time(Some(sees))
            );
            (Outcome::Pass, finding)
        }
    };
    Some(Paths {
        outcome,
        finding,
        compared: rows,
    })
}

fn row(seen: &OtherPath) -> ComparedPath {
    // What may be cut off, or come late.
    let allowed = seen.unit_ns + LATE * seen.lag_ns;
    let behind = seen.behind_ns - allowed + 1;
    ComparedPath {
        within: seen.within.clone(),
        busy: seen.busy,
        readings: seen.readings,
        ahead_ns: seen.ahead_ns.max(0) as f64,
        behind_ns: behind.max(0) as f64,
        sees_ns: (seen.narrowest_ns + allowed) as f64,
    }
}
