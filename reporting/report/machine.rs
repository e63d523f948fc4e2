//! Describes the machine as names with values, as one line and as a heading.

use std::fmt::Display;

use super::Fact;
use crate::fields::cpu_name;
use crate::model::{Cpu, Device, Frequency, Limits, Platform, ProvenanceKind, Report, value_of};
use crate::text::numbers::{rate, signed};

/// All facts about the machine.
#[must_use]
pub fn facts(platform: &Platform, frequency: &Frequency) -> Vec<Fact> {
    let Platform {
        cpu,
        kernel,
        clocksource,
        ..
    } = platform;
    let on_off = |flag: Option<bool>| flag.map(|on| if on { "on" } else { "off" }.to_owned());
    let available = joined(clocksource.available.iter().cloned().map(Some), ", ");
    let facts = [
        ("CPU", Some(cpu_in_words(cpu))),
        ("frequency", Some(frequencies(frequency, cpu.invariant_tsc))),
        ("hypervisor", platform.hypervisor.clone()),
        ("kernel", kernel.release.clone()),
        (
            "OS",
            platform
                .os
                .name
                .clone()
                .or(Some(platform.os.family.clone())),
        ),
        (
            "clock source",
            clocksource.current.as_ref().map(|current| match available {
                Some(available) => format!("{current} (available: {available})"),
                None => current.clone(),
            }),
        ),
        (
            "clock parameters",
            clocksource.parameters.as_ref().map(|all| all.join(" ")),
        ),
        ("machine", platform.product.clone()),
        ("governor", cpu.governor.clone()),
        ("turbo", on_off(cpu.turbo)),
        (
            "CPUs",
            joined(
                [
                    cpu.online.map(|count| format!("{count} online")),
                    after("allowed", &cpu.allowed_list),
                    after("isolated", &cpu.isolated),
                    after("nohz_full", &cpu.nohz_full),
                ],
                " · ",
            ),
        ),
        (
            "SMT",
            joined(
                [
                    on_off(cpu.smt),
                    after("threads per core:", &cpu.threads_per_core),
                    after("CPUs of this core:", &cpu.core_list),
                ],
                " · ",
            ),
        ),
        ("kinds of cores", kinds_of_cores(cpu)),
        ("TSC", tsc(platform)),
        ("tick", kernel.tick_hz.map(|hertz| format!("{hertz} Hz"))),
        ("NTP", platform.ntp.as_ref().map(ntp)),
        (
            "load",
            platform
                .load
                .map(|load| format!("{:.2} over 1 min", load.one_minute)),
        ),
        (
            "stolen",
            platform.steal_share.map(|share| {
                format!(
                    "{:.3} % of the time in which CPUs had something to run",
                    100.0 * share
                )
            }),
        ),
        ("limits", limits(&platform.limits)),
        (
            "perf_event_paranoid",
            platform.perf_event_paranoid.map(|level| level.to_string()),
        ),
    ];
    let known = |(name, value): (&'static str, Option<String>)| {
        Some((name, value.filter(|value| !value.is_empty())?))
    };
    facts.into_iter().filter_map(known).collect()
}

/// The facts about the CPUs that say nothing about figures of the processor of a device.
const OF_CPU: [&str; 10] = [
    "frequency",
    "governor",
    "turbo",
    "SMT",
    "kinds of cores",
    "TSC",
    "tick",
    "load",
    "stolen",
    "perf_event_paranoid",
];

/// A device with its places and the frequency of its processor.
fn device_in_words(device: &Device) -> Option<String> {
    let parts = [
        Some(device.name.clone()),
        after("places", &device.places),
        device.cycles_hz.map(|hz| rate(Some(hz.value))),
        after("cycles by", &device.cycles),
    ];
    joined(parts, ", ")
}

/// The facts about the machine and about the measurement.
#[must_use]
pub fn report_facts(report: &Report) -> Vec<Fact> {
    let node = report.node.iter().map(|node| ("node", node.clone()));
    let mut facts: Vec<Fact> = node.collect();
    let devices = report.devices().into_iter().filter_map(device_in_words);
    facts.extend(devices.map(|device| ("device", device)));
    let mut machine = self::facts(&report.platform, &report.frequency);
    machine.retain(|(name, _)| !report.is_of_devices() || !OF_CPU.contains(name));
    facts.extend(machine);
    if report.provenance.kind == ProvenanceKind::Published {
        let source = report
            .provenance
            .source
            .as_deref()
            .unwrap_or("a source that is not named");
        facts.push(("published", format!("{source}; not measured by timermeter")));
        facts.extend(
            report
                .provenance
                .note
                .iter()
                .map(|note| ("note", note.clone())),
        );
        return facts;
    }
    let (cpu, settings) = (&report.platform.cpu, &report.settings);
    // The kind of the core, if the machine has several kinds.
    let kind = cpu
        .core_kind
        .as_ref()
        .filter(|_| kinds_of_cores(cpu).is_some());
    let measured_on = [
        after("CPU", &settings.cpu).or(Some("any CPU (could not be pinned)".to_owned())),
        kind.map(|kind| format!("of the kind {kind}; others cost otherwise")),
    ];
    let core = joined(measured_on, ", ").filter(|_| !report.is_of_devices());
    facts.extend(core.map(|core| ("measured on", core)));
    let hosted = report
        .timers
        .iter()
        .filter(|row| row.runtime != "native" && row.cost_ns.is_some());
    let mut runtimes: Vec<&str> = hosted.map(|row| row.runtime.as_str()).collect();
    runtimes.sort_unstable();
    runtimes.dedup();
    facts.extend((!runtimes.is_empty()).then(|| ("runtimes", runtimes.join(", "))));
    let run = format!(
        "{}, {} {}, profile {}, {} processes per timer, seed {}",
        report.created,
        report.tool.name,
        report.tool.version,
        settings.plan,
        settings.processes,
        settings.seed
    );
    facts.push(("run", run));
    facts
}

/// Joins the parts that are known and not empty; `None` without such a part.
fn joined(parts: impl IntoIterator<Item = Option<String>>, between: &str) -> Option<String> {
    let known = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| known.join(between))
}

/// The words before a value; `None` if the value is unknown or empty.
fn after(words: &str, value: &Option<impl Display>) -> Option<String> {
    let value = value.as_ref()?.to_string();
    (!value.is_empty()).then(|| format!("{words} {value}"))
}

fn cpu_in_words(cpu: &Cpu) -> String {
    let numbers = cpu.family.zip(cpu.model_number).zip(cpu.stepping);
    let numbers = numbers.map(|((family, model), stepping)| {
        format!("family {family} model {model} stepping {stepping}")
    });
    let parts = [
        cpu.name(),
        Some(cpu.architecture.clone()),
        numbers,
        after("microcode", &cpu.microcode),
    ];
    joined(parts, ", ").unwrap_or_default()
}

/// The kinds of cores with their CPUs; `None` if the machine has a single kind.
fn kinds_of_cores(cpu: &Cpu) -> Option<String> {
    let kinds = cpu.core_kinds.as_ref().filter(|kinds| kinds.len() > 1)?;
    let kind = kinds.iter().map(|kind| {
        let list = kind
            .list
            .as_ref()
            .map_or(String::new(), |list| format!(": {list}"));
        Some(format!("{} × {}{list}", kind.cpus, kind.name))
    });
    joined(kind, " · ")
}

fn tsc(platform: &Platform) -> Option<String> {
    let tsc = &platform.tsc;
    let flags = [("constant", tsc.constant), ("nonstop", tsc.nonstop)];
    let known = flags.map(|(name, flag)| {
        flag.map(|yes| {
            if yes {
                name.to_owned()
            } else {
                format!("not {name}")
            }
        })
    });
    joined(known, " · ")
}

fn ntp(ntp: &crate::model::Ntp) -> String {
    let state = match (ntp.slewing, ntp.synchronised) {
        (true, _) => "slewing",
        (false, true) => "the clock is disciplined",
        (false, false) => "the clock is not disciplined",
    };
    let error = ntp
        .synchronised
        .then(|| format!("estimated error {} µs", ntp.estimated_error_us));
    let parts = [
        Some(format!("{state}, rate {} ppm", signed(ntp.rate_ppm, 3))),
        ntp.slewing.then(|| format!("{} ns to go", ntp.offset_ns)),
        error,
    ];
    joined(parts, " · ").unwrap_or_default()
}

fn limits(limits: &Limits) -> Option<String> {
    let parts = [
        (limits.cpu.and_then(|quota| quota.cpus)).map(|cpus| format!("quota of {cpus:.2} CPUs")),
        limits.time_namespace.map(|_| "time namespace".to_owned()),
    ];
    joined(parts, " · ")
}

/// The known frequencies; one of them is marked as the frequency that converts time to cycles.
fn frequencies(frequency: &Frequency, invariant_tsc: Option<bool>) -> String {
    let ends = frequency.effective_hz.and_then(|hz| hz.ends());
    let ends = ends.map(|(low, high)| format!("{} to {}", rate(Some(low)), rate(Some(high))));
    let invariant =
        invariant_tsc.map(|yes| if yes { "invariant" } else { "not invariant" }.to_owned());
    let given = value_of(frequency.cycles_hz).filter(|_| frequency.cycles_from == "given");
    let parts = [
        (
            "nominal",
            frequency.nominal_hz,
            frequency.nominal_source.clone(),
        ),
        ("TSC", frequency.tsc_hz, invariant),
        ("effective", value_of(frequency.effective_hz), ends),
        ("given", given, None),
    ];
    let part = parts.map(|(name, hz, remark)| {
        let cycles = (frequency.cycles_from == name).then(|| "used for cycles".to_owned());
        let remarks = joined([remark, cycles], ", ");
        let remarks = remarks.map_or(String::new(), |remarks| format!(" ({remarks})"));
        let hz = hz.filter(|hz| hz.is_finite())?;
        Some(format!("{name} {}{remarks}", rate(Some(hz))))
    });
    joined(part, " · ").unwrap_or_default()
}

/// The names of the machine and of the devices that read its timers.
fn names(report: &Report) -> [Option<String>; 4] {
    let devices = report.devices().into_iter().map(|it| Some(it.name.clone()));
    [
        report.node.clone(),
        joined(devices, ", "),
        Some(cpu_name(&report.platform)),
        report.platform.hypervisor.clone(),
    ]
}

/// Describes the machine in one line, the most important property first.
#[must_use]
pub fn in_a_line(report: &Report) -> String {
    let platform = &report.platform;
    let hertz = report
        .frequency
        .cycles_hz
        .filter(|_| !report.is_of_devices());
    let parts = [
        after("clock source", &platform.clocksource.current),
        hertz.map(|hz| rate(Some(hz.value))),
        report.created.split('T').next().map(str::to_owned),
        platform.kernel.release.clone(),
    ];
    joined(names(report).into_iter().chain(parts), " · ").unwrap_or_default()
}

/// Describes the machine for a heading.
#[must_use]
pub fn name(report: &Report) -> String {
    let system = report.platform.os.name.clone();
    joined(names(report).into_iter().chain([system]), " · ")
        .unwrap_or_else(|| "an unknown machine".to_owned())
}
