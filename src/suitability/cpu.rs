//! The CPUs: what moves their frequency, who shares their cores, and how many of them there are.

use super::{Finding, is_linux};
use crate::model::{CoreKind, Cpu, Platform};
use crate::platform::count_of;

pub(super) fn findings(platform: &Platform) -> Vec<Finding> {
    let (cpu, virtual_machine) = (&platform.cpu, platform.hypervisor.is_some());
    let linux = is_linux(platform);
    let mut findings = vec![
        governor(cpu, virtual_machine),
        turbo(cpu, virtual_machine),
        smt(cpu, virtual_machine, linux),
        isolated(cpu),
        allowed(cpu),
        core_kinds(cpu),
    ];
    findings.extend(cpu.power_plan.as_deref().map(power_plan));
    findings
}

/// Who decides where this machine does not show it.
fn decider(virtual_machine: bool) -> &'static str {
    if virtual_machine {
        "the host decides"
    } else {
        "the firmware may decide"
    }
}

fn governor(cpu: &Cpu, virtual_machine: bool) -> Finding {
    const CODE: &str = "governor";
    const FIX: &str = "as root, `cpupower frequency-set -g performance`, or write `performance` to \
                       /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    let driver = cpu
        .frequency_driver
        .as_deref()
        .map(|name| format!(" ({name})"))
        .unwrap_or_default();
    match cpu.governor.as_deref() {
        Some("performance") => Finding::ok(CODE, format!("the governor is performance{driver}")),
        Some("userspace") => Finding::note(
            CODE,
            format!(
                "the governor is userspace{driver}: the frequency stays where some program has set it"
            ),
        ),
        Some(governor) => Finding::problem(
            CODE,
            format!(
                "the governor is {governor}{driver}: the frequency follows the load, and with it every cost, in \
                 nanoseconds as well"
            ),
            FIX,
        ),
        None => Finding::unknown(
            CODE,
            format!(
                "the frequency governor is not shown by this machine; {}",
                decider(virtual_machine)
            ),
        )
        .advice("compare the effective frequency before and after in the report"),
    }
}

/// Windows alone has plans; others have nothing to say.
fn power_plan(plan: &str) -> Finding {
    const CODE: &str = "power-plan";
    if ["High performance", "Ultimate Performance"].contains(&plan) {
        return Finding::ok(CODE, format!("the power plan is {plan}"));
    }
    Finding::problem(
        CODE,
        format!(
            "the power plan is {plan}: the frequency may follow the load, and with it every cost, in nanoseconds as well"
        ),
        "`powercfg /setactive SCHEME_MIN` sets High performance, SCHEME_BALANCED what Windows begins with",
    )
}

fn turbo(cpu: &Cpu, virtual_machine: bool) -> Finding {
    const CODE: &str = "turbo";
    match cpu.turbo {
        Some(false) => Finding::ok(CODE, "turbo is off"),
        Some(true) => Finding::problem(
            CODE,
            "turbo is on: above the nominal frequency a core runs as fast as its temperature and its neighbours let it, \
             so costs change between runs",
            "as root, `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`, or `echo 0 > \
             /sys/devices/system/cpu/cpufreq/boost`",
        ),
        None => Finding::unknown(
            CODE,
            format!(
                "whether turbo is on is not shown by this machine; {}",
                decider(virtual_machine)
            ),
        ),
    }
}

fn smt(cpu: &Cpu, virtual_machine: bool, linux: bool) -> Finding {
    const CODE: &str = "smt";
    let off = if linux {
        "as root, `echo off > /sys/devices/system/cpu/smt/control`"
    } else {
        "switch it off in the firmware's settings"
    };
    let virtually = if virtual_machine {
        ", as far as the hypervisor reports it to this virtual machine"
    } else {
        ""
    };
    match (cpu.threads_per_core, cpu.smt) {
        (Some(1), _) | (None, Some(false)) => Finding::ok(
            CODE,
            format!("no other CPU shares the core that is measured on{virtually}"),
        ),
        (Some(threads), _) => {
            let which = cpu
                .core_list
                .as_deref()
                .map(|list| format!(" ({list})"))
                .unwrap_or_default();
            Finding::note(
                CODE,
                format!(
                    "{threads} CPUs share a core{which}{virtually}: whatever runs on the others takes from its units \
                     and caches"
                ),
            )
            .advice(format!("keep the others idle, or {off}"))
        }
        (None, Some(true)) => Finding::note(
            CODE,
            "cores run several threads; which CPUs share one is not shown",
        )
        .advice(off),
        (None, None) => Finding::unknown(
            CODE,
            "whether CPUs share a core is not shown by this machine",
        ),
    }
}

fn isolated(cpu: &Cpu) -> Finding {
    const CODE: &str = "isolated";
    match cpu.isolated.as_deref().map(|list| (list, count_of(list))) {
        Some((_, Some(0))) => Finding::note(
            CODE,
            "no CPU is isolated: the scheduler may run anything beside the measurement, on the same CPU",
        )
        .advice("where figures have to be steady, start the kernel with isolcpus=N and measure with --cpu N"),
        Some((list, Some(_))) => {
            Finding::ok(CODE, format!("CPUs {list} are isolated; measure on one of them with --cpu"))
        }
        _ => Finding::unknown(CODE, "whether CPUs are isolated is not shown by this machine"),
    }
}

fn allowed(cpu: &Cpu) -> Finding {
    const CODE: &str = "cpus-allowed";
    const WIDEN: &str = "start it with a wider CPU set (taskset, --cpuset-cpus of the container)";
    let list = cpu
        .allowed_list
        .as_deref()
        .map(|list| format!(" ({list})"))
        .unwrap_or_default();
    match (cpu.allowed, cpu.online) {
        (None | Some(0), _) => {
            Finding::unknown(CODE, "which CPUs may be used is not shown by this machine")
        }
        (Some(1), online) => Finding::problem(
            CODE,
            format!(
                "only one CPU may be used{list}: everything else that runs there interrupts the measurement, and \
                 clocks cannot be compared between CPUs"
            ),
            if online == Some(1) {
                "use a machine of two CPUs or more"
            } else {
                WIDEN
            },
        ),
        (Some(allowed), Some(online)) if allowed < online => Finding::note(
            CODE,
            format!("{allowed} of {online} online CPUs may be used{list}"),
        )
        .advice(WIDEN),
        (Some(allowed), _) => Finding::ok(CODE, format!("{allowed} CPUs may be used{list}")),
    }
}

fn core_kinds(cpu: &Cpu) -> Finding {
    const CODE: &str = "core-kinds";
    let Some(kinds) = cpu.core_kinds.as_deref() else {
        return Finding::unknown(
            CODE,
            "whether cores are of several kinds is not shown by this machine",
        );
    };
    if kinds.len() < 2 {
        return Finding::ok(CODE, "all cores are of one kind");
    }
    let kind = |kind: &CoreKind| {
        let list = kind
            .list
            .as_deref()
            .map(|list| format!(": {list}"))
            .unwrap_or_default();
        format!("{}{list}", kind.name)
    };
    let all = kinds.iter().map(kind).collect::<Vec<_>>().join("; ");
    let measured = cpu
        .core_kind
        .as_deref()
        .map(|kind| format!(", here {kind}"))
        .unwrap_or_default();
    Finding::note(
        CODE,
        format!(
            "cores are of {} kinds ({all}): costs hold for the kind they were measured on{measured}",
            kinds.len()
        ),
    )
    .advice("measure on one CPU of each kind, with --cpu N, and compare the reports")
}
