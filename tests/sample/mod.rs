//! Handmade reports, whose texts include hostile ones such as an agent might send.

pub mod waits;

use timermeter::findings::{text, values};
use timermeter::model::{
    ClockSource, Core, Cost, CostHistogram, Cpu, CpuQuota, Distribution, Finding, Frequency,
    Interval, IntervalHistogram, Kernel, Limits, Load, MemoryLimit, Mode, Ntp, Observations, Os,
    Platform, PlotData, ProcessFigures, Provenance, Report, Resolution, ResolutionKind, SCHEMA,
    Settings, Severity, Staircase, Status, Tickless, TimerRow, Tool, Tsc, Waiting, value_of,
};
use timermeter::text::cleaned;

const HZ: f64 = 3.694e9;

/// A report with timers of every status, and a hostile agent.
pub fn report() -> Report {
    cleaned(uncleaned_report())
}

/// The report before its texts are cleaned, as a file may hold it.
fn uncleaned_report() -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        tool: Tool {
            name: "timermeter".to_owned(),
            version: "0.1.0".to_owned(),
        },
        created: "2026-11-20T12:00:00Z".to_owned(),
        node: None,
        provenance: Provenance::default(),
        platform: platform(),
        frequency: frequency(),
        settings: Settings {
            plan: "default".to_owned(),
            cpu: Some(1),
            seed: 1,
            processes: 5,
            precision_points: None,
            budget_seconds: None,
            timeout_seconds: 60,
        },
        findings: vec![warning(
            "virtual-machine",
            "This machine is a guest of KVMKVMKVM: time in which the host ran others shows up as rare, dear invocations.",
            "Measure on bare metal where the figures have to hold for it.",
        )],
        timers: [resolved_clocks(), unusual_clocks(), unmeasured_clocks()].concat(),
        waits: Vec::new(),
        periods: Vec::new(),
    }
}

/// A report in which every figure that may be missing is missing, or not a number.
pub fn nothing_determined() -> Report {
    let mut row = ok_row(
        "rdtsc",
        "__rdtsc()",
        None,
        (f64::NAN, f64::INFINITY),
        f64::NAN,
        0.0,
    );
    row.quality = Some(Interval::unbounded(f64::NAN));
    row.status = Status::Failed;
    row.resolution = row.resolution.map(|resolution| Resolution {
        ticks: f64::NAN,
        ..resolution
    });
    let mut report = Report {
        platform: Platform::default(),
        frequency: Frequency::default(),
        ..report()
    };
    report.frequency.effective_hz = Some(Interval::unbounded(f64::NEG_INFINITY));
    report.settings.cpu = None;
    report.findings.clear();
    report.timers = vec![row];
    report
}

/// Clocks with the status `ok`, sorted by Quality.
fn resolved_clocks() -> Vec<TimerRow> {
    let tsc = Some(0.385_2);
    let mut rows = vec![
        ok_row("rdtsc", "__rdtsc()", tsc, (10.0149, 9.412), 1.0, 0.000_04),
        ok_row("rdtscp", "__rdtscp()", tsc, (10.0149, 18.07), 1.0, 0.000_1),
        ok_row(
            "monotonic",
            "clock_gettime(CLOCK_MONOTONIC)",
            Some(1.0),
            (10.0149, 22.94),
            0.9996,
            0.000_2,
        ),
        ok_row(
            "java:nanoTime",
            "System.nanoTime()",
            Some(1.0),
            (10.0149, 23.31),
            0.958,
            0.004,
        ),
        ok_row(
            "monotonic-syscall",
            "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)",
            Some(1.0),
            (10.0149, 244.1),
            0.994,
            0.001,
        ),
        ok_row(
            "thread-cputime",
            "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
            Some(1.0),
            (10.0149, 511.3),
            0.988,
            0.0021,
        ),
        ok_row(
            "gettimeofday",
            "gettimeofday()",
            Some(1000.0),
            (1000.0, 23.6),
            1.0,
            0.000_1,
        ),
        ok_row(
            "clock",
            "clock()",
            Some(1000.0),
            (1000.0, 542.0),
            1.0,
            0.001,
        ),
        ok_row(
            "monotonic-coarse",
            "clock_gettime(CLOCK_MONOTONIC_COARSE)",
            Some(1.0),
            (4e6, 4.94),
            1.0,
            0.003,
        ),
        ok_row("times", "times()", Some(1e7), (1e7, 546.2), 1.0, 0.001),
        ok_row(
            "monotonic-coarse-syscall",
            "syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE)",
            Some(1.0),
            (4e6, 231.0),
            1.0,
            0.003,
        ),
    ];
    rows.sort_by(|a, b| {
        value_of(b.quality)
            .partial_cmp(&value_of(a.quality))
            .expect("handmade figures are finite")
    });
    for row in &mut rows[2..6] {
        let cost = value_of(row.cost_ns).unwrap_or_default();
        row.findings.push(warning(
            "cost-exceeds-step",
            &format!("A read takes {cost:.1} ns, longer than the step of 10.0 ns: two readings never agree."),
            "Do not take a difference of one step for a duration; take the cost off, or time many calls at once.",
        ));
    }
    rows[0].figures = Some(plot_data());
    rows[0].distribution = Some(Distribution {
        modes: vec![
            Mode {
                ns: 9.412,
                share: 0.81,
            },
            Mode {
                ns: 11.8,
                share: 0.181,
            },
        ],
        within_ns: 0.4,
        between_ns: Some(0.031),
        process_ns: Vec::new(),
        process_cycles: Vec::new(),
        tail_share: 0.009,
    });
    rows[0].processes = vec![ProcessFigures {
        process: Some(0),
        cpu: Some(1),
        core: Core::Alone,
        width: Some(0.98),
        cost_ns: Some(9.41),
        amortised_ns: 8.4483,
        amortised_cycles: Some(31.2097),
        spread: Some(0.81),
    }];
    rows[8].findings.push(coarse_finding());
    rows[9].findings.push(coarse_finding());
    rows[3].findings.push(warning(
        "spread",
        "Single invocations have two modes, 20 ns and 31 ns.",
        "Report quartiles beside the median.",
    ));
    rows
}

/// Data for the plots of a counter that moves in steps of 26 ticks of 0.3852 ns.
fn plot_data() -> PlotData {
    let work: Vec<u64> = (0..60).collect();
    PlotData {
        staircase: Some(Staircase {
            ns_per_work: 1.35,
            ticks: work
                .iter()
                .map(|work| 26 * (1 + (3 * work + work % 7) / 26) as i64)
                .collect(),
            work,
            intervals: 7200,
        }),
        intervals: Some(IntervalHistogram {
            first_ticks: 25,
            width_ticks: 3,
            counts: (0..60)
                .map(|bin| if bin % 9 == 0 { 400 + bin } else { bin % 2 })
                .collect(),
            below: 0,
            above: 12,
        }),
        singles: Some(CostHistogram {
            first_ns: -6.2,
            width_ns: 10.0149,
            counts: vec![3, 2113, 2871, 13],
            below: 0,
            above: 2,
            own_readings: false,
        }),
    }
}

/// A clock that steps backwards, and clocks whose resolution is unknown.
fn unusual_clocks() -> Vec<TimerRow> {
    let mut bound = ok_row("time", "time()", Some(1e9), (1e9, 2.41), 1.0, 0.0);
    bound.status = Status::Unresolved;
    bound.resolution = bound.resolution.map(|resolution| Resolution {
        kind: ResolutionKind::AtMost,
        ..resolution
    });
    bound.resolution_at_most_ns = bound.resolution_ns.take();
    bound.quality = None;
    bound.reason = Some("it moved only 4 times in the time given".to_owned());
    bound.remedy = Some("give it more with --timeout 120".to_owned());
    let mut irregular = ok_row(
        "getrusage-thread",
        "getrusage(RUSAGE_THREAD)",
        Some(1000.0),
        (0.0, 295.0),
        1.0,
        0.0,
    );
    irregular.status = Status::Unresolved;
    (irregular.resolution, irregular.spread) = (None, None);
    (irregular.resolution_ns, irregular.quality) = (None, None);
    irregular.reason = Some("its steps are irregular".to_owned());
    let mut backward = ok_row(
        "py:time",
        "time.time() | <b>&amp; `x`\n| new | row |",
        None,
        (238.42, 36.0),
        1.0,
        0.0,
    );
    backward.quality = Some(Interval::exact(0.0));
    backward.findings.push(warning(
        "not-monotonic",
        "It went backward 3 times in 100000 readings.",
        "Do not measure durations with it.",
    ));
    vec![backward, irregular, bound]
}

/// Clocks that are unavailable or failed.
fn unmeasured_clocks() -> Vec<TimerRow> {
    let refusal = "the kernel does not let it be opened: perf_event_paranoid is 3";
    vec![
        row(
            "perf-cycles",
            "perf_event_open(CPU_CYCLES)",
            Status::Unavailable,
            refusal,
            Some("as root: sysctl kernel.perf_event_paranoid=1"),
        ),
        row(
            "rdpmc-cycles",
            "rdpmc",
            Status::Unavailable,
            refusal,
            Some("as root: sysctl kernel.perf_event_paranoid=1"),
        ),
        row(
            "QueryPerformanceCounter",
            "QueryPerformanceCounter()",
            Status::Unavailable,
            "only Windows has it",
            None,
        ),
        row(
            "java:cpu",
            "ThreadMXBean",
            Status::Failed,
            "the agent ended with signal 11 (SIGSEGV)",
            Some("run its command by hand"),
        ),
        row(
            "=evil:\u{1b}[31mred",
            "=HYPERLINK(\"http://evil\")|<script>&\u{202e}gnp.exe\n| a | b |",
            Status::Failed,
            "@SUM(A1)\r\n\u{1b}]0;owned\u{7}# not a heading, *no* [link](x) `code`",
            None,
        ),
    ]
}

/// A row with the status `ok`. Resolution and cost are in nanoseconds, `half` is about half of the
/// interval of its Quality.
fn ok_row(
    id: &str,
    label: &str,
    ns_per_tick: Option<f64>,
    (resolution, cost): (f64, f64),
    spread: f64,
    half: f64,
) -> TimerRow {
    let quality =
        (resolution * HZ * 1e-9).powf(-0.1) * (cost * HZ * 1e-9).powf(-0.1) * spread.sqrt();
    let mut row = row(id, label, Status::Ok, "", None);
    row.reason = None;
    row.ns_per_tick = ns_per_tick;
    row.resolution = Some(Resolution {
        ticks: resolution / ns_per_tick.unwrap_or(1.0),
        cycles: Some(resolution * HZ * 1e-9),
        kind: ResolutionKind::Resolved,
    });
    row.cost = Some(Cost {
        single_median_ns: Some(20.0),
        p99_ns: None,
        follows: None,
        reference: "rdtsc".to_owned(),
    });
    let interval = |value: f64, low: f64, high: f64| Some(Interval { value, low, high });
    row.resolution_ns = interval(resolution, resolution * 0.999, resolution * 1.001);
    row.cost_ns = interval(cost, cost * 0.99, cost * 1.01);
    row.cost_cycles = row.cost_ns.map(|cost_ns| cost_ns.scaled(HZ * 1e-9));
    row.amortised_ns = Some(cost * 0.9);
    row.spread = interval(spread, spread - 0.001, (spread + 0.001).min(1.0));
    row.quality = interval(quality, quality - half, quality + half * 0.9);
    row.observations = Some(Observations {
        processes: 5,
        disturbed_processes: 0,
        discarded_processes: 0,
        dropped_windows: [("shared-core".to_owned(), 12)].into(),
        intervals: 20_000,
        batched_calls: 1_000_000,
        single_calls: 50_000,
        backward_steps: 0,
        reference_resolution_ns: Some(10.0149),
        resolution_rule: Some("lattice".to_owned()),
    });
    row
}

fn row(id: &str, label: &str, status: Status, reason: &str, remedy: Option<&str>) -> TimerRow {
    let runtime = id.split_once(':').map_or("native", |(runtime, _)| runtime);
    let mut row = TimerRow::unmeasured(id, label, runtime, status);
    row.reason = Some(reason.to_owned());
    row.remedy = remedy.map(str::to_owned);
    row
}

fn coarse_finding() -> Finding {
    warning(
        "coarse",
        "It moves once in 4 ms, with the tick of the kernel.",
        "Use it for time stamps, not for durations below a second.",
    )
}

fn warning(code: &str, message: &str, advice: &str) -> Finding {
    Finding {
        code: code.to_owned(),
        severity: Severity::Note,
        values: values([("message", text(message)), ("advice", text(advice))]),
    }
}

fn platform() -> Platform {
    Platform {
        cpu: Cpu {
            architecture: "x86_64".to_owned(),
            vendor: Some("AuthenticAMD".to_owned()),
            model: Some("AMD EPYC 9R14 96-Core Processor".to_owned()),
            family: Some(25),
            model_number: Some(17),
            stepping: Some(1),
            microcode: Some("0xa101148".to_owned()),
            online: Some(2),
            allowed: Some(2),
            invariant_tsc: Some(true),
            smt: Some(true),
            threads_per_core: Some(2),
            core_list: Some("0-1".to_owned()),
            isolated: Some(String::new()),
            turbo: Some(true),
            ..Cpu::default()
        },
        os: Os {
            family: "linux".to_owned(),
            name: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
        },
        kernel: Kernel {
            name: Some("Linux".to_owned()),
            release: Some("6.18.0".to_owned()),
            version: Some("#1 SMP PREEMPT_DYNAMIC".to_owned()),
            tick_hz: Some(250),
            tick_source: Some("CONFIG_HZ in /boot".to_owned()),
            tickless: Some(Tickless::WhenIdle),
        },
        hypervisor: Some("KVMKVMKVM".to_owned()),
        vmclock: None,
        clocksource: ClockSource {
            vdso: Some(true),
            current: Some("tsc".to_owned()),
            available: ["tsc", "kvm-clock", "acpi_pm"].map(str::to_owned).to_vec(),
            parameters: Some(Vec::new()),
        },
        hypervisor_clocks: Some(vec!["kvm-clock".to_owned()]),
        product: None,
        tsc: Tsc {
            constant: Some(true),
            nonstop: Some(true),
            ..Tsc::default()
        },
        ntp: Some(Ntp {
            synchronised: true,
            slewing: false,
            rate_ppm: -11.25,
            frequency_ppm: -11.25,
            offset_ns: 0,
            tick_us: 10_000,
            estimated_error_us: 18,
        }),
        load: Some(Load {
            one_minute: 0.5,
            five_minutes: 0.25,
            fifteen_minutes: 0.125,
        }),
        cpus_of_others: Some(0.25),
        steal_share: Some(0.001),
        limits: Limits {
            container: Some("\u{1b}[31mdocker".to_owned()),
            cgroup: Some(2),
            cpu: Some(CpuQuota {
                cpus: Some(1.5),
                throttled_periods: Some(3),
            }),
            cpuset: None,
            memory: Some(MemoryLimit { bytes: None }),
            time_namespace: None,
        },
        perf_event_paranoid: None,
        waiting: Waiting::default(),
    }
}

fn frequency() -> Frequency {
    Frequency {
        nominal_hz: Some(2.6e9),
        nominal_source: Some("CPUID leaf 0x16".to_owned()),
        tsc_hz: Some(2.596e9),
        effective_hz: Some(Interval::with_ends(HZ, Some((3.6931e9, 3.6952e9)))),
        effective_hz_before: Some(HZ),
        effective_hz_after: Some(HZ),
        cycles_from: "effective".to_owned(),
        cycles_hz: Some(Interval::unbounded(HZ)),
    }
}
