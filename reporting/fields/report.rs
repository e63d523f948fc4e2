//! Defines the fields of a whole report: its identity, the program that wrote it, and the machine.

use std::time::UNIX_EPOCH;

use super::clocks::{codes, joined};
use super::{Field, FieldUnit, Kind, Range, Read, field_table};
use crate::model::{CpuOffset, Family, ProvenanceKind, Report, TimerRow};
use crate::text::date_time;

/// The fields of a report belong to no kind of row.
const REPORT: &[Kind] = &[];

pub(super) fn fields() -> Vec<Field> {
    let origin = |name, about| Field::new(name, FieldUnit::Text, about, REPORT, Read::Origin);
    let mut all = vec![
        origin("file", "Path of the report").column("file", "report"),
        origin(
            "platform",
            "The machine, by its CPU with the generation, hypervisor and OS",
        ),
    ];
    all.extend(run_fields());
    all.extend(machine_fields());
    all.extend(frequency_fields());
    all.extend(condition_fields());
    all
}

fn run_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        node: Text = &report.node, "Name of the node as given to the run";
        date: Day = time(&report.created)?.split('T').next(), "Day on which the measurement began, UTC";
        created: Text = time(&report.created), "When the measurement began";
        tool_version: Text = &report.tool.version, "Version of timermeter that wrote the report";
        profile: Text = &report.settings.plan, "`quick`, `default` or `thorough`";
        seed: Text = report.settings.seed.to_string(), "Seed of all random choices";
        measuring_cpu: Count = report.settings.cpu, "CPU that the measuring processes were pinned to";
        provenance: Text = provenance(report.provenance.kind), "`measured` by timermeter, or `published` elsewhere";
    }
}

fn machine_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |machine| &machine.platform;
        cpu: Text = &machine.cpu.model, "Brand string of the CPU", column("cpu", "CPU");
        cpu_vendor: Text = &machine.cpu.vendor, "Vendor of the CPU";
        cpu_family: Count = machine.cpu.family, "Family of the CPU, on x86";
        cpu_model: Count = machine.cpu.model_number, "Model number of the CPU, on x86";
        core_kind: Text = &machine.cpu.core_kind, "Kind of the measuring core, if the machine has several kinds", derived();
        kernel_build: Text = &machine.kernel.version, "Build of the kernel", derived();
        cpu_stepping: Count = machine.cpu.stepping, "Stepping of the CPU, on x86";
        architecture: Text = &machine.cpu.architecture, "Instruction set architecture";
        microcode: Text = &machine.cpu.microcode, "Revision of the microcode";
        cpus_online: Count = machine.cpu.online, "CPUs that are online";
        smt: Truth = machine.cpu.smt, "Whether a core runs more than one hardware thread";
        governor: Text = &machine.cpu.governor, "cpufreq governor";
        turbo: Truth = machine.cpu.turbo, "Whether the CPU may run above its nominal frequency";
        hypervisor: Text = &machine.hypervisor, "Hypervisor";
        product: Text = &machine.product, "Vendor and model of the machine (DMI)", more("in some clouds the instance type"),
            column("product", "machine");
        emulated: Truth = machine.emulator().is_some(), "Whether an emulator executed the program";
        os: Text = &machine.os.name, "Distribution", column("os", "OS");
        os_family: Text = &machine.os.family, "`linux`, `windows`, `macos`";
        kernel: Text = &machine.kernel.release, "Release of the kernel";
        tick: Hertz = f64::from(machine.kernel.tick_hz?), "Timer interrupts per second on a busy CPU";
        clock_source: Text = &machine.clocksource.current, "Clock source of the kernel";
        clock_sources: Text = joined(machine.clocksource.available.iter().cloned(), " "),
            "All available clock sources, separated by blanks";
        invariant_tsc: Truth = machine.cpu.invariant_tsc, "Whether the TSC runs at a constant rate in all power states";
    }
}

fn frequency_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        tsc: Hertz = report.frequency.tsc_hz, "Rate of the time stamp counter", metric("tsc_frequency");
        tsc_offset_max: Nanoseconds = tsc_offset(report)?.ns.abs(),
            "Largest absolute difference between the counters (the TSC on x86) of the first CPU and another CPU";
        tsc_offset_uncertainty: Nanoseconds = tsc_offset(report)?.uncertainty_ns.abs(),
            "Uncertainty of this difference";
        nominal: Hertz = report.frequency.nominal_hz, "Core frequency that the vendor declares";
        effective: Hertz = report.frequency.effective_hz, "Measured core frequency", interval(), metric("core_frequency");
        cycles: Hertz = report.frequency.cycles_hz, "Frequency that converts time to cycles",
            interval(), column("frequency", "frequency");
        cycles_from: Text = &report.frequency.cycles_from, "Source of this frequency", more("`effective`, `nominal`, `given`");
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
            range(Range::ANY), metric("ntp_offset");
        load_one_minute: Number = report.platform.load?.one_minute, "Mean number of threads that ran or were ready to run over the last minute";
        steal_share: Share = report.platform.steal_share,
            "Share of the time in which CPUs were ready to run but the hypervisor ran other guests", metric("steal");
        preloaded: Text = report.platform.preloads()?, "Preloaded libraries, which may replace the clocks of the C library", column("preloaded", "preloaded library");
        cpu_quota: Number = report.platform.limits.cpu?.cpus, "CPU time limit of the control group, in CPUs";
        report_findings: Text = codes(&report.findings), "Codes of the findings about the whole run";
    }
}

fn provenance(kind: ProvenanceKind) -> &'static str {
    match kind {
        ProvenanceKind::Measured => "measured",
        ProvenanceKind::Published => "published",
    }
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
