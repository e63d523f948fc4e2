//! The reports of others in `reports/` follow from the tables they were published in: made here, so
//! that they cannot drift. `TIMERMETER_UPDATE=1 cargo test --test main published::` writes them
//! anew.

use std::fs;
use std::path::{Path, PathBuf};

use timermeter::findings::{text, values};
use timermeter::model::{
    ClockSource, Cost, Counted, Cpu, Family, Finding, Frequency, Hertz, Interval, Kernel, Nanos,
    Os, Platform, Properties, Provenance, ProvenanceKind, Report, Resolution, ResolutionKind,
    SCHEMA, Settings, Severity, Status, TimerRow, Tool, value_of,
};
use timermeter::quality::quality;
use timermeter::report::{read, render};
use timermeter::table::{Format, Style};

const TABLES: &str = include_str!("data/paper-tables.csv");
const SOURCE: &str = "M. Kuperberg, M. Krogmann, R. Reussner, Metric-based Selection of Timer Methods for Accurate \
    Measurements, ICPE 2011, Tables 1 and 2, doi:10.1145/1958746.1958776";
/// The first day of the conference; when the authors measured is not reported.
const PUBLISHED: &str = "2011-03-14T00:00:00Z";
/// Printed figures have two decimals, and their inputs three digits at worst.
const ROUNDING_PERCENT: f64 = 0.025;

/// A platform of section 5 of the paper.
struct Described {
    name: &'static str,
    folder: &'static str,
    cpu: &'static str,
    os: (&'static str, &'static str),
    kernel: Option<&'static str>,
    runtimes: &'static str,
}

const PLATFORMS: [Described; 4] = [
    Described {
        name: "MBP53",
        folder: "icpe2011-mbp53",
        cpu: "Intel Core 2 Duo T9600 (MacBookPro5,3)",
        os: ("macos", "Mac OS X 10.6.4"),
        kernel: None,
        runtimes: "Apple JVM 1.6.0_21, Mono 2.6.7",
    },
    Described {
        name: "MBP62",
        folder: "icpe2011-mbp62",
        cpu: "Intel Core i7 (MacBookPro6,2)",
        os: ("macos", "Mac OS X 10.6.4"),
        kernel: None,
        runtimes: "Apple JVM 1.6.0_21, Mono 2.6.7",
    },
    Described {
        name: "SAMSa",
        folder: "icpe2011-samsa",
        cpu: "Intel Pentium M",
        os: ("linux", "openSUSE"),
        kernel: Some("2.6.34"),
        runtimes: "Oracle JDK 1.6.0_20, Mono 2.6.7",
    },
    Described {
        name: "SAMSb",
        folder: "icpe2011-samsb",
        cpu: "Intel Pentium M",
        os: ("windows", "Windows XP Professional"),
        kernel: None,
        runtimes: "Oracle JVM 1.6.0_21, .NET 4.0, Mono 2.6.7",
    },
];

/// A timer method by its short name in the tables.
fn call(short: &str) -> (&'static str, &'static str) {
    match short {
        "CTCT" => ("ThreadMXBean.getCurrentThreadCpuTime()", "Java"),
        "CTM" => ("System.currentTimeMillis()", "Java"),
        "CTUT" => ("ThreadMXBean.getCurrentThreadUserTime()", "Java"),
        "HRC" => ("sun.misc.Perf.highResCounter()", "Java"),
        "NANO" => ("System.nanoTime()", "Java"),
        "PCT" => ("OperatingSystemMXBean.getProcessCpuTime()", "Java"),
        ".DAT" => ("System.DateTime.Now", ".NET"),
        ".STO" => ("System.Diagnostics.Stopwatch", ".NET"),
        other => panic!("the paper has no {other}"),
    }
}

/// A record of the table, by the name of its column.
struct Record<'a> {
    names: &'a csv::StringRecord,
    values: csv::StringRecord,
}

impl Record<'_> {
    fn text(&self, name: &str) -> &str {
        &self.values[self
            .names
            .iter()
            .position(|other| other == name)
            .expect(name)]
    }

    fn figure(&self, name: &str) -> f64 {
        self.text(name).parse().expect(name)
    }

    /// Nanoseconds in a tick, in which the table gives resolutions.
    fn ns_per_tick(&self) -> f64 {
        self.figure("resolution_ns") / self.figure("resolution")
    }

    fn row(&self, frequency: Hertz) -> TimerRow {
        let (label, runtime) = call(self.text("timer"));
        let (resolution, cost) = (
            Nanos(self.figure("resolution_ns")),
            Nanos(self.figure("cost_ns")),
        );
        let spread = self.figure("spread");
        let computed = quality(resolution.cycles(frequency), cost.cycles(frequency), spread)
            .expect("in range");
        let printed = self.figure("quality_printed_percent") / 100.0;
        let mut row = TimerRow::unmeasured(self.text("timer"), label, runtime, Status::Ok);
        row.ns_per_tick = Some(self.ns_per_tick());
        row.resolution = Some(Resolution {
            ticks: self.figure("resolution"),
            cycles: Some(resolution.cycles(frequency).0),
            kind: ResolutionKind::Resolved,
        });
        row.cost_cycles = Some(Interval::unbounded(cost.cycles(frequency).0));
        row.cost = Some(Cost {
            single_median_ns: None,
            p99_ns: None,
            follows: None,
            // An asterisk in the tables says so; without one, the timer timed itself.
            reference: if matches!(self.text("timer"), "CTCT" | "CTM" | "CTUT" | "PCT")
                || self.is_starred_hrc()
            {
                "NANO".into()
            } else {
                self.text("timer").into()
            },
        });
        row.properties = Some(properties(self.text("timer")));
        row.resolution_ns = Some(Interval::unbounded(resolution.0));
        row.cost_ns = Some(Interval::unbounded(cost.0));
        row.spread = Some(Interval::unbounded(spread));
        row.quality = Some(Interval::unbounded(computed));
        row.printed_quality = Some(printed);
        row.findings
            .extend(erratum(100.0 * computed, 100.0 * printed));
        row
    }

    fn is_starred_hrc(&self) -> bool {
        self.text("timer") == "HRC" && self.text("platform") == "SAMSa"
    }
}

/// What the documentation of these calls says, apart from what differs between systems.
fn properties(timer: &str) -> Properties {
    let wall = |settable| (Family::SystemClock, Counted::Wall, settable);
    let (family, counts, settable) = match timer {
        "CTM" | ".DAT" => wall(true),
        "PCT" => (Family::CpuTime, Counted::ProcessCpu, false),
        "CTUT" | "CTCT" => (Family::CpuTime, Counted::ThreadCpu, false),
        _ => wall(false),
    };
    Properties {
        family: Some(family),
        counts: Some(counts),
        settable: Some(settable),
        needs_fence: Some(false),
        ..Properties::default()
    }
}

fn erratum(computed: f64, printed: f64) -> Option<Finding> {
    ((computed - printed).abs() > ROUNDING_PERCENT).then(|| Finding {
        code: "printed-quality-differs".into(),
        severity: Severity::Note,
        values: values([("message", text(format!(
            "the paper prints a Quality of {printed:.2} %, but Formula (1) of the resolution, cost and spread that it \
             prints beside it gives {computed:.2} %"
        ))), ("advice", text("take the computed one with care: which of the printed figures is wrong is not known"))]),
    })
}

/// A machine of which others published figures in an issue.
struct Quoted {
    folder: &'static str,
    day: &'static str,
    source: &'static str,
    cpu: Option<&'static str>,
    architecture: &'static str,
    product: &'static str,
    hypervisor: Option<&'static str>,
    os_family: &'static str,
    clock_source: Option<&'static str>,
    clocks: &'static [QuotedClock],
}

/// A clock with its mean time a read, of many consecutive reads.
struct QuotedClock {
    id: &'static str,
    label: &'static str,
    runtime: &'static str,
    family: Family,
    ns: f64,
}

const REDIS: &str = "yoav-steinberg in Redis issue 10604, comment of 2022-04-21, https://github.com/redis/redis/issues/10604";
const GO: &str = "rhysh in Go issue 67937 of 2024-06-11, https://github.com/golang/go/issues/67937";

/// A row of the table in the issue of Redis.
const fn redis(
    folder: &'static str,
    architecture: &'static str,
    [product, hypervisor, clock_source]: [&'static str; 3],
    clocks: &'static [QuotedClock],
) -> Quoted {
    Quoted {
        folder,
        day: "2022-04-21",
        source: REDIS,
        cpu: None,
        architecture,
        product,
        hypervisor: Some(hypervisor),
        os_family: "linux",
        clock_source: Some(clock_source),
        clocks,
    }
}

const fn clock_gettime(ns: f64) -> [QuotedClock; 1] {
    [QuotedClock {
        id: "monotonic",
        label: "clock_gettime(CLOCK_MONOTONIC)",
        runtime: "native",
        family: Family::SystemClock,
        ns,
    }]
}

/// A machine in the issue of Go.
const fn go(
    folder: &'static str,
    cpu: Option<&'static str>,
    product: &'static str,
    os_family: &'static str,
    clocks: &'static [QuotedClock],
) -> Quoted {
    Quoted {
        folder,
        day: "2024-06-11",
        source: GO,
        cpu,
        architecture: "aarch64",
        product,
        hypervisor: None,
        os_family,
        clock_source: None,
        clocks,
    }
}

const fn cntvct_and_nanotime([cntvct, nanotime]: [f64; 2]) -> [QuotedClock; 2] {
    [
        QuotedClock {
            id: "cntvct",
            label: "CNTVCT_EL0",
            runtime: "native",
            family: Family::CpuCounter,
            ns: cntvct,
        },
        QuotedClock {
            id: "go:nanotime",
            label: "runtime.nanotime()",
            runtime: "go",
            family: Family::SystemClock,
            ns: nanotime,
        },
    ]
}

const QUOTED: [Quoted; 8] = [
    redis(
        "redis-10604-c5-large-tsc",
        "x86_64",
        ["Amazon EC2 c5.large", "Nitro", "tsc"],
        &clock_gettime(23.0),
    ),
    redis(
        "redis-10604-c5-large-kvm-clock",
        "x86_64",
        ["Amazon EC2 c5.large", "Nitro", "kvm-clock"],
        &clock_gettime(27.0),
    ),
    redis(
        "redis-10604-m4-large-tsc",
        "x86_64",
        ["Amazon EC2 m4.large", "Xen", "tsc"],
        &clock_gettime(27.0),
    ),
    redis(
        "redis-10604-m4-large-xen",
        "x86_64",
        ["Amazon EC2 m4.large", "Xen", "xen"],
        &clock_gettime(596.0),
    ),
    redis(
        "redis-10604-c6g-large",
        "aarch64",
        ["Amazon EC2 c6g.large", "Nitro", "arch_sys_counter"],
        &clock_gettime(35.0),
    ),
    go(
        "go-67937-apple-m1",
        Some("Apple M1"),
        "Apple M1",
        "macos",
        &cntvct_and_nanotime([14.0, 24.0]),
    ),
    go(
        "go-67937-raspberry-pi-5",
        None,
        "Raspberry Pi 5",
        "linux",
        &cntvct_and_nanotime([28.0, 43.0]),
    ),
    go(
        "go-67937-raspberry-pi-3b",
        None,
        "Raspberry Pi 3B",
        "linux",
        &cntvct_and_nanotime([45.0, 126.0]),
    ),
];

fn quoted_report(quoted: &Quoted) -> Report {
    let row = |clock: &QuotedClock| {
        let mut row = TimerRow::unmeasured(clock.id, clock.label, clock.runtime, Status::Ok);
        row.amortised_ns = Some(clock.ns);
        row.properties = Some(Properties {
            family: Some(clock.family),
            counts: Some(Counted::Wall),
            ..Properties::default()
        });
        row
    };
    let figures = quoted
        .clocks
        .iter()
        .map(|clock| format!("{} {} ns", clock.label, clock.ns));
    let platform = Platform {
        cpu: Cpu {
            architecture: quoted.architecture.into(),
            model: quoted.cpu.map(str::to_owned),
            ..Cpu::default()
        },
        os: Os {
            family: quoted.os_family.into(),
            name: None,
        },
        hypervisor: quoted.hypervisor.map(str::to_owned),
        product: Some(quoted.product.to_owned()).filter(|product| quoted.cpu != Some(product)),
        clocksource: ClockSource {
            current: quoted.clock_source.map(str::to_owned),
            ..ClockSource::default()
        },
        ..Platform::default()
    };
    let note = format!(
        "{}; each the mean of many consecutive reads, so it is the amortised cost and no isolated one; the date is that \
         of the publication; no resolution and no intervals were published",
        figures.collect::<Vec<_>>().join(", ")
    );
    Report {
        created: format!("{}T00:00:00Z", quoted.day),
        provenance: Provenance {
            kind: ProvenanceKind::Published,
            source: Some(quoted.source.into()),
            note: Some(note),
        },
        platform,
        frequency: Frequency::default(),
        timers: quoted.clocks.iter().map(row).collect(),
        ..report(&PLATFORMS[0])
    }
}

/// The published reports, each with the folder of its run.
fn published() -> Vec<(PathBuf, Report)> {
    let papers = PLATFORMS
        .iter()
        .map(|one| (folder(one.folder, "2011-03-14"), report(one)));
    let quoted = QUOTED
        .iter()
        .map(|one| (folder(one.folder, one.day), quoted_report(one)));
    papers.chain(quoted).collect()
}

fn report(described: &Described) -> Report {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(TABLES.as_bytes());
    let names = reader.headers().expect("a header line").clone();
    let records: Vec<Record> = reader
        .records()
        .map(|record| Record {
            names: &names,
            values: record.expect("well-formed"),
        })
        .filter(|record| record.text("platform") == described.name)
        .collect();
    let frequency = Hertz(records[0].figure("cpu_ghz") * 1e9);
    let mut timers: Vec<TimerRow> = records.iter().map(|record| record.row(frequency)).collect();
    timers.sort_by(TimerRow::best_first);
    Report {
        schema: SCHEMA.into(),
        tool: Tool::this(),
        created: PUBLISHED.into(),
        node: None,
        provenance: Provenance {
            kind: ProvenanceKind::Published,
            source: Some(SOURCE.into()),
            note: Some(format!(
                "platform {} of the paper, with {}; the date is that of the publication; the Quality is computed by \
                 Formula (1) from the printed resolution, cost and spread, and the printed one stands beside it; no \
                 intervals were printed",
                described.name, described.runtimes
            )),
        },
        platform: platform(described),
        frequency: Frequency {
            nominal_hz: Some(frequency.0),
            nominal_source: Some("the paper".into()),
            cycles_from: "nominal".into(),
            cycles_hz: Some(Interval::unbounded(frequency.0)),
            ..Frequency::default()
        },
        // There were none: nothing was run.
        settings: Settings {
            plan: "published".into(),
            cpu: None,
            seed: 0,
            processes: 0,
            precision_points: None,
            budget_seconds: None,
            timeout_seconds: 0,
        },
        findings: Vec::new(),
        timers,
        waits: Vec::new(),
        periods: Vec::new(),
    }
}

fn platform(described: &Described) -> Platform {
    let architecture = if described.name.starts_with("MBP") {
        "x86_64"
    } else {
        "x86"
    };
    Platform {
        cpu: Cpu {
            architecture: architecture.into(),
            vendor: Some("GenuineIntel".into()),
            model: Some(described.cpu.into()),
            ..Cpu::default()
        },
        os: Os {
            family: described.os.0.into(),
            name: Some(described.os.1.into()),
        },
        kernel: Kernel {
            release: described.kernel.map(str::to_owned),
            ..Kernel::default()
        },
        ..Platform::default()
    }
}

fn folder(platform: &str, day: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("reports")
        .join(platform)
        .join(day)
}

#[test]
fn published_reports_match_their_sources() {
    for (folder, report) in published() {
        for (name, format) in [
            ("report.json", Format::Json),
            ("README.md", Format::Markdown),
        ] {
            let path = folder.join(name);
            let text = render(&report, format, Style::default());
            if std::env::var_os("TIMERMETER_UPDATE").is_some() {
                fs::create_dir_all(&folder).unwrap();
                fs::write(&path, &text).unwrap();
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                kept == text,
                "{} does not follow from its source: run this with TIMERMETER_UPDATE=1",
                path.display()
            );
        }
    }
}

#[test]
fn paper_has_eight_clocks_a_platform() {
    for described in &PLATFORMS {
        assert_eq!(report(described).timers.len(), 8);
    }
}

#[test]
fn notes_exactly_two_errata() {
    let strange: Vec<(&str, String)> = PLATFORMS
        .iter()
        .flat_map(|described| {
            report(described)
                .timers
                .into_iter()
                .map(|row| (described.name, row))
        })
        .filter(|(_, row)| !row.findings.is_empty())
        .map(|(platform, row)| (platform, row.head.id))
        .collect();
    assert_eq!(
        strange,
        [("MBP53", "HRC".to_owned()), ("MBP62", "HRC".to_owned())]
    );
}

#[test]
fn published_reports_read_back() {
    for (folder, report) in published() {
        let kept = read(&folder.join("report.json")).unwrap();
        assert_eq!(kept, report);
        let page = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(page.contains("not measured by timermeter"), "{page}");
        let has_printed = report
            .timers
            .iter()
            .any(|row| row.printed_quality.is_some());
        assert_eq!(
            page.contains("| Quality, printed % |"),
            has_printed,
            "{page}"
        );
    }
}

#[test]
fn published_figures_have_rows_of_platforms() {
    let output = std::process::Command::new(super::program::program())
        .args(["table", "reports", "--by", "platform", "--format", "json"])
        .output()
        .unwrap();
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    for quoted in &QUOTED {
        let row = rows
            .iter()
            .find(|row| row["report"].as_str().unwrap().contains(quoted.folder))
            .unwrap_or_else(|| panic!("{}", quoted.folder));
        assert_eq!(row["provenance"], "published");
        assert_eq!(
            (&row["source"], &row["last"]),
            (&quoted.source.into(), &quoted.day.into())
        );
        assert_eq!(row["amortised_ns"], quoted.clocks[0].ns);
        assert!(row["cost_ns"].is_null(), "no isolated cost was published");
    }
    let measured = rows.iter().filter(|row| row["provenance"] == "measured");
    assert!(measured.clone().all(|row| row["source"].is_null()));
    assert!(measured.count() >= 4);
}

#[test]
fn cost_lies_below_single_call_tail() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/reports");
    let mut costs = 0;
    let mut folders = vec![PathBuf::from(kept)];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("report.json") {
                for row in read(&path).unwrap().timers {
                    let p99 = row.cost.clone().and_then(|cost| cost.p99_ns);
                    let Some((median, p99)) = value_of(row.cost_ns).zip(p99) else {
                        continue;
                    };
                    costs += 1;
                    assert!(
                        median <= p99,
                        "{}: {} costs {median} ns, its p99 is {p99}",
                        path.display(),
                        row.id
                    );
                }
            }
        }
    }
    assert!(costs > 20, "{costs} costs were compared");
}
