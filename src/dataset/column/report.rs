//! What is the same for all rows of a report: which one it is, who made it, and on what machine.

use super::{Column, fact, origin, shown};
use crate::dataset::origin::{day, time};
use crate::dataset::value::{Type, Value};
use crate::model::{BriefReport, BriefRow, CpuOffset, Family, ProvenanceKind, Tickless};
use crate::tabulation::Column as Shown;

pub(super) fn columns() -> Vec<Column> {
    let mut columns = run();
    columns.extend(machine());
    columns.extend(kernel());
    columns.extend(conditions());
    columns
}

/// Which report it is.
fn run() -> Vec<Column> {
    let mut columns = vec![
        origin("report_id", "What tells reports apart, by what was measured: 32 hexadecimal digits", |of| {
            of.id.to_string().into()
        }),
        origin("file", "File of the report, or which document of standard input", |of| {
            of.file.clone().into()
        }),
        origin("host", "Name of the node: of the file, else of its folder; see above", |of| {
            of.host.clone().into()
        }),
        origin(
            "platform",
            "The machine, by a name made of its CPU and the generation of that, hypervisor and OS",
            |of| of.platform.clone().into(),
        ),
        fact("date", Type::Day, "Day on which the measurement began, UTC", |r| {
            day(&r.created).map_or(Value::Nothing, Value::Day)
        }),
        fact("created", Type::Time, "When the measurement began", |r| {
            time(&r.created).map_or(Value::Nothing, Value::Time)
        }),
        fact("tool_version", Type::Text, "Version of timermeter that measured", |r| (&r.tool.version).into()),
        fact("profile", Type::Text, "`quick`, `default` or `thorough`", |r| (&r.settings.profile).into()),
        fact("seed", Type::Text, "Seed of all random choices", |r| r.settings.seed.to_string().into()),
        fact("measuring_cpu", Type::Count, "CPU that the measuring processes were pinned to", |r| {
            r.settings.cpu.into()
        }),
        fact("provenance", Type::Text, "`measured`, or `published` by somebody else", |r| {
            match r.provenance.kind {
                ProvenanceKind::Measured => "measured",
                ProvenanceKind::Published => "published",
            }
            .into()
        }),
    ];
    for column in &mut columns {
        column.in_path = matches!(column.name, "platform" | "date");
    }
    columns
}

fn machine() -> Vec<Column> {
    vec![
        shown(Shown::Cpu),
        fact("cpu_vendor", Type::Text, "Vendor of the CPU", |r| r.platform.cpu.vendor.as_ref().into()),
        fact("cpu_family", Type::Count, "Family of the CPU, on x86", |r| r.platform.cpu.family.into()),
        fact("cpu_model", Type::Count, "Model number of the CPU, on x86", |r| {
            r.platform.cpu.model_number.into()
        }),
        fact("cpu_stepping", Type::Count, "Stepping of the CPU, on x86", |r| r.platform.cpu.stepping.into()),
        fact("architecture", Type::Text, "Instruction set architecture", |r| {
            (&r.platform.cpu.architecture).into()
        }),
        fact("microcode", Type::Text, "Revision of the microcode", |r| {
            r.platform.cpu.microcode.as_ref().into()
        }),
        fact("cpus_online", Type::Count, "CPUs that are online", |r| r.platform.cpu.online.into()),
        fact("smt", Type::Truth, "Whether cores run more than one thread at once", |r| {
            r.platform.cpu.smt.into()
        }),
        fact("governor", Type::Text, "cpufreq governor", |r| r.platform.cpu.governor.as_ref().into()),
        fact("turbo", Type::Truth, "Whether the CPU may run above its nominal frequency", |r| {
            r.platform.cpu.turbo.into()
        }),
        shown(Shown::Hypervisor),
        fact("emulated", Type::Truth, "Whether an emulator carried out the program", |r| {
            r.platform.emulator().is_some().into()
        }),
        fact("container", Type::Text, "Kind of container, by its marks", |r| {
            r.platform.limits.container.as_ref().into()
        }),
        shown(Shown::Os),
        fact("os_family", Type::Text, "`linux`, `windows`, `macos`, `freebsd`", |r| {
            (&r.platform.os.family).into()
        }),
    ]
}

fn kernel() -> Vec<Column> {
    vec![
        shown(Shown::Kernel),
        fact("tick_hz", Type::Count, "Timer interrupts a second on a busy CPU", |r| {
            r.platform.kernel.tick_hz.into()
        }),
        fact(
            "tickless",
            Type::Text,
            "When the kernel does without them: `never`, `when_idle`, `when_alone`",
            |r| r.platform.kernel.tickless.map(tickless).into(),
        ),
        shown(Shown::ClockSource),
        fact("clock_sources", Type::Text, "All clock sources that could be used, parted by blanks", |r| {
            let all = &r.platform.clocksource.available;
            if all.is_empty() { Value::Nothing } else { all.join(" ").into() }
        }),
        fact(
            "invariant_tsc",
            Type::Truth,
            "Whether the TSC runs at a constant rate in all power states",
            |r| r.platform.cpu.invariant_tsc.into(),
        ),
        fact("tsc_hz", Type::Figure, "Rate of the TSC", |r| r.frequency.tsc_hz.into()),
        fact(
            "tsc_offset_max_ns",
            Type::Figure,
            "Largest difference between the counters of two CPUs, the first and another (the TSC on x86), without sign; \
             of the timers that read the counter, by the one that knows it best",
            |r| tsc_offset(r).map(|offset| offset.ns.abs()).into(),
        ),
        fact(
            "tsc_offset_uncertainty_ns",
            Type::Figure,
            "The true difference lies within this of that",
            |r| tsc_offset(r).map(|offset| offset.uncertainty_ns.abs()).into(),
        ),
        fact("nominal_hz", Type::Figure, "Frequency of the core as the vendor declares it", |r| {
            r.frequency.nominal_hz.into()
        }),
        fact("effective_hz", Type::Figure, "Frequency at which the core really ran", |r| {
            r.frequency.effective_hz.into()
        }),
        shown(Shown::Frequency),
    ]
}

fn conditions() -> Vec<Column> {
    vec![
        fact("ntp_synchronised", Type::Truth, "Whether somebody keeps the clock synchronised", |r| {
            r.platform.ntp.as_ref().map(|ntp| ntp.synchronised).into()
        }),
        fact("ntp_rate_ppm", Type::Figure, "What the kernel's clocks are trimmed by, all together", |r| {
            r.platform.ntp.as_ref().map(|ntp| ntp.rate_ppm).into()
        }),
        fact("ntp_offset_ns", Type::Count, "What of an offset is still to be slewed in", |r| {
            r.platform.ntp.as_ref().map(|ntp| ntp.offset_ns).into()
        }),
        shown(Shown::TimeOffset),
        shown(Shown::TimeBound),
        shown(Shown::TimeSource),
        fact(
            "load_one_minute",
            Type::Figure,
            "Threads that ran or waited to run, over the last minute",
            |r| r.platform.load.map(|load| load.one_minute).into(),
        ),
        fact(
            "steal_share",
            Type::Figure,
            "Share of CPU time that a hypervisor gave to others, 0 to 1",
            |r| r.platform.steal_share.into(),
        ),
        fact("cpu_quota", Type::Figure, "CPUs' worth of time that a control group allows", |r| {
            r.platform.limits.cpu.and_then(|quota| quota.cpus).into()
        }),
        fact(
            "report_warnings",
            Type::Text,
            "Codes of the warnings on the whole run, parted by blanks",
            |r| {
                let codes: Vec<&str> = r.warnings.iter().map(|warning| warning.code.as_str()).collect();
                if codes.is_empty() { Value::Nothing } else { codes.join(" ").into() }
            },
        ),
    ]
}

fn tickless(of: Tickless) -> &'static str {
    match of {
        Tickless::Never => "never",
        Tickless::WhenIdle => "when_idle",
        Tickless::WhenAlone => "when_alone",
    }
}

/// How far the counters of CPUs are apart: all timers that declare to read the counter saw the same ones, some of them less sharply.
fn tsc_offset(report: &BriefReport) -> Option<CpuOffset> {
    let reads_counter = |row: &&BriefRow| {
        row.properties.as_ref().and_then(|properties| properties.family) == Some(Family::CpuCounter)
    };
    let of = |row: &BriefRow| row.verdicts.as_ref()?.thread_safe.furthest().copied();
    let offsets = report.timers.iter().filter(reads_counter).filter_map(of);
    offsets.min_by(|a, b| a.uncertainty_ns.abs().total_cmp(&b.uncertainty_ns.abs()))
}
