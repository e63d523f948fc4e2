//! Fields of a whole report: which one it is, who made it, and on what machine.

use std::time::UNIX_EPOCH;

use super::clocks::codes;
use super::{Field, FieldSource, Range};
use crate::model::{CpuOffset, Family, ProvenanceKind, Report, Tickless, TimerRow};
use crate::table::{Notation, Type, Value};

type OfReport = fn(&Report) -> Value;

pub(super) fn fields() -> Vec<Field> {
    [run(), machine(), kernel(), frequencies(), conditions()]
        .into_iter()
        .flatten()
        .collect()
}

fn text(key: &'static str, about: &'static str, of: OfReport) -> Field {
    Field::of_reports(key, Type::Text, about, of)
}

fn truth(key: &'static str, about: &'static str, of: OfReport) -> Field {
    Field::of_reports(key, Type::Truth, about, of)
}

fn count(key: &'static str, about: &'static str, of: OfReport) -> Field {
    Field::of_reports(key, Type::Count, about, of)
}

fn figure(key: &'static str, about: &'static str, of: OfReport) -> Field {
    Field::of_reports(key, Type::Figure, about, of)
}

/// A frequency, and its place in the document.
fn rate(key: &'static str, place: &'static str, about: &'static str, of: OfReport) -> Field {
    figure(key, about, of).check(place, Range::RATE)
}

/// Known to the reader of the report.
fn origin(key: &'static str, about: &'static str) -> Field {
    Field::new(key, Type::Text, about, FieldSource::Origin)
}

fn run() -> Vec<Field> {
    vec![
        Field { whole: true, ..origin("file", "File of the report") }.column("file", "report"),
        text("node", "Name of the node, where the run was told", |r| (&r.node).into()).column("node", "node"),
        Field {
            whole: true,
            ..origin(
                "platform",
                "The machine, by a name made of its CPU and the generation of that, hypervisor and OS",
            )
        }
        .column("platform", "platform"),
        Field::of_reports("date", Type::Day, "Day on which the measurement began, UTC", |r| {
            day(&r.created).map_or(Value::Nothing, Value::Day)
        }),
        text("date", "The day of the measurement", |r| r.created.get(..10).unwrap_or(&r.created).into())
            .column("date", "date")
            .largest_first()
            .not_in_all(),
        Field::of_reports("created", Type::Time, "When the measurement began", |r| {
            time(&r.created).map_or(Value::Nothing, Value::Time)
        }),
        text("tool_version", "Version of timermeter that measured", |r| (&r.tool.version).into()),
        text("profile", "`quick`, `default` or `thorough`", |r| (&r.settings.profile).into()),
        text("seed", "Seed of all random choices", |r| r.settings.seed.to_string().into()),
        count("measuring_cpu", "CPU that the measuring processes were pinned to", |r| r.settings.cpu.into()),
        text("provenance", "`measured`, or `published` by others", |r| {
            Value::Word(match r.provenance.kind {
                ProvenanceKind::Measured => "measured",
                ProvenanceKind::Published => "published",
            })
        }),
    ]
}

fn machine() -> Vec<Field> {
    vec![
        text("cpu", "Brand string of the CPU", |r| {
            (&r.platform.cpu.model).into()
        })
        .column("cpu", "CPU"),
        text("cpu_vendor", "Vendor of the CPU", |r| {
            (&r.platform.cpu.vendor).into()
        }),
        count("cpu_family", "Family of the CPU, on x86", |r| {
            r.platform.cpu.family.into()
        }),
        count("cpu_model", "Model number of the CPU, on x86", |r| {
            r.platform.cpu.model_number.into()
        }),
        count("cpu_stepping", "Stepping of the CPU, on x86", |r| {
            r.platform.cpu.stepping.into()
        }),
        text("architecture", "Instruction set architecture", |r| {
            (&r.platform.cpu.architecture).into()
        }),
        text("microcode", "Revision of the microcode", |r| {
            (&r.platform.cpu.microcode).into()
        }),
        count("cpus_online", "CPUs that are online", |r| {
            r.platform.cpu.online.into()
        }),
        truth(
            "smt",
            "Whether cores run more than one thread at once",
            |r| r.platform.cpu.smt.into(),
        ),
        text("governor", "cpufreq governor", |r| {
            (&r.platform.cpu.governor).into()
        }),
        truth(
            "turbo",
            "Whether the CPU may run above its nominal frequency",
            |r| r.platform.cpu.turbo.into(),
        ),
        text("hypervisor", "Hypervisor", |r| {
            (&r.platform.hypervisor).into()
        })
        .column("hypervisor", "hypervisor"),
        text(
            "product",
            "What its maker calls the machine (DMI); of some clouds the type of the instance",
            |r| (&r.platform.product).into(),
        )
        .column("product", "machine"),
        truth(
            "emulated",
            "Whether an emulator carried out the program",
            |r| r.platform.emulator().is_some().into(),
        ),
        text("container", "Kind of container, by its marks", |r| {
            (&r.platform.limits.container).into()
        }),
        text("os", "Distribution", |r| (&r.platform.os.name).into()).column("os", "OS"),
        text("os_family", "`linux`, `windows`, `macos`, `freebsd`", |r| {
            (&r.platform.os.family).into()
        }),
    ]
}

fn kernel() -> Vec<Field> {
    vec![
        text("kernel", "Release of the kernel", |r| {
            (&r.platform.kernel.release).into()
        })
        .column("kernel", "kernel"),
        count("tick_hz", "Timer interrupts a second on a busy CPU", |r| {
            r.platform.kernel.tick_hz.into()
        }),
        text(
            "tickless",
            "When the kernel does without them: `never`, `when_idle`, `when_alone`",
            |r| {
                r.platform
                    .kernel
                    .tickless
                    .map(|when| Value::Word(tickless(when)))
                    .into()
            },
        ),
        text("clock_source", "Clock source of the kernel", |r| {
            (&r.platform.clocksource.current).into()
        })
        .column("clock-source", "clock source"),
        text(
            "clock_sources",
            "All clock sources that could be used, parted by blanks",
            |r| {
                let all = &r.platform.clocksource.available;
                if all.is_empty() {
                    Value::Nothing
                } else {
                    all.join(" ").into()
                }
            },
        ),
    ]
}

fn frequencies() -> Vec<Field> {
    let range_only =
        |place, of: OfReport| rate(place, place, "An end of what was seen", of).not_in_all();
    let mut fields = vec![
        truth(
            "invariant_tsc",
            "Whether the TSC runs at a constant rate in all power states",
            |r| r.platform.cpu.invariant_tsc.into(),
        ),
        rate("tsc_hz", "frequency.tsc_hz", "Rate of the TSC", |r| {
            r.frequency.tsc_hz.into()
        }),
        figure(
            "tsc_offset_max_ns",
            "Largest difference between the counters of two CPUs, the first and another (the TSC on x86), without sign; \
             of the timers that read the counter, by the one that knows it best",
            |r| tsc_offset(r).map(|offset| offset.ns.abs()).into(),
        ),
        figure(
            "tsc_offset_uncertainty_ns",
            "The true difference lies within this of that",
            |r| {
                tsc_offset(r)
                    .map(|offset| offset.uncertainty_ns.abs())
                    .into()
            },
        ),
        rate(
            "nominal_hz",
            "frequency.nominal_hz",
            "Frequency of the core as the vendor declares it",
            |r| r.frequency.nominal_hz.into(),
        ),
        rate(
            "effective_hz",
            "frequency.effective_hz",
            "Frequency at which the core really ran",
            |r| r.frequency.effective_hz.map(|hz| hz.value).into(),
        ),
        figure(
            "frequency_ghz",
            "Frequency that turned time into cycles, in GHz",
            |r| r.frequency.cycles_hz.map(|hz| hz.value * 1e-9).into(),
        )
        .column("frequency", "frequency (GHz)")
        .notation(Notation::Fixed(3)),
        text(
            "cycles_from",
            "Which frequency turned time into cycles",
            |r| (&r.frequency.cycles_from).into(),
        ),
    ];
    let cycles: [(&str, &str, OfReport); 3] = [
        ("cycles_hz", "frequency.cycles_hz", |r| {
            r.frequency.cycles_hz.map(|hz| hz.value).into()
        }),
        ("cycles_hz_low", "frequency.cycles_hz.low", |r| {
            r.frequency.cycles_hz.and_then(|hz| hz.low()).into()
        }),
        ("cycles_hz_high", "frequency.cycles_hz.high", |r| {
            r.frequency.cycles_hz.and_then(|hz| hz.high()).into()
        }),
    ];
    let about = "Frequency that turned time into cycles, or an end of its interval";
    fields.extend(cycles.map(|(key, place, of)| rate(key, place, about, of)));
    fields.push(range_only("frequency.effective_hz.low", |r| {
        r.frequency.effective_hz.and_then(|hz| hz.low()).into()
    }));
    fields.push(range_only("frequency.effective_hz.high", |r| {
        r.frequency.effective_hz.and_then(|hz| hz.high()).into()
    }));
    fields
}

fn conditions() -> Vec<Field> {
    vec![
        truth(
            "ntp_synchronised",
            "Whether the clock is kept synchronised",
            |r| r.platform.ntp.as_ref().map(|ntp| ntp.synchronised).into(),
        ),
        figure(
            "ntp_rate_ppm",
            "What the kernel's clocks are trimmed by, all together",
            |r| r.platform.ntp.as_ref().map(|ntp| ntp.rate_ppm).into(),
        ),
        count(
            "ntp_offset_ns",
            "What of an offset is still to be slewed in",
            |r| r.platform.ntp.as_ref().map(|ntp| ntp.offset_ns).into(),
        ),
        figure(
            "load_one_minute",
            "Threads that ran or waited to run, over the last minute",
            |r| r.platform.load.map(|load| load.one_minute).into(),
        ),
        figure(
            "steal_share",
            "Share of CPU time that a hypervisor gave to others, 0 to 1",
            |r| r.platform.steal_share.into(),
        ),
        figure(
            "cpu_quota",
            "CPUs' worth of time that a control group allows",
            |r| r.platform.limits.cpu.and_then(|quota| quota.cpus).into(),
        ),
        text(
            "report_warnings",
            "Codes of the warnings on the whole run, parted by blanks",
            |r| codes(&r.warnings),
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

/// How far the counters of CPUs are apart: all timers that declare to read the counter saw the same
/// ones, some of them less sharply.
fn tsc_offset(report: &Report) -> Option<CpuOffset> {
    let reads_counter = |row: &&TimerRow| {
        row.properties
            .as_ref()
            .and_then(|properties| properties.family)
            == Some(Family::CpuCounter)
    };
    let of = |row: &TimerRow| row.verdicts.as_ref()?.thread_safe.furthest().copied();
    let offsets = report.timers.iter().filter(reads_counter).filter_map(of);
    offsets.min_by(|a, b| a.uncertainty_ns.abs().total_cmp(&b.uncertainty_ns.abs()))
}

/// Microseconds since 1970 of a time such as `2026-11-20T12:00:00Z`; times from elsewhere may be
/// anything.
fn time(created: &str) -> Option<i64> {
    let at = humantime::parse_rfc3339(created).ok()?;
    i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_micros()).ok()
}

/// Its day, in days since 1970.
fn day(created: &str) -> Option<i32> {
    const MICROSECONDS: i64 = 86_400_000_000;
    i32::try_from(time(created)? / MICROSECONDS).ok()
}
