//! Checks whether a machine is fit for measurements: makes the findings of `timermeter check` from
//! the facts about a platform. docs/check.md gives the reasons for the thresholds.

mod clock_source;
mod wordings;

pub use clock_source::report_tsc_conflict;
pub(super) use wordings::MACHINE;

use super::judgement::{Judgement, finding, is_x86, judgement, reason, unknown, with_known};
use super::{count, ns, number, text};
use crate::model::Severity::{Note, Ok, Problem, Unknown};
use crate::model::{CoreKind, Finding, Platform, Tickless, Unit};

/// The largest frequency correction, in parts per million, that a time daemon applies continuously
/// (adjtimex(2)). A larger value means that a correction of the time is in progress; results in
/// nanoseconds are then wrong by more than 0.05 %.
const MAX_TRIM_PPM: f64 = 500.0;
/// The largest harmless share of the time in which CPUs had work but the hypervisor ran other
/// guests. A larger share affects the 99th percentile.
const MAX_STEAL_SHARE: f64 = 0.01;
/// The largest harmless load of a machine with one CPU: the number of threads that want to run.
const MAX_LOAD_ONE_CPU: f64 = 0.5;
/// The highest `perf_event_paranoid` level at which unprivileged programs may count their own
/// cycles (Documentation/admin-guide/sysctl/kernel.rst); Debian and Android define higher levels.
const MAX_UNPRIVILEGED_LEVEL: i32 = 2;
/// The largest timer slack that has no visible effect on a wait, in nanoseconds.
const MAX_SLACK_NS: u64 = 1_000;
/// The longest exit latency of an idle state, in microseconds, that is small compared with the
/// lateness that the kernel itself causes.
const MAX_EXIT_LATENCY_US: u64 = 20;

/// A check of a machine: the code of its finding, whether only Linux reports the checked value, and
/// the function that judges the value. The severity is `Unknown` if the machine does not report the
/// value.
type Check = (&'static str, bool, fn(&Platform) -> Judgement);

const CHECKS: [Check; 18] = [
    ("clock-source", false, clock_source::judge_clock_source),
    ("tsc", false, clock_source::judge_tsc),
    ("ntp", true, judge_time_service),
    ("governor", true, judge_governor),
    ("turbo", false, judge_turbo),
    ("smt", false, judge_smt),
    ("isolated", true, judge_isolation),
    ("cpus-allowed", false, judge_allowed_cpus),
    ("core-kinds", true, judge_core_kinds),
    ("load", false, judge_load),
    ("cpu-quota", true, judge_cpu_quota),
    ("steal", false, judge_steal),
    ("hypervisor", false, judge_hypervisor),
    ("tick", true, judge_tick),
    ("perf-event-paranoid", true, judge_performance_counters),
    ("high-resolution-timers", true, judge_high_resolution),
    ("timer-slack", true, judge_timer_slack),
    ("idle-states", true, judge_idle_states),
];

/// Returns all findings about a machine, the most severe first; findings of equal severity keep the
/// order of the table.
#[must_use]
pub fn judge(platform: &Platform) -> Vec<Finding> {
    let (linux, x86) = (platform.os.family == "linux", is_x86(platform));
    let judged = CHECKS.iter().filter_map(|(code, only_linux, judge)| {
        let judgement = judge(platform);
        let applies = linux || judgement.0 != Unknown || !only_linux;
        (applies && (x86 || *code != "tsc")).then(|| finding(code, judgement))
    });
    let mut findings: Vec<Finding> = judged.collect();
    findings.extend(report_tsc_conflict(platform));
    findings.extend(judge_power_plan(platform));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Returns whether the machine is fit for a measurement: none of its findings is a problem.
#[must_use]
pub fn is_fit(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity != Problem)
}

/// Reports the last run of `timermeter watch`: the date of its start, its duration (`None` if it
/// was ended from outside), and the numbers of recorded events by kind (`None` without events).
#[must_use]
pub fn report_watch(date: &str, lasted: Option<String>, events: Option<String>) -> Finding {
    let severity = if events.is_some() { Note } else { Ok };
    let lasted = lasted.unwrap_or_else(|| "a watch that did not end by itself".into());
    let judgement = judgement(severity, [("date", text(date)), ("lasted", text(lasted))]);
    finding(
        "watched",
        with_known(judgement, [("events", events.map(text))]),
    )
}

/// Reports the lines of the log of `timermeter watch` that cannot be read, by their numbers; `None`
/// without any. `path` is the path of the log.
#[must_use]
pub fn report_damaged_log(lines: &[usize], path: &str) -> Option<Finding> {
    let (first, others) = lines.split_first()?;
    let judged = judgement(Note, [("first", count(*first)), ("log", text(path))]);
    let others = (!others.is_empty()).then(|| count(others.len()));
    Some(finding(
        "watch-log",
        with_known(judged, [("others", others)]),
    ))
}

/// Reports the clocks as the C library reads them: by how many nanoseconds the worst of them lies
/// outside its system call, with its id, or the reason why no program can read them.
#[must_use]
pub fn report_library_clocks(worst: Result<(i64, &str), String>) -> Finding {
    let judged = match worst {
        Result::Ok((..=0, _)) => judgement(Ok, []),
        Result::Ok((by, clock)) => {
            judgement(Problem, [("clock", text(clock)), ("by", ns(by as f64))])
        }
        Err(why) => judgement(Problem, [("why", text(why))]),
    };
    finding("libc-clock", judged)
}

/// Returns whether a list of CPUs is empty.
fn is_empty(list: &str) -> bool {
    list.trim().is_empty()
}

fn judge_time_service(platform: &Platform) -> Judgement {
    let Some(ntp) = &platform.ntp else {
        return unknown();
    };
    let rate = ("rate", number(ntp.rate_ppm, Unit::Ppm));
    if ntp.rate_ppm.is_nan() || ntp.rate_ppm.abs() > MAX_TRIM_PPM {
        judgement(Problem, [rate, ("most", number(MAX_TRIM_PPM, Unit::Ppm))])
    } else if ntp.slewing {
        judgement(
            Note,
            [reason("slewing"), rate, ("left", ns(ntp.offset_ns as f64))],
        )
    } else if !ntp.synchronised {
        judgement(Note, [reason("free"), rate])
    } else {
        judgement(Ok, [rate])
    }
}

fn judge_governor(platform: &Platform) -> Judgement {
    let cpu = &platform.cpu;
    let judged = match cpu.governor.as_deref() {
        None => return unknown(),
        Some("performance") => judgement(Ok, []),
        Some("userspace") => judgement(Note, []),
        Some(governor) => judgement(Problem, [("governor", text(governor))]),
    };
    with_known(judged, [("driver", cpu.frequency_driver.clone().map(text))])
}

/// Judges the power plan. `None` on systems other than Windows, which have none.
fn judge_power_plan(platform: &Platform) -> Option<Finding> {
    let plan = platform.cpu.power_plan.as_deref()?;
    let fast = ["High performance", "Ultimate Performance"].contains(&plan);
    let severity = if fast { Ok } else { Problem };
    Some(finding(
        "power-plan",
        judgement(severity, [("plan", text(plan))]),
    ))
}

fn judge_turbo(platform: &Platform) -> Judgement {
    match platform.cpu.turbo {
        Some(false) => judgement(Ok, []),
        Some(true) => judgement(Problem, []),
        None => unknown(),
    }
}

fn judge_smt(platform: &Platform) -> Judgement {
    let cpu = &platform.cpu;
    let hypervisor = ("hypervisor", platform.hypervisor.clone().map(text));
    match (cpu.threads_per_core, cpu.smt) {
        (Some(1), _) | (None, Some(false)) => with_known(judgement(Ok, []), [hypervisor]),
        (Some(threads), _) => with_known(
            judgement(Note, [("threads", count(threads))]),
            [("list", cpu.core_list.clone().map(text)), hypervisor],
        ),
        (None, Some(true)) => judgement(Note, [reason("which")]),
        (None, None) => unknown(),
    }
}

fn judge_isolation(platform: &Platform) -> Judgement {
    match platform.cpu.isolated.as_deref() {
        Some(list) if is_empty(list) => judgement(Note, []),
        Some(list) => judgement(Ok, [("list", text(list))]),
        None => unknown(),
    }
}

fn judge_allowed_cpus(platform: &Platform) -> Judgement {
    let cpu = &platform.cpu;
    let judged = match (cpu.allowed, cpu.online) {
        (None | Some(0), _) => return unknown(),
        (Some(1), Some(1)) => return judgement(Problem, [reason("only")]),
        (Some(1), _) => judgement(Problem, []),
        (Some(allowed), Some(online)) if allowed < online => judgement(
            Note,
            [("allowed", count(allowed)), ("online", count(online))],
        ),
        (Some(allowed), _) => judgement(Ok, [("allowed", count(allowed))]),
    };
    with_known(judged, [("list", cpu.allowed_list.clone().map(text))])
}

fn judge_core_kinds(platform: &Platform) -> Judgement {
    let Some(kinds) = platform.cpu.core_kinds.as_deref() else {
        return unknown();
    };
    if kinds.len() < 2 {
        return judgement(Ok, []);
    }
    let kind = |kind: &CoreKind| match &kind.list {
        Some(list) => format!("{}: {list}", kind.name),
        None => kind.name.clone(),
    };
    let all = kinds.iter().map(kind).collect::<Vec<_>>().join("; ");
    with_known(
        judgement(Note, [("kinds", count(kinds.len())), ("all", text(all))]),
        [("measured", platform.cpu.core_kind.clone().map(text))],
    )
}

fn judge_load(platform: &Platform) -> Judgement {
    let cpus = platform
        .cpu
        .online
        .or(platform.cpu.allowed)
        .filter(|cpus| *cpus > 0);
    let (Some(load), Some(cpus)) = (platform.load, cpus) else {
        return unknown();
    };
    // One CPU must remain free for the measurement.
    let most = f64::from(cpus - 1).max(MAX_LOAD_ONE_CPU);
    let severity = if load.one_minute > most { Problem } else { Ok };
    judgement(
        severity,
        [
            ("load", number(load.one_minute, Unit::Ratio)),
            ("cpus", count(cpus)),
        ],
    )
}

fn judge_cpu_quota(platform: &Platform) -> Judgement {
    let Some(quota) = platform.limits.cpu else {
        return unknown();
    };
    // Threads cannot use more CPU time than there are CPUs.
    let allowed = platform.cpu.allowed.map(f64::from);
    let Some(cpus) = quota
        .cpus
        .filter(|cpus| allowed.is_none_or(|allowed| *cpus < allowed))
    else {
        return judgement(Ok, []);
    };
    let periods = quota.throttled_periods.filter(|periods| *periods > 0);
    with_known(
        judgement(Problem, [("cpus", number(cpus, Unit::Ratio))]),
        [("periods", periods.map(count))],
    )
}

fn judge_steal(platform: &Platform) -> Judgement {
    let Some(share) = platform.steal_share else {
        return unknown();
    };
    let severity = if share > MAX_STEAL_SHARE { Problem } else { Ok };
    judgement(severity, [("share", number(share, Unit::Share))])
}

fn judge_hypervisor(platform: &Platform) -> Judgement {
    let clocks = platform.hypervisor_clocks.as_deref().unwrap_or_default();
    let clocks = (!clocks.is_empty()).then(|| text(clocks.join(", ")));
    match platform.hypervisor.as_deref().map(text) {
        Some(name) if platform.emulator().is_some() => judgement(Problem, [("name", name)]),
        Some(name) => with_known(judgement(Note, [("name", name)]), [("clocks", clocks)]),
        None if is_x86(platform) => judgement(Ok, []),
        None => unknown(),
    }
}

fn judge_tick(platform: &Platform) -> Judgement {
    let (kernel, tickless_cpus) = (&platform.kernel, platform.cpu.nohz_full.as_deref());
    if let Some(list) = tickless_cpus.filter(|list| !is_empty(list)) {
        return judgement(Ok, [("list", text(list))]);
    }
    if tickless_cpus.is_none()
        && !matches!(kernel.tickless, Some(Tickless::Never | Tickless::WhenIdle))
    {
        return unknown();
    }
    let rate = kernel
        .tick_hz
        .map(|hertz| text(format!("{hertz} times a second")));
    with_known(judgement(Note, []), [("rate", rate)])
}

fn judge_performance_counters(platform: &Platform) -> Judgement {
    let Some(level) = platform.perf_event_paranoid else {
        return unknown();
    };
    let severity = if level <= MAX_UNPRIVILEGED_LEVEL {
        Ok
    } else {
        Note
    };
    judgement(severity, [("level", text(level.to_string()))])
}

fn judge_high_resolution(platform: &Platform) -> Judgement {
    let tick = platform.kernel.tick_hz;
    let tick = tick.map(|hertz| ns(1e9 / f64::from(hertz.max(1))));
    match platform.waiting.high_resolution {
        None => unknown(),
        Some(true) => judgement(Ok, []),
        Some(false) => with_known(judgement(Problem, []), [("tick", tick)]),
    }
}

fn judge_timer_slack(platform: &Platform) -> Judgement {
    let Some(slack) = platform.waiting.timer_slack_ns else {
        return unknown();
    };
    let severity = if slack <= MAX_SLACK_NS { Ok } else { Note };
    judgement(severity, [("slack", ns(slack as f64))])
}

fn judge_idle_states(platform: &Platform) -> Judgement {
    let Some(states) = &platform.waiting.idle_states else {
        return unknown();
    };
    let enabled = states.iter().filter(|state| !state.disabled);
    match enabled.max_by_key(|state| state.exit_latency_us) {
        Some(state) if state.exit_latency_us > MAX_EXIT_LATENCY_US => judgement(
            Note,
            [
                ("state", text(state.name.clone())),
                ("exit", ns(state.exit_latency_us as f64 * 1e3)),
            ],
        ),
        _ => judgement(Ok, []),
    }
}
