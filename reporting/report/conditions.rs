//! What a machine makes of measurements: in one line for the header of every report, and in full.

use crate::model::{CoreKind, Cpu, Limits, Ntp, Platform, Tickless, Tsc};

/// More kinds of cores than any machine has; of a report that has more, no more are shown.
const MOST_KINDS: usize = 8;

const NOT_SHOWN: &str = "not shown by this machine";

/// The conditions in one line: only what is known and what matters to measurements.
#[must_use]
pub fn brief(platform: &Platform) -> String {
    let cpu = &platform.cpu;
    let parts = [
        cpu.threads_per_core.map(|threads| match threads {
            1 => "1 thread a core".to_owned(),
            threads => format!("{threads} threads a core"),
        }),
        cpu.turbo
            .map(|on| format!("turbo {}", if on { "on" } else { "off" })),
        cpu.power_plan
            .as_deref()
            .map(|plan| format!("power plan {plan}")),
        listed(cpu.isolated.as_deref()).map(|list| format!("CPUs {list} isolated")),
        platform
            .kernel
            .tick_hz
            .map(|hertz| format!("tick {hertz} Hz")),
        platform
            .load
            .map(|load| format!("load {:.2}", load.one_minute)),
        platform.ntp.as_ref().map(steering),
        platform
            .limits
            .container
            .as_deref()
            .map(|kind| format!("container marks ({kind})")),
        platform
            .limits
            .cpu
            .and_then(|quota| quota.cpus)
            .map(|cpus| format!("quota {cpus:.2} CPUs")),
        platform
            .limits
            .time_namespace
            .map(|_| "time namespace".to_owned()),
    ];
    told(parts.into_iter().flatten().collect(), " · ")
}

/// All that is known of the machine beyond the header.
#[must_use]
pub fn details(platform: &Platform) -> Vec<Fact> {
    let told_or_not = |value: Option<String>| value.unwrap_or_else(|| NOT_SHOWN.to_owned());
    let load = platform.load.map(|load| {
        format!(
            "{:.2} over 1 min, {:.2} over 5 min, {:.2} over 15 min",
            load.one_minute, load.five_minutes, load.fifteen_minutes
        )
    });
    let steal = platform.steal_share.map(|share| {
        format!(
            "{:.3} % of the time in which CPUs had something to run",
            share * 100.0
        )
    });
    let clocks = platform.hypervisor_clocks.as_ref().map(|clocks| {
        if clocks.is_empty() {
            "none".to_owned()
        } else {
            clocks.join(", ")
        }
    });
    vec![
        ("CPUs", cpus(&platform.cpu)),
        ("SMT", smt(&platform.cpu)),
        (
            "kinds of cores",
            told_or_not(platform.cpu.core_kinds.as_deref().map(kinds)),
        ),
        (
            "turbo",
            told_or_not(
                platform
                    .cpu
                    .turbo
                    .map(|on| if on { "on" } else { "off" }.to_owned()),
            ),
        ),
        ("TSC", tsc(&platform.tsc)),
        ("hypervisor's clocks", told_or_not(clocks)),
        (
            "clock parameters",
            told_or_not(platform.clocksource.parameters.as_deref().map(parameters)),
        ),
        ("tick", tick(platform)),
        ("NTP", told_or_not(platform.ntp.as_ref().map(ntp))),
        ("load", told_or_not(load)),
        ("stolen", told_or_not(steal)),
        ("limits", limits(&platform.limits)),
        (
            "perf_event_paranoid",
            told_or_not(platform.perf_event_paranoid.map(|level| level.to_string())),
        ),
    ]
}

fn told(parts: Vec<String>, between: &str) -> String {
    if parts.is_empty() {
        NOT_SHOWN.to_owned()
    } else {
        parts.join(between)
    }
}

/// A list of CPUs that has some.
fn listed(list: Option<&str>) -> Option<String> {
    list.filter(|list| !list.is_empty()).map(str::to_owned)
}

fn cpus(cpu: &Cpu) -> String {
    let part = |name: &str, list: Option<&str>| match list {
        None => format!("{name} {NOT_SHOWN}"),
        Some(list) => format!("{name} {}", listed(Some(list)).as_deref().unwrap_or("none")),
    };
    [
        part("online", cpu.online_list.as_deref()),
        part("allowed", cpu.allowed_list.as_deref()),
        part("isolated", cpu.isolated.as_deref()),
        part("nohz_full", cpu.nohz_full.as_deref()),
    ]
    .join(" · ")
}

fn smt(cpu: &Cpu) -> String {
    let mut parts: Vec<String> = cpu
        .smt
        .map(|on| if on { "on" } else { "off" }.to_owned())
        .into_iter()
        .collect();
    parts.extend(
        cpu.threads_per_core
            .map(|threads| format!("threads a core: {threads}")),
    );
    parts.extend(listed(cpu.core_list.as_deref()).map(|list| format!("CPUs of this core: {list}")));
    told(parts, " · ")
}

fn kinds(kinds: &[CoreKind]) -> String {
    let kind = |kind: &CoreKind| {
        let which = listed(kind.list.as_deref())
            .map(|list| format!(": {list}"))
            .unwrap_or_default();
        format!("{} × {}{which}", kind.cpus, kind.name)
    };
    let all: Vec<String> = kinds.iter().take(MOST_KINDS).map(kind).collect();
    told(all, " · ")
}

fn tsc(tsc: &Tsc) -> String {
    let flags = [
        ("constant", tsc.constant),
        ("nonstop", tsc.nonstop),
        ("adjustable", tsc.adjust),
        ("scalable", tsc.scaling),
        ("of known frequency", tsc.known_frequency),
        ("vouched for", tsc.reliable),
    ];
    let known = flags.iter().filter_map(|(name, flag)| {
        flag.map(|yes| {
            if yes {
                (*name).to_owned()
            } else {
                format!("not {name}")
            }
        })
    });
    told(known.collect(), " · ")
}

fn parameters(parameters: &[String]) -> String {
    if parameters.is_empty() {
        "none".to_owned()
    } else {
        parameters.join(" ")
    }
}

fn tick(platform: &Platform) -> String {
    let kernel = &platform.kernel;
    let mut parts: Vec<String> = kernel
        .tick_hz
        .map(|hertz| format!("{hertz} Hz"))
        .into_iter()
        .collect();
    if let (Some(first), Some(source)) = (parts.first_mut(), &kernel.tick_source) {
        *first += &format!(" ({source})");
    }
    parts.extend(kernel.tickless.map(|tickless| {
        match tickless {
            Tickless::Never => "never stopped",
            Tickless::WhenIdle => "stopped on idle CPUs",
            Tickless::WhenAlone => {
                "stopped on idle CPUs, and on those of nohz_full while one thread runs"
            }
        }
        .to_owned()
    }));
    told(parts, ", ")
}

fn ntp(ntp: &Ntp) -> String {
    let mut text = format!(
        "{} · rate {:+.3} ppm, {:+.3} of them by frequency",
        steering(ntp).trim_start_matches("NTP "),
        ntp.rate_ppm,
        ntp.frequency_ppm
    );
    if ntp.slewing {
        text += &format!(" · {} ns to go, tick of {} µs", ntp.offset_ns, ntp.tick_us);
    }
    if ntp.synchronised {
        text += &format!(" · estimated error {} µs", ntp.estimated_error_us);
    }
    text
}

fn steering(ntp: &Ntp) -> String {
    match (ntp.slewing, ntp.synchronised) {
        (true, _) => format!("NTP slewing by {:+.1} ppm", ntp.rate_ppm),
        (false, true) => "clock disciplined by NTP".to_owned(),
        (false, false) => "clock not disciplined by NTP".to_owned(),
    }
}

fn limits(limits: &Limits) -> String {
    let container = limits.container.as_deref();
    let cpu = limits.cpu.map(|quota| {
        let throttled = quota.throttled_periods.filter(|periods| *periods > 0);
        let throttled = throttled
            .map(|periods| format!(", stopped {periods} times"))
            .unwrap_or_default();
        quota.cpus.map_or("none".to_owned(), |cpus| {
            format!("{cpus:.2} CPUs{throttled}")
        })
    });
    let memory = limits.memory.map(|memory| {
        memory.bytes.map_or("none".to_owned(), |bytes| {
            format!("{:.0} MiB", bytes as f64 / 1_048_576.0)
        })
    });
    let or_not = |value: Option<String>| value.unwrap_or_else(|| NOT_SHOWN.to_owned());
    [
        container.map_or("no marks of a container".to_owned(), |kind| {
            format!("marks of a container ({kind})")
        }),
        format!("CPU quota {}", or_not(cpu)),
        format!("CPU set {}", or_not(listed(limits.cpuset.as_deref()))),
        format!("memory limit {}", or_not(memory)),
    ]
    .join(" · ")
}

/// A line: what it is about, and what is known.
pub type Fact = (&'static str, String);

/// Longest text from elsewhere that is printed.
pub(super) const LONGEST: usize = 300;
