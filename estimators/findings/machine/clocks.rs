//! The rules about the clocks of a machine: its clock source, its time stamp counter and the
//! time service.

use timers::clock_sources::{self, Reader, TIME_STAMP_COUNTER};

use super::{is_x86, on_linux};
use crate::findings::{ns, number, values};
use crate::model::{ClockSource, MAX_SLEW, Ntp, Platform, Unit, Value, Values};
use crate::rate::correction::{LargeCorrection, WrongClocks};

const SYNCHRONISE: &str = "wait until the clock is synchronised (`chronyc tracking`, `timedatectl timesync-status`), or \
                           measure with monotonic-raw or rdtsc, whose rate is not corrected";

rules! {
    pub static RULES: Platform;
    "clock-source" {
        Problem("no-vdso") "the clock source is {current}, but there is no vDSO, so that every read of a kernel clock is a system call"
            => "remove vdso=0 from the kernel's command line if it is there; under an emulator, which has no vDSO, measure on the host instead",
            |machine| {
                let by_vdso = matches!(reader(machine)?, Reader::Instruction | Reader::SharedPage);
                (by_vdso && machine.clocksource.vdso == Some(false)).then(|| current(machine))
            };
        Problem "the clock source is {current}: {what}, so that every read of a kernel clock is a system call< ({cause})>"
            => "{remedy}",
            |machine| {
                let Reader::Kernel(what) = reader(machine)? else {
                    return None;
                };
                Some(values! {
                    current: machine.clocksource.current.as_deref(),
                    what,
                    cause: explain_choice(&machine.clocksource),
                    remedy: fast_source_advice(machine),
                })
            };
        Note("page") "the clock source is {current}: the vDSO reads the time stamp counter and a page of the hypervisor, which costs more than the counter alone",
            |machine| matches!(reader(machine)?, Reader::SharedPage).then(|| current(machine));
        Note("conditional") "the clock source is {current}: the vDSO reads it only if the hypervisor declares its counter stable; otherwise `monotonic` costs as much as `monotonic-syscall`"
            => "if the time stamp counter can be trusted: {remedy}",
            |machine| {
                matches!(reader(machine)?, Reader::Conditional).then(|| {
                    values! {
                        current: machine.clocksource.current.as_deref(),
                        remedy: switching_advice(&machine.clocksource),
                    }
                })
            };
        Ok "the clock source is {current}: an instruction, read in user mode",
            |machine| reader(machine).map(|_| current(machine));
        Unknown("foreign") "the clock source is {current}, which this program does not know"
            => "compare `monotonic` with `monotonic-syscall` to see whether the vDSO reads it",
            |machine| Some(values! { current: machine.clocksource.current.as_deref()? });
        Unknown "the clock source of the kernel is not reported by this machine";
    }
    "tsc" {
        Problem("stops") "the time stamp counter stops in deep idle states: times across a sleep are too short"
            => "start with processor.max_cstate=1 (Intel: intel_idle.max_cstate=1), or use the kernel's clocks",
            |machine| {
                (!invariant_tsc(machine)? && machine.tsc.constant == Some(true)).then(Values::new)
            };
        Problem("varies") "the time stamp counter is not declared invariant: its rate may follow the frequency of the core"
            => "use the kernel's clocks; in a virtual machine, let the guest see the invariant counter of the host",
            |machine| (!invariant_tsc(machine)?).then(Values::new);
        Problem("distrusted") "the kernel's command line says not to trust the time stamp counter"
            => "remove notsc or tsc=unstable from it, unless there is a known reason",
            |machine| {
                let mut parameters = machine.clocksource.parameters.iter().flatten();
                let distrusted = parameters.any(|word| word == "tsc=unstable" || word == "notsc");
                (invariant_tsc(machine)? && distrusted).then(Values::new)
            };
        Problem("refused") "the time stamp counter is invariant, but the kernel does not offer the counter as a clock source: the kernel found it unstable, or the counters of the CPUs disagree"
            => "`dmesg | grep -i tsc` gives the reason; until then, do not compare readings of different CPUs",
            |machine| {
                // The kernel removes an unstable counter from the list, unless it is the only clock source.
                let source = &machine.clocksource;
                let not_offered = !source.available.is_empty() && !lists_tsc(source);
                (invariant_tsc(machine)? && not_offered).then(Values::new)
            };
        Ok "the time stamp counter runs at a constant rate in all power states",
            |machine| invariant_tsc(machine)?.then(Values::new);
        Unknown "whether the time stamp counter runs at a constant rate is not reported by this machine",
            |machine| is_x86(machine).then(Values::new);
    }
    "ntp" {
        Problem("counter") "the time service corrects the rate of the kernel's clocks by {rate}, and estimates an error of {error} only: CLOCK_MONOTONIC and CLOCK_REALTIME are right, CLOCK_MONOTONIC_RAW and the rate that the kernel or the hypervisor gives for the counter are wrong by as much"
            => "measure with monotonic; a program that reads the counter has to find its rate by comparing it with CLOCK_MONOTONIC",
            |machine| large_correction(machine, WrongClocks::Uncorrected);
        Problem("slewing") "the kernel corrects an offset of {left}, at {rate}: until that ends, CLOCK_MONOTONIC and CLOCK_REALTIME are wrong by as much, CLOCK_MONOTONIC_RAW is not"
            => SYNCHRONISE,
            |machine| large_correction(machine, WrongClocks::Corrected);
        Problem "the kernel corrects the rate of its clocks by {rate}, more than the {most} that any intact oscillator needs: either CLOCK_MONOTONIC and CLOCK_REALTIME or CLOCK_MONOTONIC_RAW and the counter are wrong by as much; nothing here shows which"
            => "compare this machine with another one for some minutes (`chronyc tracking`); until then no time in nanoseconds is better than that",
            |machine| large_correction(machine, WrongClocks::Unknown);
        Note("slewing") "the clock is being slewed ({rate} now, {left} left to correct): its rate will change when the correction ends"
            => SYNCHRONISE,
            |machine| {
                let ntp = machine.ntp.as_ref()?;
                let left = ns(ntp.offset_ns as f64);
                ntp.slewing.then(|| values! { rate: rate(ntp), left })
            };
        Note("free") "the clock is not disciplined by NTP (its rate is corrected by {rate}): its rate and the time of day may be wrong"
            => "start an NTP client if the time of day matters",
            |machine| {
                let ntp = machine.ntp.as_ref()?;
                (!ntp.synchronised).then(|| values! { rate: rate(ntp) })
            };
        Ok "the clock is disciplined by NTP; its rate is corrected by {rate}",
            |machine| Some(values! { rate: rate(machine.ntp.as_ref()?) });
        Unknown "whether a time service corrects the clock (adjtimex(2)) is not reported by this machine",
            on_linux;
    }
}

rules! {
    /// The rule about a kernel and a CPUID that contradict each other.
    pub static TSC_CONFLICT: Platform;
    "tsc-conflict" {
        Note "the kernel's flags declare the time stamp counter {kernel}, CPUID declares it {cpuid}: the kernel is believed"
            => "use the kernel's clocks until `dmesg | grep -i tsc` has given the reason",
            |machine| {
                let invariant = machine.invariant_counter();
                let word = |yes| if yes { "invariant" } else { "not invariant" };
                let (kernel, cpuid) = (word(invariant.value?), word(machine.cpu.invariant_tsc?));
                invariant.conflict.then(|| values! { kernel, cpuid })
            };
    }
}

/// The values of a large correction that makes these clocks wrong.
fn large_correction(machine: &Platform, wrong: WrongClocks) -> Option<Values> {
    let ntp = machine.ntp.as_ref()?;
    let correction = LargeCorrection::of(ntp)?;
    (correction.wrong == wrong).then(|| {
        values! {
            rate: rate(ntp),
            most: number(1e6 * MAX_SLEW, Unit::Ppm),
            left: ns(ntp.offset_ns as f64),
            error: ns(1e3 * ntp.estimated_error_us as f64),
        }
    })
}

/// How the current clock source is read; `None` if that is unknown.
fn reader(machine: &Platform) -> Option<Reader> {
    let known = clock_sources::find(machine.clocksource.current.as_deref()?)?;
    Some(known.reader)
}

fn current(machine: &Platform) -> Values {
    values! { current: machine.clocksource.current.as_deref() }
}

/// Whether the time stamp counter is invariant; `None` if that is unknown or there is none.
fn invariant_tsc(machine: &Platform) -> Option<bool> {
    let invariant = machine.invariant_counter().value;
    invariant.filter(|_| is_x86(machine))
}

fn rate(ntp: &Ntp) -> Value {
    number(ntp.rate_ppm, Unit::Ppm)
}

/// Returns the reason why a clock source is used that needs a system call, as a text: the kernel's
/// command line, the administrator, or the kernel. `None` if it is unknown.
fn explain_choice(source: &ClockSource) -> Option<String> {
    let affects_choice = |word: &&String| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        matches!(
            (name, value),
            ("notsc", _) | ("tsc", "unstable") | ("clocksource", _)
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
fn fast_source_advice(platform: &Platform) -> String {
    let source = &platform.clocksource;
    if lists_tsc(source) {
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
