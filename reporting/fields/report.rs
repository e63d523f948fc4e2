//! Defines the fields of a whole report: its identity, the program that wrote it, and the machine.

use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

use super::clocks::{codes, joined};
use super::{Field, FieldUnit, Kind, Range, Read, field_table};
use crate::model::{CoreKind, Cpu, CpuOffset, Family, Platform, ProvenanceKind, Report, TimerRow};
use crate::table::CellValue;
use crate::text::date_time;

/// The fields of a report belong to no kind of row.
const REPORT: &[Kind] = &[];

pub(super) fn fields() -> Vec<Field> {
    let origin = |name, about| {
        let field = Field::new(name, FieldUnit::Text, about, REPORT, Read::Origin);
        field.no_fact()
    };
    let mut all = vec![
        origin("file", "Path of the report").column("file", "report"),
        origin(
            "platform",
            "The machine, by its CPU with the generation, hypervisor and OS",
        ),
    ];
    all.extend(device_fields());
    all.extend(machine_fields());
    all.extend(frequency_fields());
    all.extend(condition_fields());
    all.extend(run_fields());
    all
}

fn device_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        node: Text = &report.node, "Name of the node as given to the run", in_short();
        devices: Text = joined(report.devices().iter().map(|device| device.name.clone()), ", "),
            "The devices whose processors read timers", in_short();
        device_frequency: Hertz = match report.devices()[..] { [device] => device.cycles_hz, _ => None },
            "Frequency that converts time to cycles of the device", interval();
    }
}

fn machine_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |machine| &machine.platform;
        cpu: Text = cpu_name(machine), "Brand and generation of the CPU", more("if they are unknown, the model of the machine, or the architecture"), in_short(), of_cpu();
        cpu_vendor: Text = &machine.cpu.vendor, "Vendor of the CPU", no_fact();
        cpu_family: Count = machine.cpu.family, "Family of the CPU, on x86", no_fact();
        cpu_model: Count = machine.cpu.model_number, "Model number of the CPU, on x86", no_fact();
        core_kind: Text = &machine.cpu.core_kind, "Kind of the measuring core, if the machine has several kinds", derived(), no_fact();
        core_kinds: Text = core_kinds(&machine.cpu)?, "The kinds of cores with their CPUs, if there are several", titled("kinds of cores"), of_cpu();
        kernel_build: Text = &machine.kernel.version, "Build of the kernel", derived(), no_fact();
        cpu_stepping: Count = machine.cpu.stepping, "Stepping of the CPU, on x86", no_fact();
        architecture: Text = &machine.cpu.architecture, "Instruction set architecture";
        microcode: Text = &machine.cpu.microcode, "Revision of the microcode", of_cpu();
        cpus_online: Count = machine.cpu.online, "CPUs that are online";
        cpus_allowed: Text = &machine.cpu.allowed_list, "CPUs that the program may use";
        isolated: Text = &machine.cpu.isolated, "CPUs that the scheduler does not use (`isolcpus`)", titled("isolated CPUs"), of_cpu();
        nohz_full: Text = &machine.cpu.nohz_full, "CPUs without a timer interrupt while one thread runs (`nohz_full`)", titled("CPUs without tick"), of_cpu();
        smt: Truth = machine.cpu.smt, "Whether a core runs more than one hardware thread", of_cpu();
        governor: Text = &machine.cpu.governor, "cpufreq governor", of_cpu();
        turbo: Truth = machine.cpu.turbo, "Whether the CPU may run above its nominal frequency", of_cpu();
        hypervisor: Text = &machine.hypervisor, "Hypervisor", in_short();
        product: Text = &machine.product, "Vendor and model of the machine (DMI)", more("in some clouds the instance type"),
            titled("machine");
        emulated: Truth = machine.emulator().is_some(), "Whether an emulator executed the program", no_fact();
        os: Text = machine.os.name.as_ref().unwrap_or(&machine.os.family), "Distribution, or else the kind of system";
        os_family: Text = &machine.os.family, "`linux`, `windows`, `macos`", no_fact();
        kernel: Text = &machine.kernel.release, "Release of the kernel", in_short();
        tick: Hertz = f64::from(machine.kernel.tick_hz?), "Timer interrupts per second on a busy CPU", of_cpu();
        clock_source: Text = &machine.clocksource.current, "Clock source of the kernel", in_short(), of_cpu();
        clock_sources: Text = joined(machine.clocksource.available.iter().cloned(), " "),
            "All available clock sources, separated by blanks", of_cpu();
        clock_parameters: Text = machine.clocksource.parameters.as_ref()?.join(" "), "Boot parameters about clocks", of_cpu();
        invariant_tsc: Truth = machine.cpu.invariant_tsc, "Whether the TSC runs at a constant rate in all power states", of_cpu();
    }
}

fn frequency_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        tsc: Hertz = report.frequency.tsc_hz, "Rate of the time stamp counter", metric("tsc_frequency"), of_cpu();
        tsc_offset_max: Nanoseconds = tsc_offset(report)?.ns.abs(),
            "Largest absolute difference between the counters (the TSC on x86) of the first CPU and another CPU", no_fact();
        tsc_offset_uncertainty: Nanoseconds = tsc_offset(report)?.uncertainty_ns.abs(),
            "Uncertainty of this difference", no_fact();
        nominal: Hertz = report.frequency.nominal_hz, "Core frequency that the vendor declares", titled("nominal frequency"), of_cpu();
        effective: Hertz = report.frequency.effective_hz, "Measured core frequency", interval(), metric("core_frequency"), no_fact();
        cycles: Hertz = report.frequency.cycles_hz, "Frequency that converts time to cycles",
            interval(), column("frequency", "frequency"), in_short(), of_cpu();
        cycles_from: Text = &report.frequency.cycles_from, "Source of this frequency", more("`effective`, `nominal`, `given`"), of_cpu();
    }
}

/// The state of the machine during the measurement.
fn condition_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        ntp_synchronised: Truth = report.platform.ntp.as_ref()?.synchronised, "Whether the clock is kept synchronised",
            metric("ntp_synchronised");
        ntp_rate: Ppm = report.platform.ntp.as_ref()?.rate_ppm, "Sum of all trims of the rate of the kernel's clocks",
            metric("ntp_rate");
        ntp_offset: Nanoseconds = report.platform.ntp.as_ref()?.offset_ns as f64, "Remaining offset to be slewed",
            range(Range::ANY), metric("ntp_offset"), no_fact();
        load_one_minute: Number = report.platform.load?.one_minute, "Mean number of threads that ran or were ready to run over the last minute", titled("load"), of_cpu();
        steal_share: Percent = report.platform.steal_share,
            "Share of the time in which CPUs were ready to run but the hypervisor ran other guests", metric("steal"), titled("stolen time %"), of_cpu();
        preloaded: Text = report.platform.preloads()?, "Preloaded libraries, which may replace the clocks of the C library", titled("preloaded library");
        cpu_quota: Number = report.platform.limits.cpu?.cpus, "CPU time limit of the control group, in CPUs";
        report_findings: Text = codes(&report.findings), "Codes of the findings about the whole run", no_fact();
    }
}

/// The run, or the publication.
fn run_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        date: Day = time(&report.created)?.split('T').next(), "Day on which the measurement began, UTC", in_short();
        created: Text = time(&report.created), "When the measurement began", no_fact();
        tool_version: Text = is_measured(report).then_some(&*report.tool.version), "Version of timermeter that measured";
        profile: Text = &report.settings.plan, "`quick`, `default` or `thorough`";
        seed: Text = report.settings.seed.to_string(), "Seed of all random choices", no_fact();
        measuring_cpu: Count = report.settings.cpu, "CPU that the measuring processes were pinned to", of_cpu();
        runtimes: Text = runtimes(report), "The runtimes whose timers were measured";
        provenance: Text = if is_measured(report) { "measured" } else { "published" }, "`measured` by timermeter, or `published` elsewhere", no_fact();
        publication: Text = &report.provenance.source, "The publication of the figures, if timermeter did not measure them", titled("published in"), in_short();
        note: Text = &report.provenance.note, "What the publication says about its figures";
    }
}

/// The name of the CPU; the model of the machine, or else the architecture, if it is unknown.
pub fn cpu_name(platform: &Platform) -> String {
    let name = platform.cpu.name().or_else(|| platform.product.clone());
    name.unwrap_or_else(|| platform.cpu.architecture.clone())
}

/// The names of the runtimes, each with its version.
fn runtimes(report: &Report) -> CellValue {
    let hosted = report
        .heads()
        .filter(|row| row.status.has_figures() && row.runtime != "native");
    let names: BTreeSet<String> = hosted.map(|row| row.runtime.clone()).collect();
    joined(names.into_iter(), ", ")
}

/// The kinds of cores, as in `8 × P-core (0-7)`; `None` if the machine has a single kind.
fn core_kinds(cpu: &Cpu) -> Option<CellValue> {
    let kinds = cpu.core_kinds.as_ref().filter(|kinds| kinds.len() > 1)?;
    let kind = |kind: &CoreKind| {
        let list = kind.list.as_ref().map(|list| format!(" ({list})"));
        format!("{} × {}{}", kind.cpus, kind.name, list.unwrap_or_default())
    };
    Some(joined(kinds.iter().map(kind), ", "))
}

fn is_measured(report: &Report) -> bool {
    report.provenance.kind == ProvenanceKind::Measured
}

/// The largest offset of the TSC of a CPU from that of the first CPU, as measured by the clock that
/// reads the TSC with the smallest uncertainty.
fn tsc_offset(report: &Report) -> Option<CpuOffset> {
    let reads_counter = |row: &&TimerRow| {
        row.properties
            .as_ref()
            .and_then(|properties| properties.family)
            == Some(Family::CpuCounter)
    };
    let largest_offset = |row: &TimerRow| {
        let verdicts = row.verdicts.as_ref()?;
        verdicts.thread_safe.largest_offset().copied()
    };
    report
        .timers
        .iter()
        .filter(reads_counter)
        .filter_map(largest_offset)
        .min_by(|a, b| a.uncertainty_ns.abs().total_cmp(&b.uncertainty_ns.abs()))
}

/// A time such as `2026-11-20T12:00:00Z`, in whole seconds; `None` if the text is not a time.
fn time(created: &str) -> Option<String> {
    let at = humantime::parse_rfc3339(created).ok()?;
    let seconds = at.duration_since(UNIX_EPOCH).ok()?.as_secs();
    i64::try_from(seconds).ok().map(date_time)
}
