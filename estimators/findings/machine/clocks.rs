//! The rules about the clocks of a machine: its clock source, the counter of its processor, the time
//! service and the C library.

use timers::clock_sources::{self, Reader, TIME_STAMP_COUNTER};

use super::is_x86;
use crate::findings::{ns, number, values};
use crate::model::{
    Defect, DefectKind, Estimate, LibraryClock, Path, Platform, Report, Unit, Values, value_of,
};
use crate::numbers::short_time;
use crate::rate::correction::LargeCorrection;

/// The largest ratio of a read by the C library to a fenced read of the counter.
/// *Judgement*: 1.2 on Zen 4, up to 2 where the vDSO reads a page of the hypervisor.
const MAX_READ_RATIO: f64 = 3.0;
/// The cost of a read, in nanoseconds, that is too high.
/// *Definition*: reads in user mode take 15 to 80 ns.
const MAX_READ_NS: f64 = 100.0;

/// How a program reads CLOCK_MONOTONIC by the C library.
#[derive(Clone, Copy)]
pub struct PortableRead {
    /// The cost in nanoseconds.
    pub ns: f64,
    /// The path, if it was judged.
    pub path: Option<Path>,
    /// The ratio of the cost to that of a fenced read of the counter, if it is known instead.
    pub ratio: Option<f64>,
}

impl PortableRead {
    /// The id of the clock.
    pub const ID: &str = "monotonic";

    /// As a report has it.
    pub fn of(report: &Report) -> Option<Self> {
        let row = report.timers.iter().find(|row| row.id == Self::ID)?;
        Some(Self {
            ns: value_of(row.cost_ns).or(row.amortised_ns)?,
            path: row.verdicts.as_ref().and_then(|all| all.read_path.path),
            ratio: None,
        })
    }
}

rules! {
    pub static RULES;
    "clock-source" about "the clock source of the kernel" {
        Problem "the clock source is {current}: {what}, so that every read of a kernel clock is a system call"
            => "{remedy}",
            |machine| {
                let current = machine.clocksource.current.as_deref()?;
                let what = match (clock_sources::find(current)?.reader, machine.clocksource.vdso) {
                    (Reader::Kernel(what), _) => Some(what),
                    (Reader::Instruction | Reader::SharedPage, Some(false)) => Some("there is no vDSO"),
                    _ => None,
                };
                what.map(|what| values! { current, what, remedy: faster_source(machine) })
            };
        Note "the clock source is {current}: the vDSO reads it only if the hypervisor declares its counter stable; otherwise `monotonic` costs as much as `monotonic-syscall`"
            => "if the time stamp counter can be trusted: {remedy}",
            |machine| {
                let current = machine.clocksource.current.as_deref()?;
                (clock_sources::find(current)?.reader == Reader::Conditional)
                    .then(|| values! { current, remedy: faster_source(machine) })
            };
    }
    "tsc" about "the counter of the processor" {
        Problem "the counter of the processor {why}" => "use the kernel's clocks; `dmesg | grep -i tsc` gives the reason",
            |machine| distrust(machine).map(|why| values! { why });
        Note "the kernel's flags and CPUID contradict each other about the counter of the processor: the kernel is believed"
            => "use the kernel's clocks until `dmesg | grep -i tsc` has given the reason",
            |machine| {
                let counter = machine.invariant_counter();
                counter.value?;
                counter.conflict.then(Values::new)
            };
    }
    "ntp" about "the time service (adjtimex(2))" {
        Problem "{what} (the kernel corrects CLOCK_MONOTONIC and CLOCK_REALTIME, not CLOCK_MONOTONIC_RAW and the counter)"
            => "measure with those that are right; where nothing shows which, compare this machine with another one for some minutes (`chronyc tracking`)",
            |machine| LargeCorrection::of(machine.ntp.as_ref()?).map(|it| values! { what: it.in_words() });
        Note "the clock is {what}, its rate corrected by {rate}: the rate and the time of day may change"
            => "let an NTP client synchronise the clock (`chronyc tracking`), or measure with monotonic-raw or rdtsc, whose rate is not corrected",
            |machine| {
                let ntp = machine.ntp.as_ref()?;
                let what = match ntp.slewing {
                    true => format!("slewed by another {}", short_time(ntp.offset_ns as f64)),
                    false => "not disciplined by NTP".to_owned(),
                };
                (ntp.slewing || !ntp.synchronised)
                    .then(|| values! { what, rate: number(ntp.rate_ppm, Unit::Ppm) })
            };
    }
    "libc-clock" about "clocks as the C library gives them" {
        Problem "as the C library gives them, clocks are wrong: {clocks}"
            => "find what intercepts or forbids the reads: a preloaded library (<{libraries}; >LD_PRELOAD, /etc/ld.so.preload, faketime), a sandbox, or prctl(PR_SET_TSC)",
            |machine| {
                let wrong = |clock: &LibraryClock| {
                    let defect = library_defect(clock).map(|defect| defect.in_short());
                    let what = defect.or(clock.failure.clone())?;
                    Some(format!("{} {what}", clock.id))
                };
                let clocks = listed(machine.library_clocks.as_ref()?.iter().filter_map(wrong));
                let libraries = listed(machine.preloaded.iter().cloned());
                clocks.map(|clocks| values! { clocks, libraries })
            };
        Note "{clocks} could be compared with nothing, because a sandbox forbids their system calls: reads fail if the clock source changes"
            => "allow clock_gettime in the sandbox (its seccomp filter), or make sure that the clock source stays",
            |machine| {
                let clocks = machine.library_clocks.as_ref()?.iter();
                let alone = clocks.filter(|clock| clock.offset_ns.is_none());
                listed(alone.map(|clock| clock.id.clone())).map(|clocks| values! { clocks })
            };
    }
    "read-cost" about "the path and the cost of a read of CLOCK_MONOTONIC" {
        Problem "a read of CLOCK_MONOTONIC <{path} and >takes {read}<, {ratio} times as long as a fenced read of the counter><. Cause: probably {cause}>"
            => "find what slows the vDSO: the clock source, a preloaded library, a sandbox, a tracer, an emulator",
            |read, machine| {
                let is_slow = read.ns >= MAX_READ_NS || read.ratio > Some(MAX_READ_RATIO);
                // A read that takes not much longer than one of the counter is no system call.
                let path = match read.path.or(read.ratio.map(|_| Path::UserMode)) {
                    Some(Path::SystemCall) => Some("is a system call"),
                    Some(Path::Trapped) => Some("traps to the hypervisor"),
                    None if !is_slow => return None,
                    _ => None,
                };
                let ratio = read.ratio.map(|times| number(times, Unit::Ratio));
                let is_found = is_slow || path.is_some();
                let cause = slowing_library(machine);
                // Where a library is preloaded, the cost does not show where it spends the time.
                let path = path.filter(|_| cause.is_none());
                is_found.then(|| values! { path, read: ns(read.ns), ratio, cause })
            };
    }
}

/// What the processor or the kernel says against the counter of the processor.
pub(in crate::findings) fn distrust(machine: &Platform) -> Option<&'static str> {
    let source = &machine.clocksource;
    let is_counter = |name: &String| match is_x86(machine) {
        true => name == TIME_STAMP_COUNTER,
        false => clock_sources::reads_counter(name),
    };
    let is_told = |word: &String| word == "tsc=unstable" || word == "notsc";
    match () {
        () if machine.invariant_counter().value == Some(false) => {
            Some("may stop in idle states, or follow the frequency of the core")
        }
        () if source.parameters.iter().flatten().any(is_told) => {
            Some("is not to be trusted according to the kernel's command line")
        }
        // The kernel removes an unstable counter from the list, unless it is the only clock source.
        () if !source.available.is_empty() && !source.available.iter().any(is_counter) => {
            Some("is not offered by the kernel as a clock source: it found the counter unreliable")
        }
        () => None,
    }
}

/// How to get a clock source that needs no system call.
fn faster_source(machine: &Platform) -> String {
    let source = &machine.clocksource;
    let forbids = |word: &&String| {
        word.starts_with("clocksource=") || ["notsc", "tsc=unstable"].contains(&word.as_str())
    };
    match source.parameters.iter().flatten().find(forbids) {
        _ if source.vdso == Some(false) => "remove vdso=0 from the kernel's command line if it is there; an emulator has no vDSO: measure on the host".to_owned(),
        Some(word) => format!("remove {word} from the kernel's command line"),
        None if source.available.iter().any(|name| name == TIME_STAMP_COUNTER) => {
            "as root, `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`".to_owned()
        }
        None => "`dmesg | grep -i -e tsc -e clocksource` gives the reason; update the firmware, or have the hypervisor offer an invariant time stamp counter or a clock of its own (kvm-clock, Hyper-V)".to_owned(),
    }
}

/// By how much a clock that the C library reads differs from its system call. A rate of less than
/// 1 ppm and an offset of less than 1 µs are not reported: the two calls read the clock at different
/// times, on CPUs whose counters differ.
pub fn library_defect(clock: &LibraryClock) -> Option<Defect> {
    let proven = |kind, it: Option<Estimate>, least: f64| {
        let by = it.filter(|by| by.low > least || by.high < -least)?;
        let size = Some(by.value);
        Some(Defect { kind, size })
    };
    let rate = proven(DefectKind::Rate, clock.rate_ppm, 1.0);
    rate.or_else(|| proven(DefectKind::Offset, clock.offset_ns, 1e3))
}

/// The preloaded libraries, if they may be why reads are slow: the clock source is not.
pub(in crate::findings) fn slowing_library(machine: &Platform) -> Option<String> {
    let source = clock_sources::find(machine.clocksource.current.as_deref()?)?;
    machine
        .preloads()
        .filter(|_| !matches!(source.reader, Reader::Kernel(_)))
}

/// A list in words; `None` if it is empty.
fn listed(parts: impl Iterator<Item = String>) -> Option<String> {
    Some(parts.collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty())
}
