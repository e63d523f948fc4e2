//! Parts of kept reports, with texts such as a hostile agent might send.

use estimators::model::{Estimate, Platform, Report, Status};
use judgement::assessment::assess;
use reporting::report::parse;
use reporting::text::cleaned;

const CLOCKS: &str =
    include_str!("../../../reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json");
const WAITS: &str = include_str!("../../../tests/fuzz/corpus/report/waits.json");
/// The clocks that are taken from the kept report: of every status and kind.
const IDS: [&str; 13] = [
    "rdtsc",
    "rdtscp",
    "monotonic",
    "monotonic-syscall",
    "thread-cputime",
    "gettimeofday",
    "clock",
    "monotonic-coarse",
    "times",
    "monotonic-coarse-syscall",
    "time",
    "getrusage-thread",
    "perf-cycles",
];

/// Texts that steer a terminal, or are a formula, a tag or a cell of a table.
const HOSTILE_ID: &str = "=evil:\u{1b}[31mred";
const HOSTILE_LABEL: &str =
    "=HYPERLINK(\"http://evil\")|<script>&\u{202e}gnp.exe\n| a | b | <b>&amp; `x`";
const HOSTILE_REASON: &str =
    "@SUM(A1)\r\n\u{1b}]0;owned\u{7}# not a heading, *no* [link](x) `code`";

/// A report of clocks.
pub fn report() -> Report {
    let mut report = parse(CLOCKS, "clocks").unwrap();
    report.timers.retain(|row| IDS.contains(&row.id.as_str()));
    let mut backward = report.timers[2].clone();
    (backward.head.id, backward.head.label) = ("py:time".into(), HOSTILE_LABEL.into());
    (backward.quality, backward.cost_ns) =
        (Some(Estimate::exact(0.0)), Some(Estimate::exact(36.0)));
    let mut hostile = report.timers.last().unwrap().clone();
    (hostile.head.id, hostile.head.label) = (HOSTILE_ID.into(), HOSTILE_LABEL.into());
    (hostile.head.status, hostile.head.reason) = (Status::Failed, Some(HOSTILE_REASON.into()));
    report.timers.extend([backward, hostile]);
    assess(&mut report);
    cleaned(report)
}

/// A report in which every figure that may be missing is missing, or not a number.
pub fn nothing_determined() -> Report {
    let mut report = report();
    (report.platform, report.frequency) = (Platform::default(), Default::default());
    report.frequency.effective_hz = Some(Estimate::unbounded(f64::NEG_INFINITY));
    report.settings.cpu = None;
    report.findings.clear();
    report.timers.truncate(1);
    let row = &mut report.timers[0];
    row.head.status = Status::Failed;
    let nan = Some(Estimate::unbounded(f64::NAN));
    (row.quality, row.resolution_ns, row.spread) = (nan, nan, nan);
    row.cost_ns = Some(Estimate::unbounded(f64::INFINITY));
    (row.cost, row.amortised_ns, row.verdicts) = (None, None, None);
    if let Some(resolution) = &mut row.resolution {
        resolution.ticks = f64::NAN;
    }
    assess(&mut report);
    report
}

/// A report of sleep primitives.
pub fn report_of_waits() -> Report {
    let mut report = parse(WAITS, "waits").unwrap();
    report.periods.clear();
    let mut refused = report.waits[0].clone();
    (refused.head.status, refused.figures) = (Status::Unavailable, None);
    refused.head.id = "select".into();
    refused.head.remedy = Some("run as root, or raise the limit RLIMIT_RTPRIO".into());
    let mut hostile = refused.clone();
    (hostile.head.id, hostile.head.label) = (HOSTILE_ID.into(), HOSTILE_LABEL.into());
    hostile.head.reason = Some(HOSTILE_REASON.into());
    report.waits.extend([refused, hostile]);
    cleaned(report)
}

/// A report of periodic timers.
pub fn report_of_periods() -> Report {
    let mut report = parse(WAITS, "waits").unwrap();
    report.waits.clear();
    let mut lost = report.periods[0].clone();
    lost.head.id = "py:lost".into();
    (lost.head.status, lost.figures) = (Status::Failed, None);
    lost.head.reason = Some("agent `py` ended with signal 9".into());
    report.periods.push(lost);
    report
}
