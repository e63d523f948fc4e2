//! Defines the fields of a whole report: its identity, the program that wrote it, and the machine.

use std::time::UNIX_EPOCH;

use super::clocks::{codes, joined};
use super::{Field, Kind, Range, Read, Unit, field_table};
use crate::model::{CpuOffset, Family, ProvenanceKind, Report, Tickless, TimerRow};
use crate::table::Value;

const REPORT: &[Kind] = &[];

pub(super) fn fields() -> Vec<Field> {
    let origin = |name, about| Field::new(name, Unit::Text, about, REPORT, Read::Origin);
    let mut all = vec![
        origin("file", "File of the report").column("file", "report"),
        origin(
            "platform",
            "The machine, by its CPU with the generation, hypervisor and OS",
        ),
    ];
    all.extend(run());
    all.extend(machine());
    all.extend(clock());
    all.extend(conditions());
    all
}

fn run() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |r| r;
        node: Text = &r.node, "Name of the node, where the run was given one";
        date: Day = Value::Day(i32::try_from(time(&r.created)? / DAY_MICROSECONDS).ok()?),
            "Day on which the measurement began, UTC";
        created: Time = Value::Time(time(&r.created)?), "When the measurement began";
        tool_version: Text = &r.tool.version, "Version of timermeter that measured";
        profile: Text = &r.settings.profile, "`quick`, `default` or `thorough`";
        seed: Text = r.settings.seed.to_string(), "Seed of all random choices";
        measuring_cpu: Count = r.settings.cpu, "CPU that the measuring processes were pinned to";
        provenance: Text = provenance(r.provenance.kind), "`measured`, or `published` by others";
    }
}

fn machine() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |r| &r.platform;
        cpu: Text = &r.cpu.model, "Brand string of the CPU", column("cpu", "CPU");
        cpu_vendor: Text = &r.cpu.vendor, "Vendor of the CPU";
        cpu_family: Count = r.cpu.family, "Family of the CPU, on x86";
        cpu_model: Count = r.cpu.model_number, "Model number of the CPU, on x86";
        core_kind: Text = &r.cpu.core_kind, "Kind of the core, where a machine has several", derived();
        power_plan: Text = &r.cpu.power_plan, "Power plan of Windows", derived();
        kernel_build: Text = &r.kernel.version, "Build of the kernel", derived();
        cpu_stepping: Count = r.cpu.stepping, "Stepping of the CPU, on x86";
        architecture: Text = &r.cpu.architecture, "Instruction set architecture";
        microcode: Text = &r.cpu.microcode, "Revision of the microcode";
        cpus_online: Count = r.cpu.online, "CPUs that are online";
        smt: Truth = r.cpu.smt, "Whether cores run more than one thread at once";
        governor: Text = &r.cpu.governor, "cpufreq governor";
        turbo: Truth = r.cpu.turbo, "Whether the CPU may run above its nominal frequency";
        hypervisor: Text = &r.hypervisor, "Hypervisor";
        product: Text = &r.product, "Model of the machine by its maker (DMI); of some clouds the type of the instance",
            column("product", "machine");
        emulated: Truth = r.emulator().is_some(), "Whether an emulator carried out the program";
        container: Text = &r.limits.container, "Kind of container, by its marks";
        os: Text = &r.os.name, "Distribution", column("os", "OS");
        os_family: Text = &r.os.family, "`linux`, `windows`, `macos`, `freebsd`";
        kernel: Text = &r.kernel.release, "Release of the kernel";
        tick: Hertz = f64::from(r.kernel.tick_hz?), "Timer interrupts a second on a busy CPU";
        tickless: Text = tickless(r.kernel.tickless?),
            "When the kernel does without them: `never`, `when_idle`, `when_alone`";
        clock_source: Text = &r.clocksource.current, "Clock source of the kernel";
        clock_sources: Text = joined(r.clocksource.available.iter().cloned(), " "),
            "All clock sources that could be used, separated by blanks";
        invariant_tsc: Truth = r.cpu.invariant_tsc, "Whether the TSC runs at a constant rate in all power states";
    }
}

fn clock() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |r| r;
        tsc: Hertz = r.frequency.tsc_hz, "Rate of the time stamp counter", metric("tsc_frequency");
        tsc_offset_max: Nanoseconds = tsc_offset(r)?.ns.abs(),
            "Largest difference between the counters of two CPUs, the first and another (the TSC on x86), without sign";
        tsc_offset_uncertainty: Nanoseconds = tsc_offset(r)?.uncertainty_ns.abs(),
            "The true difference lies within this of that";
        nominal: Hertz = r.frequency.nominal_hz, "Frequency of the core as the vendor declares it";
        effective: Hertz = r.frequency.effective_hz, "Frequency at which the core ran", interval(), metric("core_frequency");
        cycles: Hertz = r.frequency.cycles_hz, "Frequency that turned time into cycles",
            interval(), column("frequency", "frequency");
        cycles_from: Text = &r.frequency.cycles_from, "Which frequency turned time into cycles";
    }
}

fn conditions() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |r| r;
        ntp_synchronised: Truth = r.platform.ntp.as_ref()?.synchronised, "Whether the clock is kept synchronised",
            metric("ntp_synchronised");
        ntp_rate: Ppm = r.platform.ntp.as_ref()?.rate_ppm, "What the clocks of the kernel are trimmed by, all together",
            metric("ntp_rate");
        ntp_offset: Nanoseconds = r.platform.ntp.as_ref()?.offset_ns as f64, "What of an offset is still to be slewed in",
            range(Range::ANY), metric("ntp_offset");
        load_one_minute: Number = r.platform.load?.one_minute, "Threads that ran or waited to run, over the last minute";
        steal_share: Share = r.platform.steal_share,
            "Share of the time with work in which a hypervisor ran others", metric("steal");
        cpu_quota: Number = r.platform.limits.cpu?.cpus, "CPUs' worth of time that a control group allows";
        report_findings: Text = codes(&r.findings), "Codes of the findings on the whole run";
    }
}

fn provenance(kind: ProvenanceKind) -> &'static str {
    match kind {
        ProvenanceKind::Measured => "measured",
        ProvenanceKind::Published => "published",
    }
}

fn tickless(tickless: Tickless) -> &'static str {
    match tickless {
        Tickless::Never => "never",
        Tickless::WhenIdle => "when_idle",
        Tickless::WhenAlone => "when_alone",
    }
}

/// The largest offset between the TSCs of two CPUs. Of all clocks that read the TSC, the one with
/// the smallest uncertainty determines the value.
fn tsc_offset(report: &Report) -> Option<CpuOffset> {
    let reads_counter = |row: &&TimerRow| {
        row.properties
            .as_ref()
            .and_then(|properties| properties.family)
            == Some(Family::CpuCounter)
    };
    let furthest = |row: &TimerRow| row.verdicts.as_ref()?.thread_safe.furthest().copied();
    let offsets = report
        .timers
        .iter()
        .filter(reads_counter)
        .filter_map(furthest);
    offsets.min_by(|a, b| a.uncertainty_ns.abs().total_cmp(&b.uncertainty_ns.abs()))
}

/// Microseconds in a day.
const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// The microseconds since 1970 of a time such as `2026-11-20T12:00:00Z`; `None` if the text is not
/// a time.
fn time(created: &str) -> Option<i64> {
    let at = humantime::parse_rfc3339(created).ok()?;
    i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_micros()).ok()
}
