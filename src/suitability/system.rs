//! The system: who else runs, who interrupts, and what a container or a hypervisor takes.

use super::Finding;
use crate::model::{Platform, Tickless};
use crate::platform::count_of;

/// Stolen time above this share of what CPUs wanted is a problem: the 99th percentile then lies
/// within it.
const MOST_STOLEN: f64 = 0.01;
/// On a machine of one CPU, or where the number is not known, this many threads beside the
/// measurement.
const LOAD_OF_ONE: f64 = 0.5;
/// At this level and below, programs may count their own cycles
/// (Documentation/admin-guide/sysctl/kernel.rst); Debian and Android have levels above.
const OPEN_TO_ALL: i32 = 2;

pub(super) fn findings(platform: &Platform) -> Vec<Finding> {
    vec![
        load(platform),
        quota(platform),
        steal(platform),
        hypervisor(platform),
        tick(platform),
        performance_counters(platform),
    ]
}

fn load(platform: &Platform) -> Finding {
    const CODE: &str = "load";
    let Some(load) = platform.load else {
        return Finding::unknown(CODE, "how busy the machine is is not shown");
    };
    let busy = load.one_minute;
    let Some(cpus) = platform
        .cpu
        .online
        .or(platform.cpu.allowed)
        .filter(|cpus| *cpus > 0)
    else {
        return Finding::unknown(
            CODE,
            format!("{busy:.2} threads ran in the last minute, on how many CPUs is not shown"),
        );
    };
    // One CPU has to be left for the measurement.
    let most = f64::from(cpus - 1).max(LOAD_OF_ONE);
    let cpus = if cpus == 1 {
        "one CPU".to_owned()
    } else {
        format!("{cpus} CPUs")
    };
    if busy > most {
        let message = format!(
            "{busy:.2} threads wanted to run, as the mean of the last minute, on {cpus}: none is left for the \
             measurement"
        );
        return Finding::problem(
            CODE,
            message,
            "end what runs (`top` shows it), and wait a minute",
        );
    }
    Finding::ok(
        CODE,
        format!("{busy:.2} threads wanted to run, as the mean of the last minute, on {cpus}"),
    )
}

fn quota(platform: &Platform) -> Finding {
    const CODE: &str = "cpu-quota";
    let Some(quota) = platform.limits.cpu else {
        return Finding::unknown(CODE, "whether a container limits CPU time is not shown");
    };
    let Some(cpus) = quota.cpus else {
        return Finding::ok(CODE, "no control group limits CPU time");
    };
    let stopped = match quota.throttled_periods {
        Some(periods @ 1..) => format!("; it has been stopped in {periods} periods so far"),
        _ => String::new(),
    };
    // As many threads as there are CPUs cannot use up more than that.
    if platform
        .cpu
        .allowed
        .is_some_and(|allowed| cpus >= f64::from(allowed))
    {
        return Finding::ok(
            CODE,
            format!(
                "CPU time is limited to {cpus:.2} CPUs, which is not below the CPUs that may be used"
            ),
        );
    }
    Finding::problem(
        CODE,
        format!(
            "a control group limits CPU time to {cpus:.2} CPUs: when that is used up, every thread is stopped for tens \
             of milliseconds, whatever it measures{stopped}"
        ),
        "start the container without a CPU limit (no --cpus, no --cpu-quota, no resources.limits.cpu); give it CPUs of \
         its own instead (--cpuset-cpus)",
    )
}

fn steal(platform: &Platform) -> Finding {
    const CODE: &str = "steal";
    let Some(share) = platform.steal_share else {
        return Finding::unknown(
            CODE,
            "whether a hypervisor gives the CPUs to others is not shown",
        );
    };
    let percent = share * 100.0;
    if share > MOST_STOLEN {
        let message = format!(
            "{percent:.1} % of the time in which CPUs had something to run, the hypervisor ran others: clocks went on \
             meanwhile"
        );
        return Finding::problem(
            CODE,
            message,
            "use a machine with CPUs of its own, or another hour",
        );
    }
    Finding::ok(
        CODE,
        format!("{percent:.2} % of the time in which CPUs had something to run was stolen"),
    )
}

fn hypervisor(platform: &Platform) -> Finding {
    const CODE: &str = "hypervisor";
    match &platform.hypervisor {
        Some(name) if platform.emulator().is_some() => Finding::problem(
            CODE,
            format!(
                "{name} carries out this program: what a read costs is the emulator's doing, and clocks are those of the machine \
                 beneath it as far as it passes them on"
            ),
            "run a build for this machine, or measure on a machine of that kind",
        ),
        Some(name) => {
            let clocks = platform.hypervisor_clocks.as_deref().unwrap_or_default();
            let offered = if clocks.is_empty() {
                String::new()
            } else {
                format!(" (its clocks: {})", clocks.join(", "))
            };
            Finding::note(
                CODE,
                format!(
                    "this is a guest of {name}{offered}: the host may take the CPU away at any time, and what the \
                     machine says of itself is what the host lets it say"
                ),
            )
            .advice("measure on bare metal where the figures have to hold for it")
        }
        None if platform.cpu.architecture.starts_with("x86") => {
            Finding::ok(CODE, "no hypervisor shows itself")
        }
        None => Finding::unknown(
            CODE,
            "whether this is a virtual machine is not shown by this machine",
        ),
    }
}

fn tick(platform: &Platform) -> Finding {
    const CODE: &str = "tick";
    let (kernel, alone) = (&platform.kernel, platform.cpu.nohz_full.as_deref());
    if let Some(list) = alone.filter(|list| count_of(list).is_some_and(|cpus| cpus > 0)) {
        return Finding::ok(
            CODE,
            format!(
                "CPUs {list} have no timer interrupt while one thread runs; measure on one of them with --cpu"
            ),
        );
    }
    if alone.is_none() && !matches!(kernel.tickless, Some(Tickless::Never | Tickless::WhenIdle)) {
        return Finding::unknown(
            CODE,
            "whether the timer interrupt stops while one thread runs is not shown",
        );
    }
    let rate = kernel
        .tick_hz
        .map(|hertz| format!("{hertz} times a second"))
        .unwrap_or_else(|| "at its rate".into());
    Finding::note(CODE, format!("the timer interrupt comes {rate} on a CPU that runs something"))
        .advice("where the tail of the distribution matters, start the kernel with nohz_full=N, if it was built for that")
}

fn performance_counters(platform: &Platform) -> Finding {
    const CODE: &str = "perf-event-paranoid";
    match platform.perf_event_paranoid {
        None => Finding::unknown(CODE, "kernel.perf_event_paranoid is not shown"),
        Some(level) if level <= OPEN_TO_ALL => {
            Finding::ok(CODE, format!("kernel.perf_event_paranoid is {level}: programs may count their own cycles"))
        }
        Some(level) => Finding::note(
            CODE,
            format!(
                "kernel.perf_event_paranoid is {level}: perf-cycles, rdpmc-cycles and perf-task-clock need a privilege"
            ),
        )
        .advice("as root, `sysctl kernel.perf_event_paranoid=2`"),
    }
}
