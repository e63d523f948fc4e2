//! The machine in a few lines of text, each a name and a value. Shared by the table and the
//! Markdown page.

use super::conditions;
use super::conditions::{Fact, LONGEST};
use crate::model::{Cpu, Frequency, Platform, Provenance, ProvenanceKind, Report, value_of};
use crate::text::clipped;
use crate::text::numbers::rate;

/// Who the machine is.
#[must_use]
pub fn facts(platform: &Platform, frequency: &Frequency) -> Vec<Fact> {
    let kernel = [&platform.kernel.name, &platform.kernel.release]
        .map(|part| part.as_deref().unwrap_or_default());
    let mut facts = vec![
        ("CPU", cpu(&platform.cpu)),
        (
            "frequency",
            frequencies(frequency, platform.cpu.invariant_tsc),
        ),
        (
            "hypervisor",
            known(platform.hypervisor.as_deref(), "none seen"),
        ),
        ("kernel", known(Some(kernel.join(" ").trim()), "unknown")),
        (
            "OS",
            known(
                platform.os.name.as_deref().or(Some(&platform.os.family)),
                "unknown",
            ),
        ),
        ("clock source", clock_source(platform)),
        (
            "governor",
            known(
                platform.cpu.governor.as_deref(),
                "not shown by this machine",
            ),
        ),
        ("conditions", conditions::brief(platform)),
    ];
    facts.extend(
        platform
            .product
            .as_deref()
            .map(|product| ("machine", clipped(product, LONGEST))),
    );
    facts
}

/// What has to be known before any figure is read: a core that something else used.
#[must_use]
pub fn caution(report: &Report) -> Option<Fact> {
    let warning = report
        .warnings
        .iter()
        .find(|warning| warning.code == "shared-machine")?;
    Some(("caution", clipped(&warning.message(), LONGEST)))
}

/// Who the machine is, and how it was measured.
#[must_use]
pub fn facts_of(report: &Report) -> Vec<Fact> {
    let mut facts = facts(&report.platform, &report.frequency);
    facts.splice(
        0..0,
        report
            .node
            .iter()
            .map(|node| ("node", clipped(node, LONGEST))),
    );
    facts.splice(0..0, caution(report));
    if report.provenance.kind == ProvenanceKind::Published {
        // What a publication does not tell was not looked for.
        let told = |name: &str| match name {
            "hypervisor" => report.platform.hypervisor.is_some(),
            "governor" => report.platform.cpu.governor.is_some(),
            _ => true,
        };
        facts.retain(|(name, _)| told(name));
        facts.extend(published(&report.provenance));
        return facts;
    }
    let Cpu {
        online, allowed, ..
    } = report.platform.cpu;
    let place = match report.settings.cpu {
        Some(cpu) => format!("CPU {cpu}"),
        None => "any CPU (could not be pinned)".to_owned(),
    };
    let choice = match (allowed, online) {
        (Some(allowed), Some(online)) => format!(" ({allowed} of {online} online CPUs allowed)"),
        _ => String::new(),
    };
    facts.push((
        "measured on",
        place + &choice + &kind_of_core(&report.platform.cpu),
    ));
    let mut runtimes: Vec<&str> = Vec::new();
    for row in report
        .timers
        .iter()
        .filter(|row| row.runtime != "native" && row.cost.is_some())
    {
        if !runtimes.contains(&row.runtime.as_str()) {
            runtimes.push(&row.runtime);
        }
    }
    if !runtimes.is_empty() {
        facts.push(("runtimes", clipped(&runtimes.join(", "), LONGEST)));
    }
    let settings = &report.settings;
    let run = format!(
        "{}, {} {}, profile {}, {} processes a timer, seed {}",
        report.created,
        report.tool.name,
        report.tool.version,
        settings.profile,
        settings.processes,
        settings.seed
    );
    facts.push(("run", clipped(&run, LONGEST)));
    facts
}

/// Of which kind the core is, where there are others.
fn kind_of_core(cpu: &Cpu) -> String {
    let several = cpu.core_kinds.as_ref().is_some_and(|kinds| kinds.len() > 1);
    match cpu.core_kind.as_deref().filter(|_| several) {
        Some(kind) => format!(", of the kind {}; others cost otherwise", clipped(kind, 40)),
        None if several => ", of an unknown kind among several".to_owned(),
        None => String::new(),
    }
}

/// Figures of others: whose, instead of how they were measured here.
fn published(provenance: &Provenance) -> Vec<Fact> {
    let source = known(provenance.source.as_deref(), "a source that is not named");
    let mut facts = vec![("published", format!("{source}; not measured by timermeter"))];
    facts.extend(
        provenance
            .note
            .as_deref()
            .map(|note| ("note", clipped(note, 2 * LONGEST))),
    );
    facts
}

fn known(value: Option<&str>, otherwise: &str) -> String {
    match value.map(|value| clipped(value, LONGEST)) {
        Some(value) if !value.is_empty() => value,
        _ => otherwise.to_owned(),
    }
}

fn cpu(cpu: &Cpu) -> String {
    let model = known(cpu.name().as_deref(), "unknown model");
    let mut text = format!(
        "{model}, {}",
        known(Some(&cpu.architecture), "unknown architecture")
    );
    if let (Some(family), Some(model), Some(stepping)) =
        (cpu.family, cpu.model_number, cpu.stepping)
    {
        text += &format!(", family {family} model {model} stepping {stepping}");
    }
    text + ", microcode " + &known(cpu.microcode.as_deref(), "unknown")
}

fn clock_source(platform: &Platform) -> String {
    let source = &platform.clocksource;
    let current = known(source.current.as_deref(), "unknown");
    if source.available.is_empty() {
        return current;
    }
    format!(
        "{current} (available: {})",
        clipped(&source.available.join(", "), LONGEST)
    )
}

fn frequencies(frequency: &Frequency, invariant_tsc: Option<bool>) -> String {
    let mut parts = Vec::new();
    let mut part = |name: &str, hz: Option<f64>, remark: Option<String>| {
        let cycles = (frequency.cycles_from == name).then(|| "used for cycles".to_owned());
        let remarks: Vec<String> = remark.into_iter().chain(cycles).collect();
        let remarks = if remarks.is_empty() {
            String::new()
        } else {
            format!(" ({})", remarks.join(", "))
        };
        parts.push(match hz {
            Some(_) => format!("{name} {}{remarks}", rate(hz)),
            None => format!("{name} unknown{remarks}"),
        });
    };
    let source = frequency
        .nominal_source
        .as_deref()
        .map(|source| clipped(source, LONGEST));
    part("nominal", frequency.nominal_hz, source);
    let invariant =
        invariant_tsc.map(|yes| if yes { "invariant" } else { "not invariant" }.to_owned());
    part(
        "TSC",
        frequency.tsc_hz,
        invariant.filter(|_| frequency.tsc_hz.is_some()),
    );
    let ends = frequency.effective_hz.and_then(|hz| hz.ends());
    let interval = ends.map(|(low, high)| format!("{} to {}", rate(Some(low)), rate(Some(high))));
    part("effective", value_of(frequency.effective_hz), interval);
    if frequency.cycles_from == "given" {
        part("given", value_of(frequency.cycles_hz), None);
    }
    parts.join(" · ")
}

/// The machine in a line, the most important first.
#[must_use]
pub fn in_a_line(report: &Report) -> String {
    let (platform, frequency) = (&report.platform, &report.frequency);
    let cpu = platform
        .cpu
        .name()
        .unwrap_or_else(|| platform.cpu.architecture.clone());
    let source = platform.clocksource.current.as_ref();
    let parts = [
        Some(cpu),
        platform.hypervisor.clone(),
        source.map(|source| format!("clock source {source}")),
        frequency.cycles_hz.map(|hz| rate(Some(hz.value))),
        report.created.get(..10).map(str::to_owned),
        platform.kernel.release.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The machine, as a heading.
#[must_use]
pub fn name(report: &Report) -> String {
    let platform = &report.platform;
    let cpu = platform
        .cpu
        .name()
        .unwrap_or_else(|| platform.cpu.architecture.clone());
    let parts = [
        Some(cpu.as_str()),
        platform.hypervisor.as_deref(),
        platform.os.name.as_deref(),
    ];
    let parts = parts
        .into_iter()
        .flatten()
        .map(|part| clipped(part, 80))
        .filter(|part| !part.is_empty());
    let joined = parts.collect::<Vec<_>>().join(" · ");
    if joined.is_empty() {
        "an unknown machine".to_owned()
    } else {
        joined
    }
}
