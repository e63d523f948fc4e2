//! The clocks: what answers the kernel's, what the time stamp counter is worth, and who trims their
//! rate.

use timers::clock_sources::{self, Reader, TIME_STAMP_COUNTER};

use super::{Finding, is_linux};
use crate::model::{ClockSource, Platform};

/// The most that a daemon which keeps the time trims the frequency by, in parts per million
/// (adjtimex(2)); more is a correction on its way. Beyond it the figures in nanoseconds are off by
/// more than 0.05 %.
const MOST_TRIM_PPM: f64 = 500.0;

pub(super) fn findings(platform: &Platform) -> Vec<Finding> {
    let source = clock_source(platform);
    let x86 = platform.cpu.architecture.starts_with("x86");
    let tsc = x86.then(|| tsc(platform));
    [source]
        .into_iter()
        .chain(tsc)
        .chain(conflict(platform))
        .chain([discipline(platform)])
        .collect()
}

fn clock_source(platform: &Platform) -> Finding {
    const CODE: &str = "clock-source";
    let source = &platform.clocksource;
    let Some(current) = source.current.as_deref() else {
        return Finding::unknown(
            CODE,
            "the clock source of the kernel is not shown by this machine",
        );
    };
    let linux = is_linux(platform);
    let Some(known) = clock_sources::find(current) else {
        return Finding::unknown(
            CODE,
            format!(
                "the clock source is {current}, of which nothing is known here; compare `monotonic` with \
                     `monotonic-syscall` to see whether the vDSO reads it"
            ),
        );
    };
    match known.reader {
        Reader::Instruction | Reader::SharedPage if source.vdso == Some(false) => Finding::problem(
            CODE,
            format!(
                "the clock source is {current}, but there is no vDSO that could read it, so every reading of a clock of the kernel is a \
                 system call"
            ),
            "take vdso=0 off the kernel's command line; where an emulator carries out this program, it has none to give",
        ),
        Reader::Instruction => {
            let reader = if linux { "by the vDSO" } else { "in user mode" };
            Finding::ok(CODE, format!("the clock source is {current}: an instruction, read {reader}"))
        }
        Reader::SharedPage => Finding::note(
            CODE,
            format!(
                "the clock source is {current}: the vDSO reads the time stamp counter and a page of the hypervisor, \
                 which costs some nanoseconds more than the counter alone"
            ),
        ),
        Reader::Conditional => Finding::note(
            CODE,
            format!(
                "the clock source is {current}: the vDSO is used only where the hypervisor vouches for its counter; \
                 if `monotonic` costs as much as `monotonic-syscall`, it is not"
            ),
        )
        .advice("where the time stamp counter can be trusted, switch to it: ".to_owned() + &switch(source)),
        Reader::Kernel(what) => Finding::problem(
            CODE,
            format!(
                "the clock source is {current}: {what}. {}, so every reading of a clock of the kernel is a system call{}",
                if linux { "The vDSO is not used" } else { "No clock is read in user mode" },
                cause(source)
            ),
            remedy(source, platform),
        ),
    }
}

/// Who decided for a clock source that is slow.
fn cause(source: &ClockSource) -> String {
    let parameters = source.parameters.as_deref().unwrap_or_default();
    let named = parameters.iter().find(|word| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        matches!(
            (name, value),
            ("notsc" | "USEPLATFORMCLOCK", _) | ("tsc", "unstable") | ("clocksource", _)
        )
    });
    match named {
        Some(word) => format!(" (the kernel was started with {word})"),
        None if lists_tsc(source) => {
            " (the time stamp counter could be used, but another one was chosen)".to_owned()
        }
        None if source.available.is_empty() => String::new(),
        None => {
            " (the kernel does not offer the time stamp counter: it found it unstable, or was not given one)"
                .to_owned()
        }
    }
}

fn remedy(source: &ClockSource, platform: &Platform) -> String {
    if platform.os.family == "windows" {
        "as administrator, `bcdedit /deletevalue useplatformclock`, and restart, if it was set; else the counters of the \
         CPUs disagree, or the firmware says so"
            .to_owned()
    } else if lists_tsc(source) {
        switch(source)
    } else if platform.hypervisor.is_some() {
        "`dmesg | grep -i -e tsc -e clocksource` tells why; have the hypervisor offer the guest an invariant time \
         stamp counter or a clock of its own (kvm-clock, Hyper-V reference TSC)"
            .to_owned()
    } else if platform.cpu.architecture.starts_with("x86") {
        "`dmesg | grep -i -e tsc -e clocksource` tells why; update the firmware, and start with tsc=reliable only if \
         you know that the counters of all CPUs agree"
            .to_owned()
    } else {
        "`dmesg | grep -i clocksource` tells why".to_owned()
    }
}

fn switch(source: &ClockSource) -> String {
    let parameters = source.parameters.as_deref().unwrap_or_default();
    let chosen = parameters
        .iter()
        .any(|word| word.starts_with("clocksource="));
    let for_good = if chosen {
        ", and take clocksource= off the kernel's command line"
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

fn tsc(platform: &Platform) -> Finding {
    const CODE: &str = "tsc";
    let (source, tsc) = (&platform.clocksource, &platform.tsc);
    let distrusted = source
        .parameters
        .iter()
        .flatten()
        .any(|word| word == "tsc=unstable" || word == "notsc");
    // The kernel takes a counter that it found unstable off the list, unless it is the only one.
    let refused = !source.available.is_empty() && !lists_tsc(source);
    match platform.invariant_counter().value {
        None => Finding::unknown(
            CODE,
            "whether the time stamp counter runs at a constant rate is not shown by this machine",
        ),
        Some(false) if tsc.constant == Some(true) => Finding::problem(
            CODE,
            "the time stamp counter stops in deep idle states: times across a sleep are too short",
            "start with processor.max_cstate=1 (Intel: intel_idle.max_cstate=1), or use the kernel's clocks",
        ),
        Some(false) => Finding::problem(
            CODE,
            "the time stamp counter is not invariant: its rate follows the frequency of the core, or this machine does \
             not say otherwise",
            "use the kernel's clocks; in a virtual machine, let the guest see the invariant counter of the host",
        ),
        Some(true) if distrusted => Finding::problem(
            CODE,
            "the kernel is configured on its command line not to trust the time stamp counter",
            "take notsc or tsc=unstable off the kernel's command line, unless there is a known reason for it",
        ),
        Some(true) if refused => Finding::problem(
            CODE,
            "the time stamp counter is invariant, but the kernel does not offer it as a clock source: it found it \
             unstable, or the counters of the CPUs disagree",
            "`dmesg | grep -i tsc` tells why; until then, do not compare readings of different CPUs",
        ),
        Some(true) => Finding::ok(
            CODE,
            "the time stamp counter runs at a constant rate in all power states",
        ),
    }
}

/// The kernel and CPUID contradict each other about the counter.
pub(crate) fn conflict(platform: &Platform) -> Option<Finding> {
    let invariant = platform.invariant_counter();
    let said = |yes| if yes { "invariant" } else { "not invariant" };
    let (value, cpuid) = (invariant.value?, platform.cpu.invariant_tsc?);
    invariant.conflict.then(|| {
        Finding::note(
            "tsc-conflict",
            format!(
                "by the kernel's flags the time stamp counter is {}, by CPUID it is {}: the kernel's flags count",
                said(value),
                said(cpuid)
            ),
        )
        .advice("`dmesg | grep -i tsc` may say why; until then, use the kernel's clocks")
    })
}

fn discipline(platform: &Platform) -> Finding {
    const CODE: &str = "ntp";
    const WAIT: &str = "wait until the clock is synchronised (`chronyc tracking`, `timedatectl timesync-status`), or measure \
                        with monotonic-raw or rdtsc, which are not trimmed";
    let Some(ntp) = &platform.ntp else {
        return Finding::unknown(
            CODE,
            "who steers the clock is not shown: adjtimex(2) is not answered",
        );
    };
    let rate = ntp.rate_ppm;
    if rate.is_nan() || rate.abs() > MOST_TRIM_PPM {
        let message = format!(
            "the clock runs {rate:+.0} ppm off the rate of the hardware, more than the {MOST_TRIM_PPM:.0} ppm that \
             correct any sound oscillator: times in nanoseconds are off by as much"
        );
        return Finding::problem(CODE, message, WAIT);
    }
    if ntp.slewing {
        let message = format!(
            "the clock is being slewed ({rate:+.1} ppm now, {} ns to go): its rate will change when that is over",
            ntp.offset_ns
        );
        return Finding::note(CODE, message).advice(WAIT);
    }
    if !ntp.synchronised {
        let message = format!(
            "the clock is not disciplined by NTP ({rate:+.1} ppm by what was set once): durations are good to some tens of \
             ppm, the time of day may be wrong"
        );
        return Finding::note(CODE, message)
            .advice("start an NTP client where the time of day matters");
    }
    Finding::ok(
        CODE,
        format!("the clock is disciplined by NTP; its rate is trimmed by {rate:+.1} ppm"),
    )
}
