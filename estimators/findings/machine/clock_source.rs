//! Checks the clock source of the kernel and the time stamp counter.

use timers::clock_sources::{self, Reader, TIME_STAMP_COUNTER};

use crate::findings::judgement::{
    Judgement, finding, is_x86, judgement, reason, unknown, with_known,
};
use crate::findings::text;
use crate::model::Severity::{Note, Ok, Problem, Unknown};
use crate::model::{ClockSource, Finding, Platform};

pub(super) fn judge_clock_source(platform: &Platform) -> Judgement {
    let source = &platform.clocksource;
    let Some(name) = source.current.as_deref() else {
        return unknown();
    };
    let current = ("current", text(name));
    let Some(known) = clock_sources::find(name) else {
        return judgement(Unknown, [reason("foreign"), current]);
    };
    match known.reader {
        Reader::Instruction | Reader::SharedPage if source.vdso == Some(false) => {
            judgement(Problem, [reason("no-vdso"), current])
        }
        Reader::Instruction => judgement(Ok, [current]),
        Reader::SharedPage => judgement(Note, [reason("page"), current]),
        Reader::Conditional => judgement(
            Note,
            [
                reason("conditional"),
                current,
                ("remedy", text(switching_advice(source))),
            ],
        ),
        Reader::Kernel(what) => with_known(
            judgement(
                Problem,
                [
                    current,
                    ("what", text(what)),
                    ("remedy", text(fast_source_advice(source, platform))),
                ],
            ),
            [("cause", explain_choice(source).map(text))],
        ),
    }
}

/// Returns the reason why a clock source is used that needs a system call, as a text: the kernel's
/// command line, the administrator, or the kernel. `None` if it is unknown.
fn explain_choice(source: &ClockSource) -> Option<String> {
    let affects_choice = |word: &&String| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        matches!(
            (name, value),
            ("notsc" | "USEPLATFORMCLOCK", _) | ("tsc", "unstable") | ("clocksource", _)
        )
    };
    match source.parameters.iter().flatten().find(affects_choice) {
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

const READ_LOG: &str = "`dmesg | grep -i -e tsc -e clocksource` gives the reason";

/// Returns the advice how to get a clock source that needs no system call.
fn fast_source_advice(source: &ClockSource, platform: &Platform) -> String {
    if platform.os.family == "windows" {
        "as administrator, `bcdedit /deletevalue useplatformclock`, and restart, if it was set; else the counters of the CPUs \
         disagree, or the firmware says so"
            .into()
    } else if lists_tsc(source) {
        switching_advice(source)
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

/// Returns the advice how to make the time stamp counter the clock source.
fn switching_advice(source: &ClockSource) -> String {
    let mut parameters = source.parameters.iter().flatten();
    let chosen = parameters.any(|word| word.starts_with("clocksource="));
    let permanent_fix = if chosen {
        ", and remove clocksource= from the kernel's command line"
    } else {
        ""
    };
    format!(
        "as root, `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`{permanent_fix}"
    )
}

/// Returns whether the kernel offers the time stamp counter as a clock source.
fn lists_tsc(source: &ClockSource) -> bool {
    source
        .available
        .iter()
        .any(|name| name == TIME_STAMP_COUNTER)
}

pub(super) fn judge_tsc(platform: &Platform) -> Judgement {
    let source = &platform.clocksource;
    let mut parameters = source.parameters.iter().flatten();
    let distrusted = parameters.any(|word| word == "tsc=unstable" || word == "notsc");
    // The kernel removes an unstable counter from the list, unless it is the only clock source.
    let not_offered = !source.available.is_empty() && !lists_tsc(source);
    match platform.invariant_counter().value {
        None => unknown(),
        Some(false) if platform.tsc.constant == Some(true) => judgement(Problem, [reason("stops")]),
        Some(false) => judgement(Problem, [reason("varies")]),
        Some(true) if distrusted => judgement(Problem, [reason("distrusted")]),
        Some(true) if not_offered => judgement(Problem, [reason("refused")]),
        Some(true) => judgement(Ok, []),
    }
}

/// Reports that the kernel and CPUID disagree about whether the time stamp counter is invariant;
/// `None` if they agree or one of them does not say.
#[must_use]
pub fn report_tsc_conflict(platform: &Platform) -> Option<Finding> {
    let invariant = platform.invariant_counter();
    let word = |yes| text(if yes { "invariant" } else { "not invariant" });
    let (kernel, cpuid) = (word(invariant.value?), word(platform.cpu.invariant_tsc?));
    invariant.conflict.then(|| {
        let values = [("kernel", kernel), ("cpuid", cpuid)];
        finding("tsc-conflict", judgement(Note, values))
    })
}
