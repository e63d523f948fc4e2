//! What processor and kernel say of the counter, and what becomes of it when a virtual machine is
//! moved to another host.

use timers::clock_sources;

use super::Case;
use crate::model::{KernelLog, Platform};
use crate::suitability::Finding;
use crate::text::numbers::time;

pub(super) fn findings(case: &Case) -> Vec<Finding> {
    let mut all = vec![invariant(case.platform), kernel(case.platform), log(case)];
    all.extend(same_oscillator(case.platform));
    all.extend(emulated(case.platform));
    all.extend(crate::suitability::conflict(case.platform));
    all
}

/// Whether the kernel's own clock is that counter.
pub(super) fn is_built_on(platform: &Platform) -> bool {
    platform
        .clocksource
        .current
        .as_deref()
        .is_some_and(clock_sources::is_counter)
}

fn is_x86(platform: &Platform) -> bool {
    platform.cpu.architecture.starts_with("x86")
}

fn invariant(platform: &Platform) -> Finding {
    const CODE: &str = "invariant";
    if !is_x86(platform) {
        return Finding::ok(CODE, by_design(&platform.cpu.architecture));
    }
    let advice = "read the kernel's clock, which knows what to do about it";
    let tsc = &platform.tsc;
    let invariant = platform.invariant_counter();
    match (invariant.value, tsc.constant) {
        (Some(true), _) => Finding::ok(
            CODE,
            "it counts at one rate whatever the core does (constant), also in deep idle states (nonstop)",
        ),
        (Some(false), Some(true)) => Finding::problem(
            CODE,
            "it stops in deep idle states (no nonstop_tsc)",
            advice,
        ),
        (Some(false), _) => Finding::problem(
            CODE,
            "its rate follows the frequency of the core (no constant_tsc)",
            advice,
        ),
        (None, _) => Finding::unknown(
            CODE,
            "neither CPUID nor the kernel says whether its rate is constant",
        ),
    }
}

fn by_design(architecture: &str) -> &'static str {
    match architecture {
        "aarch64" | "arm" => {
            "all CPUs read one counter of one rate, by the architecture (Arm: the generic timer)"
        }
        "riscv64" | "riscv32" => {
            "all harts read one clock of one rate, by the architecture (RISC-V: time)"
        }
        _ => "it is one for all CPUs by the architecture",
    }
}

fn kernel(platform: &Platform) -> Finding {
    const CODE: &str = "kernel";
    let source = &platform.clocksource;
    let Some(current) = source.current.as_deref() else {
        return Finding::unknown(
            CODE,
            "which clock source the kernel trusts is not shown by this machine",
        );
    };
    let listed = source
        .available
        .iter()
        .any(|name| clock_sources::is_counter(name));
    if is_built_on(platform) {
        Finding::ok(
            CODE,
            format!("the kernel builds its own clocks on it ({current})"),
        )
    } else if listed {
        Finding::note(
            CODE,
            format!("the kernel uses {current}, and offers the counter as well"),
        )
    } else if is_x86(platform)
        && platform.tsc.constant == Some(true)
        && !source.available.is_empty()
    {
        Finding::problem(
            CODE,
            format!(
                "the kernel uses {current} and does not offer the counter: it found it wrong, or was told to leave it alone"
            ),
            "look for `tsc` in the kernel's log (dmesg) and on its command line",
        )
    } else {
        Finding::note(
            CODE,
            format!("the kernel uses {current}, and does not say what it thinks of the counter"),
        )
    }
}

fn log(case: &Case) -> Finding {
    const CODE: &str = "log";
    match &case.facts.log {
        KernelLog::Unreadable(why) => Finding::unknown(
            CODE,
            format!("what the kernel logged of it cannot be read: {why}"),
        )
        .advice("run as root, or look yourself: dmesg | grep -i -e tsc -e clocksource"),
        KernelLog::Read { distrust, .. } if !distrust.is_empty() => Finding::problem(
            CODE,
            format!("the kernel gave it up: {}", distrust[0]),
            "read the kernel's clock",
        ),
        KernelLog::Read {
            from_the_start: true,
            ..
        } => Finding::ok(
            CODE,
            "the kernel's log, from its start, holds nothing against it",
        ),
        KernelLog::Read { .. } => Finding::note(
            CODE,
            "what is left of the kernel's log holds nothing against it; its beginning is gone",
        ),
    }
}

/// What a clock that is made of the counter cannot tell of it.
fn same_oscillator(platform: &Platform) -> Option<Finding> {
    is_built_on(platform).then(|| {
        let source = platform.clocksource.current.as_deref().unwrap_or_default();
        Finding::note(
            "witness",
            format!(
                "the kernel's clock is made of this counter ({source}): a leap, a halt or a change of rate of both together does not \
                 show here, only to the kernel's watchdog, where it has one, and to other machines"
            ),
        )
    })
}

fn emulated(platform: &Platform) -> Option<Finding> {
    let emulator = platform.emulator()?;
    let message = format!(
        "{emulator} carries out the instruction: what was found is what it does, not the processor"
    );
    Some(Finding::note("emulated", message))
}

/// Whether the counter is that of x86, whose fence has that name.
pub(super) fn is_fenced_by_lfence(id: &str) -> bool {
    id == "rdtsc"
}

/// Whether it stays as it is, and why.
pub(super) struct Moved {
    pub stays: bool,
    pub finding: Finding,
}

/// A counter that is older than the system by less than this starts with the machine, in seconds:
/// firmware and loader take time. *Judgement*.
const BEFORE_THE_SYSTEM_S: f64 = 600.0;
/// Of Arm from version 8.6 on, as of all hosts: a counter of that rate has it everywhere.
/// *Definition*: Arm Architecture Reference Manual, D12.1.
const OF_ALL_HOSTS_HZ: f64 = 1e9;

pub(super) fn after_a_move(case: &Case) -> Moved {
    const CODE: &str = "moved";
    let stays = |message: String| Moved {
        stays: true,
        finding: Finding::ok(CODE, message),
    };
    let until = |message: String| Moved {
        stays: false,
        finding: Finding::note(CODE, message),
    };
    let Some(hypervisor) = case.platform.hypervisor.as_deref() else {
        return stays("this is not a virtual machine, so it is never migrated".into());
    };
    if let Some(promise) = &case.facts.promise {
        let said = promise.by.clone();
        return if promise.keeps_rate {
            stays(said)
        } else {
            until(format!("{said}: after a move it counts otherwise"))
        };
    }
    let how = offset(case);
    match how {
        Some((false, said)) => until(format!(
            "{hypervisor} does not offset the counter ({said}): on another host it shows another value"
        )),
        _ if is_arm_of_all_hosts(case) => stays(format!(
            "{hypervisor}: the counter has the rate that all hosts of this kind have (1 GHz), and an offset by the architecture"
        )),
        Some((true, said))
            if hypervisor.contains("KVM")
                && is_x86(case.platform)
                && case.platform.invariant_counter().value == Some(true) =>
        {
            stays(format!(
                "{hypervisor} offsets the counter ({said}) and calls it invariant, which it promises only where it scales it or does not move \
             the machine"
            ))
        }
        Some((true, said)) => until(format!(
            "{hypervisor} offsets the counter ({said}), but does not say that it keeps its rate on another host"
        )),
        None => until(format!(
            "{hypervisor} does not say what becomes of the counter on another host"
        )),
    }
}

/// Whether the counter began with this machine, and how we know; `None` where that is not known.
fn offset(case: &Case) -> Option<(bool, String)> {
    let (age, uptime) = (case.facts.age_s?, case.facts.uptime_s?);
    let said = |s: f64| time(Some(s * 1e9));
    let shown = format!(
        "it shows {}, the system has run for {}",
        said(age),
        said(uptime)
    );
    Some((age <= uptime + BEFORE_THE_SYSTEM_S, shown))
}

fn is_arm_of_all_hosts(case: &Case) -> bool {
    let hz = case.found.rate.map(|rate| 1e9 / rate.ns_per_tick);
    case.platform.cpu.architecture == "aarch64"
        && hz.is_some_and(|hz| (hz / OF_ALL_HOSTS_HZ - 1.0).abs() < 1e-3)
}
