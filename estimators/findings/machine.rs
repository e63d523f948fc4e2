//! Findings about the machine before a measurement: the checks that `check` makes on an identified
//! platform.
//!
//! Each threshold is defined next to its check; docs/check.md gives the reasons.

use timers::clock_sources::{self, Reader, TIME_STAMP_COUNTER};

use super::{Wording, count, ns, number, text, values};
use crate::model::Severity::{Note, Ok, Problem, Unknown};
use crate::model::{
    ClockSource, CoreKind, Finding, Platform, Severity, Tickless, Unit, Value, Values,
};

/// The largest frequency correction, in parts per million, that a time daemon applies continuously
/// (adjtimex(2)). A larger value means that a correction of the time is in progress; results in
/// nanoseconds are then wrong by more than 0.05 %.
const MOST_TRIM_PPM: f64 = 500.0;
/// The largest harmless share of CPU time stolen by the hypervisor. Above this share, stolen time
/// affects the 99th percentile.
const MOST_STOLEN: f64 = 0.01;
/// The largest harmless load of a machine with one CPU, in threads besides the measurement.
const LOAD_OF_ONE: f64 = 0.5;
/// The highest `perf_event_paranoid` level at which unprivileged programs may count their own
/// cycles (Documentation/admin-guide/sysctl/kernel.rst); Debian and Android define higher levels.
const OPEN_TO_ALL: i32 = 2;
/// The largest timer slack that has no visible effect on a wait, in nanoseconds.
const LITTLE_SLACK_NS: u64 = 1_000;
/// The longest exit latency of an idle state, in microseconds, that is small compared with the
/// lateness that the kernel itself causes.
const SLOW_EXIT_US: u64 = 20;

/// The severity of a finding and the values for its message.
pub(super) type Judged = (Severity, Values);

/// A check of every machine: the code of the finding, whether only Linux supports the check, and
/// the function that performs it. The severity is `Unknown` if the machine does not report the
/// value.
type Check = (&'static str, bool, fn(&Platform) -> Judged);

const CHECKS: [Check; 18] = [
    ("clock-source", false, clock_source),
    ("tsc", false, tsc),
    ("ntp", true, discipline),
    ("governor", true, governor),
    ("turbo", false, turbo),
    ("smt", false, smt),
    ("isolated", true, isolated),
    ("cpus-allowed", false, allowed),
    ("core-kinds", true, core_kinds),
    ("load", false, load),
    ("cpu-quota", true, quota),
    ("steal", false, steal),
    ("hypervisor", false, hypervisor),
    ("tick", true, tick),
    ("perf-event-paranoid", true, performance_counters),
    ("high-resolution-timers", true, high_resolution),
    ("timer-slack", true, timer_slack),
    ("idle-states", true, idle_states),
];

/// Returns all findings about a machine, the most severe first; findings of equal severity keep the
/// order of the table.
#[must_use]
pub fn judge(platform: &Platform) -> Vec<Finding> {
    let (linux, x86) = (platform.os.family == "linux", is_x86(platform));
    let judged = CHECKS.iter().filter_map(|(code, only_linux, judge)| {
        let (severity, values) = judge(platform);
        let applies = linux || severity != Unknown || !only_linux;
        (applies && (x86 || *code != "tsc")).then(|| Finding {
            code: (*code).to_owned(),
            severity,
            values,
        })
    });
    let mut findings: Vec<Finding> = judged.collect();
    findings.extend(conflict(platform));
    findings.extend(power_plan(platform));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Returns whether the machine is fit for a measurement: none of its findings is a problem.
#[must_use]
pub fn is_fit(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity != Problem)
}

/// Reports the last run of `watch`: when it began, how long it lasted if it ended by itself, and
/// how many events of each kind it saw.
#[must_use]
pub fn watched(date: &str, lasted: Option<String>, events: Option<String>) -> Finding {
    let severity = if events.is_some() { Note } else { Ok };
    let lasted = lasted.unwrap_or_else(|| "a watch that did not end by itself".into());
    let mut all = values([("date", text(date)), ("lasted", text(lasted))]);
    all.extend(events.map(|events| ("events".to_owned(), text(events))));
    Finding {
        code: "watched".into(),
        severity,
        values: all,
    }
}

/// Reports a contradiction between the kernel and CPUID about the counter.
#[must_use]
pub fn conflict(platform: &Platform) -> Option<Finding> {
    let invariant = platform.invariant_counter();
    let word = |yes| text(if yes { "invariant" } else { "not invariant" });
    let (kernel, cpuid) = (word(invariant.value?), word(platform.cpu.invariant_tsc?));
    invariant.conflict.then(|| Finding {
        code: "tsc-conflict".into(),
        severity: Note,
        values: values([("kernel", kernel), ("cpuid", cpuid)]),
    })
}

pub(super) const fn wording(
    code: &'static str,
    severity: Severity,
    reason: &'static str,
    message: &'static str,
    advice: &'static str,
) -> Wording {
    Wording {
        code,
        severity,
        reason,
        message,
        advice,
    }
}

const READ_LOG: &str = "`dmesg | grep -i -e tsc -e clocksource` gives the reason";
const SYNCHRONISE: &str = "wait until the clock is synchronised (`chronyc tracking`, `timedatectl timesync-status`), or \
                           measure with monotonic-raw or rdtsc, which are not trimmed";
const WIDEN: &str = "start it with a wider CPU set (taskset, --cpuset-cpus of the container)";
const NO_SMT: &str = "keep the others idle, or switch simultaneous multithreading off (Linux, as root: `echo off > \
                      /sys/devices/system/cpu/smt/control`)";

/// The wordings of the findings, in the order of [`CHECKS`].
pub(super) static MACHINE: &[Wording] = &[
    wording(
        "clock-source",
        Unknown,
        "foreign",
        "the clock source is {current}, which this program does not know",
        "compare `monotonic` with `monotonic-syscall` to see whether the vDSO reads it",
    ),
    wording(
        "clock-source",
        Unknown,
        "",
        "the clock source of the kernel is not reported by this machine",
        "",
    ),
    wording(
        "clock-source",
        Problem,
        "no-vdso",
        "the clock source is {current}, but there is no vDSO, so that every read of a kernel clock is a system call",
        "remove vdso=0 from the kernel's command line; an emulator has no vDSO",
    ),
    wording(
        "clock-source",
        Problem,
        "",
        "the clock source is {current}: {what}, so that every read of a kernel clock is a system call< ({cause})>",
        "{remedy}",
    ),
    wording(
        "clock-source",
        Note,
        "page",
        "the clock source is {current}: the vDSO reads the time stamp counter and a page of the hypervisor, which costs some nanoseconds more than the counter alone",
        "",
    ),
    wording(
        "clock-source",
        Note,
        "conditional",
        "the clock source is {current}: the vDSO is used only where the hypervisor vouches for its counter; otherwise `monotonic` costs as much as `monotonic-syscall`",
        "where the time stamp counter can be trusted, {remedy}",
    ),
    wording(
        "clock-source",
        Ok,
        "",
        "the clock source is {current}: an instruction, read in user mode",
        "",
    ),
    wording(
        "tsc",
        Unknown,
        "",
        "whether the time stamp counter runs at a constant rate is not reported by this machine",
        "",
    ),
    wording(
        "tsc",
        Problem,
        "stops",
        "the time stamp counter stops in deep idle states: times across a sleep are too short",
        "start with processor.max_cstate=1 (Intel: intel_idle.max_cstate=1), or use the kernel's clocks",
    ),
    wording(
        "tsc",
        Problem,
        "varies",
        "the time stamp counter is not invariant: its rate follows the frequency of the core, or this machine does not say otherwise",
        "use the kernel's clocks; in a virtual machine, let the guest see the invariant counter of the host",
    ),
    wording(
        "tsc",
        Problem,
        "distrusted",
        "the kernel's command line says not to trust the time stamp counter",
        "remove notsc or tsc=unstable from it, unless there is a known reason",
    ),
    wording(
        "tsc",
        Problem,
        "refused",
        "the time stamp counter is invariant, but the kernel does not offer it as a clock source: it found it unstable, or the counters of the CPUs disagree",
        "`dmesg | grep -i tsc` gives the reason; until then, do not compare readings of different CPUs",
    ),
    wording(
        "tsc",
        Ok,
        "",
        "the time stamp counter runs at a constant rate in all power states",
        "",
    ),
    wording(
        "tsc-conflict",
        Note,
        "",
        "by the kernel's flags the time stamp counter is {kernel}, by CPUID it is {cpuid}: the kernel's flags count",
        "use the kernel's clocks until `dmesg | grep -i tsc` has given the reason",
    ),
    wording(
        "ntp",
        Unknown,
        "",
        "who steers the clock (adjtimex(2)) is not reported by this machine",
        "",
    ),
    wording(
        "ntp",
        Problem,
        "",
        "the clock runs {rate} off the rate of the hardware, more than the {most} that correct any sound oscillator: times in nanoseconds are off by as much",
        SYNCHRONISE,
    ),
    wording(
        "ntp",
        Note,
        "slewing",
        "the clock is being slewed ({rate} now, {left} to go): its rate will change when that is over",
        SYNCHRONISE,
    ),
    wording(
        "ntp",
        Note,
        "free",
        "the clock is not disciplined by NTP (trimmed by {rate}): durations are good to some tens of ppm, the time of day may be wrong",
        "start an NTP client where the time of day matters",
    ),
    wording(
        "ntp",
        Ok,
        "",
        "the clock is disciplined by NTP; its rate is trimmed by {rate}",
        "",
    ),
    wording(
        "governor",
        Unknown,
        "",
        "the frequency governor is not reported by this machine",
        "compare the effective frequency before and after in the report",
    ),
    wording(
        "governor",
        Problem,
        "",
        "the governor is {governor}< ({driver})>: the frequency follows the load, and with it every cost",
        "as root, `cpupower frequency-set -g performance`",
    ),
    wording(
        "governor",
        Note,
        "",
        "the governor is userspace< ({driver})>: the frequency stays where some program has set it",
        "",
    ),
    wording(
        "governor",
        Ok,
        "",
        "the governor is performance< ({driver})>",
        "",
    ),
    wording(
        "turbo",
        Unknown,
        "",
        "whether turbo is on is not reported by this machine",
        "",
    ),
    wording(
        "turbo",
        Problem,
        "",
        "turbo is on: above the nominal frequency a core runs as fast as its temperature and its neighbours let it, so costs change between runs",
        "as root, `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`, or `echo 0 > /sys/devices/system/cpu/cpufreq/boost`",
    ),
    wording("turbo", Ok, "", "turbo is off", ""),
    wording(
        "smt",
        Unknown,
        "",
        "whether CPUs share a core is not reported by this machine",
        "",
    ),
    wording(
        "smt",
        Note,
        "",
        "{threads} CPUs share a core< ({list})>< (by {hypervisor})>: what runs on the others takes from its units and caches",
        NO_SMT,
    ),
    wording(
        "smt",
        Note,
        "which",
        "cores run several threads; which CPUs share one is not shown",
        NO_SMT,
    ),
    wording(
        "smt",
        Ok,
        "",
        "no other CPU shares the core that is measured on< (by {hypervisor})>",
        "",
    ),
    wording(
        "isolated",
        Unknown,
        "",
        "whether CPUs are isolated is not reported by this machine",
        "",
    ),
    wording(
        "isolated",
        Note,
        "",
        "no CPU is isolated: the scheduler may run anything on the CPU that measures",
        "where figures have to be steady, start the kernel with isolcpus=N and measure with --cpu N",
    ),
    wording(
        "isolated",
        Ok,
        "",
        "CPUs {list} are isolated; measure on one of them with --cpu",
        "",
    ),
    wording(
        "cpus-allowed",
        Unknown,
        "",
        "which CPUs may be used is not reported by this machine",
        "",
    ),
    wording(
        "cpus-allowed",
        Problem,
        "",
        "only one CPU may be used< ({list})>: whatever else runs there interrupts the measurement, and clocks cannot be compared between CPUs",
        WIDEN,
    ),
    wording(
        "cpus-allowed",
        Problem,
        "only",
        "there is only one CPU: whatever else runs interrupts the measurement, and clocks cannot be compared between CPUs",
        "use a machine of two CPUs or more",
    ),
    wording(
        "cpus-allowed",
        Note,
        "",
        "{allowed} of {online} online CPUs may be used< ({list})>",
        WIDEN,
    ),
    wording(
        "cpus-allowed",
        Ok,
        "",
        "{allowed} CPUs may be used< ({list})>",
        "",
    ),
    wording(
        "core-kinds",
        Unknown,
        "",
        "whether cores are of several kinds is not reported by this machine",
        "",
    ),
    wording(
        "core-kinds",
        Note,
        "",
        "cores are of {kinds} kinds ({all}): costs hold for the kind they were measured on<, here {measured}>",
        "measure on one CPU of each kind, with --cpu N, and compare the reports",
    ),
    wording("core-kinds", Ok, "", "all cores are of one kind", ""),
    wording(
        "load",
        Unknown,
        "",
        "how busy the machine is is not reported by this machine",
        "",
    ),
    wording(
        "load",
        Problem,
        "",
        "{load} threads wanted to run, as the mean of the last minute, on {cpus} CPUs: none is left for the measurement",
        "end what runs (`top` shows it), and wait a minute",
    ),
    wording(
        "load",
        Ok,
        "",
        "{load} threads wanted to run, as the mean of the last minute, on {cpus} CPUs",
        "",
    ),
    wording(
        "cpu-quota",
        Unknown,
        "",
        "whether a container limits CPU time is not reported by this machine",
        "",
    ),
    wording(
        "cpu-quota",
        Problem,
        "",
        "a control group limits CPU time to {cpus} CPUs: when that is used up, every thread is stopped for tens of milliseconds<; it has been stopped in {periods} periods so far>",
        "start the container without a CPU limit; give it CPUs of its own instead (--cpuset-cpus)",
    ),
    wording(
        "cpu-quota",
        Ok,
        "",
        "no control group limits CPU time below the CPUs that may be used",
        "",
    ),
    wording(
        "steal",
        Unknown,
        "",
        "whether a hypervisor gives the CPUs to others is not reported by this machine",
        "",
    ),
    wording(
        "steal",
        Problem,
        "",
        "{share} of the time in which CPUs had something to run, the hypervisor ran others: clocks went on meanwhile",
        "use a machine with CPUs of its own, or another hour",
    ),
    wording(
        "steal",
        Ok,
        "",
        "{share} of the time in which CPUs had something to run was stolen",
        "",
    ),
    wording(
        "hypervisor",
        Unknown,
        "",
        "whether this is a virtual machine is not reported by this machine",
        "",
    ),
    wording(
        "hypervisor",
        Problem,
        "",
        "{name} carries out this program: what a read costs is the emulator's doing, and clocks are those of the machine beneath it",
        "run a build for this machine, or measure on a machine of that kind",
    ),
    wording(
        "hypervisor",
        Note,
        "",
        "this is a guest of {name}< (its clocks: {clocks})>: the host may take the CPU away at any time, and the machine reports what the host lets it report",
        "measure on bare metal where the figures have to hold for it",
    ),
    wording("hypervisor", Ok, "", "no hypervisor was detected", ""),
    wording(
        "tick",
        Unknown,
        "",
        "whether the timer interrupt stops while one thread runs is not reported by this machine",
        "",
    ),
    wording(
        "tick",
        Note,
        "",
        "the timer interrupt comes< {rate}> on a CPU that runs something",
        "where the tail of the distribution matters, start the kernel with nohz_full=N, if it was built for that",
    ),
    wording(
        "tick",
        Ok,
        "",
        "CPUs {list} have no timer interrupt while one thread runs; measure on one of them with --cpu",
        "",
    ),
    wording(
        "perf-event-paranoid",
        Unknown,
        "",
        "kernel.perf_event_paranoid is not reported by this machine",
        "",
    ),
    wording(
        "perf-event-paranoid",
        Note,
        "",
        "kernel.perf_event_paranoid is {level}: perf-cycles, rdpmc-cycles and perf-task-clock need a privilege",
        "as root, `sysctl kernel.perf_event_paranoid=2`",
    ),
    wording(
        "perf-event-paranoid",
        Ok,
        "",
        "kernel.perf_event_paranoid is {level}: programs may count their own cycles",
        "",
    ),
    wording(
        "high-resolution-timers",
        Unknown,
        "",
        "whether timers have a high resolution is not reported by this machine",
        "",
    ),
    wording(
        "high-resolution-timers",
        Problem,
        "",
        "timers go by the tick<, {tick:short}>: every wait is rounded up to a tick and one more",
        "start the kernel without highres=off and nohz=off, and with a clock source that permits high resolution (tsc)",
    ),
    wording(
        "high-resolution-timers",
        Ok,
        "",
        "timers have a high resolution: waits do not go by the tick",
        "",
    ),
    wording(
        "timer-slack",
        Unknown,
        "",
        "the timer slack of threads is not reported by this machine",
        "",
    ),
    wording(
        "timer-slack",
        Note,
        "",
        "the timer slack is {slack:short}: sleeps, polls and futexes of threads that are not of a real-time policy may wake that much later; timerfd and POSIX timers do not",
        "where waits have to end in time, call prctl(PR_SET_TIMERSLACK, 1) in the thread that waits, or write 1 to /proc/PID/timerslack_ns",
    ),
    wording(
        "timer-slack",
        Ok,
        "",
        "the timer slack is {slack:short}: the kernel does not put off waking to wake several at once",
        "",
    ),
    wording(
        "idle-states",
        Unknown,
        "",
        "which idle states (C-states) CPUs enter is not reported by this machine",
        "",
    ),
    wording(
        "idle-states",
        Note,
        "",
        "an idle CPU may enter {state} and takes {exit:short} to leave it: waits on a quiet machine end that much later, and what follows runs slower at first",
        "as root, `cpupower idle-set -D 20`, or hold /dev/cpu_dma_latency open with 0 written to it (as cyclictest does by default)",
    ),
    wording(
        "idle-states",
        Ok,
        "",
        "no idle state (C-state) in use takes long to leave",
        "",
    ),
    wording(
        "power-plan",
        Problem,
        "",
        "the power plan is {plan}: the frequency may follow the load, and with it every cost",
        "`powercfg /setactive SCHEME_MIN` sets High performance, SCHEME_BALANCED the default",
    ),
    wording("power-plan", Ok, "", "the power plan is {plan}", ""),
    wording(
        "watched",
        Note,
        "",
        "in {lasted} from {date} on: {events}",
        "`timermeter watch 8h --save` watches again; the file that it appends to has each event with its cause",
    ),
    wording(
        "watched",
        Ok,
        "",
        "nothing happened to the clocks in {lasted} from {date} on",
        "",
    ),
];

pub(super) fn unknown() -> Judged {
    (Unknown, Values::new())
}

pub(super) fn found<const N: usize>(severity: Severity, given: [(&str, Value); N]) -> Judged {
    (severity, values(given))
}

/// Combines values that are only available in some cases.
pub(super) fn optional<const N: usize>(
    (severity, mut all): Judged,
    given: [(&str, Option<Value>); N],
) -> Judged {
    for (name, value) in given {
        all.extend(value.map(|value| (name.to_owned(), value)));
    }
    (severity, all)
}

pub(super) fn because(reason: &str) -> (&str, Value) {
    ("reason", text(reason))
}

pub(super) fn is_x86(platform: &Platform) -> bool {
    platform.cpu.architecture.starts_with("x86")
}

fn is_empty(list: &str) -> bool {
    list.trim().is_empty()
}

fn clock_source(platform: &Platform) -> Judged {
    let source = &platform.clocksource;
    let Some(name) = source.current.as_deref() else {
        return unknown();
    };
    let current = ("current", text(name));
    let Some(known) = clock_sources::find(name) else {
        return found(Unknown, [because("foreign"), current]);
    };
    match known.reader {
        Reader::Instruction | Reader::SharedPage if source.vdso == Some(false) => {
            found(Problem, [because("no-vdso"), current])
        }
        Reader::Instruction => found(Ok, [current]),
        Reader::SharedPage => found(Note, [because("page"), current]),
        Reader::Conditional => found(
            Note,
            [
                because("conditional"),
                current,
                ("remedy", text(switch(source))),
            ],
        ),
        Reader::Kernel(what) => optional(
            found(
                Problem,
                [
                    current,
                    ("what", text(what)),
                    ("remedy", text(remedy(source, platform))),
                ],
            ),
            [("cause", cause(source).map(text))],
        ),
    }
}

/// Returns who selected a slow clock source: the kernel or the administrator.
fn cause(source: &ClockSource) -> Option<String> {
    let decides = |word: &&String| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        matches!(
            (name, value),
            ("notsc" | "USEPLATFORMCLOCK", _) | ("tsc", "unstable") | ("clocksource", _)
        )
    };
    match source.parameters.iter().flatten().find(decides) {
        Some(word) => Some(format!("the kernel was started with {word}")),
        None if lists_tsc(source) => {
            Some("the time stamp counter could be used, but another one was chosen".into())
        }
        None if source.available.is_empty() => None,
        None => {
            Some("the kernel found the time stamp counter unstable, or was not given one".into())
        }
    }
}

fn remedy(source: &ClockSource, platform: &Platform) -> String {
    if platform.os.family == "windows" {
        "as administrator, `bcdedit /deletevalue useplatformclock`, and restart, if it was set; else the counters of the CPUs \
         disagree, or the firmware says so"
            .into()
    } else if lists_tsc(source) {
        switch(source)
    } else if platform.hypervisor.is_some() {
        format!(
            "{READ_LOG}; have the hypervisor offer an invariant time stamp counter or a clock of its own (kvm-clock, Hyper-V)"
        )
    } else if is_x86(platform) {
        format!(
            "{READ_LOG}; update the firmware, and start with tsc=reliable only if the counters of all CPUs agree"
        )
    } else {
        READ_LOG.into()
    }
}

fn switch(source: &ClockSource) -> String {
    let mut parameters = source.parameters.iter().flatten();
    let chosen = parameters.any(|word| word.starts_with("clocksource="));
    let for_good = if chosen {
        ", and remove clocksource= from the kernel's command line"
    } else {
        ""
    };
    format!(
        "as root, `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`{for_good}"
    )
}

fn lists_tsc(source: &ClockSource) -> bool {
    source
        .available
        .iter()
        .any(|name| name == TIME_STAMP_COUNTER)
}

fn tsc(platform: &Platform) -> Judged {
    let source = &platform.clocksource;
    let mut parameters = source.parameters.iter().flatten();
    let distrusted = parameters.any(|word| word == "tsc=unstable" || word == "notsc");
    // The kernel removes an unstable counter from the list, unless it is the only clock source.
    let refused = !source.available.is_empty() && !lists_tsc(source);
    match platform.invariant_counter().value {
        None => unknown(),
        Some(false) if platform.tsc.constant == Some(true) => found(Problem, [because("stops")]),
        Some(false) => found(Problem, [because("varies")]),
        Some(true) if distrusted => found(Problem, [because("distrusted")]),
        Some(true) if refused => found(Problem, [because("refused")]),
        Some(true) => found(Ok, []),
    }
}

fn discipline(platform: &Platform) -> Judged {
    let Some(ntp) = &platform.ntp else {
        return unknown();
    };
    let rate = ("rate", number(ntp.rate_ppm, Unit::Ppm));
    if ntp.rate_ppm.is_nan() || ntp.rate_ppm.abs() > MOST_TRIM_PPM {
        found(Problem, [rate, ("most", number(MOST_TRIM_PPM, Unit::Ppm))])
    } else if ntp.slewing {
        found(
            Note,
            [because("slewing"), rate, ("left", ns(ntp.offset_ns as f64))],
        )
    } else if !ntp.synchronised {
        found(Note, [because("free"), rate])
    } else {
        found(Ok, [rate])
    }
}

fn governor(platform: &Platform) -> Judged {
    let cpu = &platform.cpu;
    let judged = match cpu.governor.as_deref() {
        None => return unknown(),
        Some("performance") => found(Ok, []),
        Some("userspace") => found(Note, []),
        Some(governor) => found(Problem, [("governor", text(governor))]),
    };
    optional(judged, [("driver", cpu.frequency_driver.clone().map(text))])
}

/// Checks the power plan. `None` except on Windows, which alone has power plans.
fn power_plan(platform: &Platform) -> Option<Finding> {
    let plan = platform.cpu.power_plan.as_deref()?;
    let fast = ["High performance", "Ultimate Performance"].contains(&plan);
    Some(Finding {
        code: "power-plan".into(),
        severity: if fast { Ok } else { Problem },
        values: values([("plan", text(plan))]),
    })
}

fn turbo(platform: &Platform) -> Judged {
    match platform.cpu.turbo {
        Some(false) => found(Ok, []),
        Some(true) => found(Problem, []),
        None => unknown(),
    }
}

fn smt(platform: &Platform) -> Judged {
    let cpu = &platform.cpu;
    let hypervisor = ("hypervisor", platform.hypervisor.clone().map(text));
    match (cpu.threads_per_core, cpu.smt) {
        (Some(1), _) | (None, Some(false)) => optional(found(Ok, []), [hypervisor]),
        (Some(threads), _) => optional(
            found(Note, [("threads", count(threads))]),
            [("list", cpu.core_list.clone().map(text)), hypervisor],
        ),
        (None, Some(true)) => found(Note, [because("which")]),
        (None, None) => unknown(),
    }
}

fn isolated(platform: &Platform) -> Judged {
    match platform.cpu.isolated.as_deref() {
        Some(list) if is_empty(list) => found(Note, []),
        Some(list) => found(Ok, [("list", text(list))]),
        None => unknown(),
    }
}

fn allowed(platform: &Platform) -> Judged {
    let cpu = &platform.cpu;
    let judged = match (cpu.allowed, cpu.online) {
        (None | Some(0), _) => return unknown(),
        (Some(1), Some(1)) => return found(Problem, [because("only")]),
        (Some(1), _) => found(Problem, []),
        (Some(allowed), Some(online)) if allowed < online => found(
            Note,
            [("allowed", count(allowed)), ("online", count(online))],
        ),
        (Some(allowed), _) => found(Ok, [("allowed", count(allowed))]),
    };
    optional(judged, [("list", cpu.allowed_list.clone().map(text))])
}

fn core_kinds(platform: &Platform) -> Judged {
    let Some(kinds) = platform.cpu.core_kinds.as_deref() else {
        return unknown();
    };
    if kinds.len() < 2 {
        return found(Ok, []);
    }
    let kind = |kind: &CoreKind| match &kind.list {
        Some(list) => format!("{}: {list}", kind.name),
        None => kind.name.clone(),
    };
    let all = kinds.iter().map(kind).collect::<Vec<_>>().join("; ");
    optional(
        found(Note, [("kinds", count(kinds.len())), ("all", text(all))]),
        [("measured", platform.cpu.core_kind.clone().map(text))],
    )
}

fn load(platform: &Platform) -> Judged {
    let cpus = platform
        .cpu
        .online
        .or(platform.cpu.allowed)
        .filter(|cpus| *cpus > 0);
    let (Some(load), Some(cpus)) = (platform.load, cpus) else {
        return unknown();
    };
    // One CPU must remain free for the measurement.
    let most = f64::from(cpus - 1).max(LOAD_OF_ONE);
    let severity = if load.one_minute > most { Problem } else { Ok };
    found(
        severity,
        [
            ("load", number(load.one_minute, Unit::Ratio)),
            ("cpus", count(cpus)),
        ],
    )
}

fn quota(platform: &Platform) -> Judged {
    let Some(quota) = platform.limits.cpu else {
        return unknown();
    };
    // Threads cannot use more CPU time than there are CPUs.
    let allowed = platform.cpu.allowed.map(f64::from);
    let Some(cpus) = quota
        .cpus
        .filter(|cpus| allowed.is_none_or(|allowed| *cpus < allowed))
    else {
        return found(Ok, []);
    };
    let periods = quota.throttled_periods.filter(|periods| *periods > 0);
    optional(
        found(Problem, [("cpus", number(cpus, Unit::Ratio))]),
        [("periods", periods.map(count))],
    )
}

fn steal(platform: &Platform) -> Judged {
    let Some(share) = platform.steal_share else {
        return unknown();
    };
    let severity = if share > MOST_STOLEN { Problem } else { Ok };
    found(severity, [("share", number(share, Unit::Share))])
}

fn hypervisor(platform: &Platform) -> Judged {
    let clocks = platform.hypervisor_clocks.as_deref().unwrap_or_default();
    let clocks = (!clocks.is_empty()).then(|| text(clocks.join(", ")));
    match platform.hypervisor.as_deref().map(text) {
        Some(name) if platform.emulator().is_some() => found(Problem, [("name", name)]),
        Some(name) => optional(found(Note, [("name", name)]), [("clocks", clocks)]),
        None if is_x86(platform) => found(Ok, []),
        None => unknown(),
    }
}

fn tick(platform: &Platform) -> Judged {
    let (kernel, alone) = (&platform.kernel, platform.cpu.nohz_full.as_deref());
    if let Some(list) = alone.filter(|list| !is_empty(list)) {
        return found(Ok, [("list", text(list))]);
    }
    if alone.is_none() && !matches!(kernel.tickless, Some(Tickless::Never | Tickless::WhenIdle)) {
        return unknown();
    }
    let rate = kernel
        .tick_hz
        .map(|hertz| text(format!("{hertz} times a second")));
    optional(found(Note, []), [("rate", rate)])
}

fn performance_counters(platform: &Platform) -> Judged {
    let Some(level) = platform.perf_event_paranoid else {
        return unknown();
    };
    let severity = if level <= OPEN_TO_ALL { Ok } else { Note };
    found(severity, [("level", text(level.to_string()))])
}

fn high_resolution(platform: &Platform) -> Judged {
    let tick = platform.kernel.tick_hz;
    let tick = tick.map(|hertz| ns(1e9 / f64::from(hertz.max(1))));
    match platform.waiting.high_resolution {
        None => unknown(),
        Some(true) => found(Ok, []),
        Some(false) => optional(found(Problem, []), [("tick", tick)]),
    }
}

fn timer_slack(platform: &Platform) -> Judged {
    let Some(slack) = platform.waiting.timer_slack_ns else {
        return unknown();
    };
    let severity = if slack <= LITTLE_SLACK_NS { Ok } else { Note };
    found(severity, [("slack", ns(slack as f64))])
}

fn idle_states(platform: &Platform) -> Judged {
    let Some(states) = &platform.waiting.idle_states else {
        return unknown();
    };
    let enabled = states.iter().filter(|state| !state.disabled);
    match enabled.max_by_key(|state| state.exit_latency_us) {
        Some(state) if state.exit_latency_us > SLOW_EXIT_US => found(
            Note,
            [
                ("state", text(state.name.clone())),
                ("exit", ns(state.exit_latency_us as f64 * 1e3)),
            ],
        ),
        _ => found(Ok, []),
    }
}
