//! Findings about the counter of the processor, which a program can read without the kernel: what
//! was measured, and what the processor, the kernel and the hypervisor declare.

use timers::clock_sources;

use super::machine::{Judged, because, conflict, found, is_x86, optional, unknown, wording};
use super::{Wording, count, ns, number, text, values};
use crate::model::Severity::{Note, Ok, Problem, Unknown};
use crate::model::{CounterFacts, Finding, KernelLog, Platform, Severity, Unit, Value};
use crate::rate::counter::{CounterFindings, CpuOffset, SHOWS, Tested};

/// The input of the checks of the counter.
#[derive(Clone, Copy, Debug)]
pub struct CounterCase<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// What the machine declares about the counter.
    pub facts: &'a CounterFacts,
    /// What was measured.
    pub found: &'a CounterFindings,
}

/// The largest difference, in seconds, between the age of the counter and the uptime of the system
/// if the counter starts with the machine: firmware and boot loader take time. *Judgement*.
const BEFORE_THE_SYSTEM_S: f64 = 600.0;
/// The frequency of the Arm counter, in Hz, from version 8.6 on. All hosts share this frequency.
/// *Definition*: Arm Architecture Reference Manual, D12.1.
const OF_ALL_HOSTS_HZ: f64 = 1e9;

/// A statistical test of the measurements: the code, the severity if a difference was found, the
/// unit, and whether only a positive difference counts.
type Test = (
    &'static str,
    Severity,
    Unit,
    bool,
    fn(&CounterFindings) -> Option<Tested>,
);

const TESTS: [Test; 5] = [
    ("asleep", Problem, Unit::Ppm, false, |found| found.asleep),
    ("leap", Problem, Unit::Nanoseconds, true, |found| found.leap),
    ("freeze", Problem, Unit::Nanoseconds, true, |found| {
        found.freeze
    }),
    ("change", Problem, Unit::Ppm, false, |found| found.change),
    ("declared", Note, Unit::Ppm, false, |found| found.declared),
];

/// Returns all findings, the most severe first. Among findings of equal severity, a cause precedes
/// its effects.
#[must_use]
pub fn judge(case: &CounterCase) -> Vec<Finding> {
    let CounterCase {
        platform, found, ..
    } = *case;
    let mut findings = Vec::new();
    let mut add = |code: &str, judged: Option<Judged>| {
        findings.extend(judged.map(|(severity, values)| Finding {
            code: code.to_owned(),
            severity,
            values,
        }));
    };
    if found.stuck {
        add(
            "stuck",
            Some(self::found(Problem, [("watched", ns(found.watched_ns))])),
        );
    } else {
        add("rate", Some(rate(found)));
        add("order", Some(order(found)));
        add("one-rate", one_rate(found));
        add("cpus", Some(offsets(found)));
        add("between-cpus", between(found));
        for (code, severity, unit, positive, tested) in TESTS {
            add(
                code,
                tested(found).map(|it| judged_test(it, severity, unit, positive)),
            );
        }
        add("unfenced", unfenced(found));
        add("cost", cost(found));
    }
    add("invariant", Some(invariant(platform)));
    add("kernel", Some(kernel(platform)));
    add("log", Some(log(case.facts)));
    add("witness", witness(platform));
    let emulator = platform.emulator();
    add(
        "emulated",
        emulator.map(|name| self::found(Note, [("emulator", text(name))])),
    );
    add("moved", Some(after_a_move(case)));
    findings.extend(conflict(platform));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Returns whether the clock of the kernel is derived from this counter.
#[must_use]
pub fn is_built_on(platform: &Platform) -> bool {
    let current = platform.clocksource.current.as_deref();
    current.is_some_and(clock_sources::is_counter)
}

const INSTEAD: &str = "read the kernel's clock instead (clock_gettime, CLOCK_MONOTONIC)";

pub(super) static COUNTER: &[Wording] = &[
    wording(
        "stuck",
        Problem,
        "",
        "it stood still while {watched} passed",
        INSTEAD,
    ),
    wording(
        "rate",
        Unknown,
        "",
        "its rate could not be found: there were too few looks, or it went back between them",
        "",
    ),
    wording(
        "rate",
        Ok,
        "",
        "it counts at {rate} ± {uncertainty} by the kernel's clock, over {watched}",
        "",
    ),
    wording(
        "order",
        Unknown,
        "",
        "the order of its readings could not be observed",
        "",
    ),
    wording(
        "order",
        Problem,
        "",
        "it went back {backward} times in {readings} readings of one thread, by up to {largest}",
        INSTEAD,
    ),
    wording(
        "order",
        Ok,
        "",
        "{readings} readings of a thread that went from CPU to CPU never went back; a share of {shows} would have shown",
        "",
    ),
    wording(
        "one-rate",
        Problem,
        "",
        "CPU {cpu} counts {value} ± {uncertainty} faster than the first one",
        INSTEAD,
    ),
    wording(
        "one-rate",
        Ok,
        "",
        "all CPUs count at one rate; a difference of {sees} would have shown",
        "",
    ),
    wording(
        "cpus",
        Unknown,
        "backward",
        "single readings went back between CPUs, so that no offset is known",
        "",
    ),
    wording(
        "cpus",
        Unknown,
        "",
        "the counters of several CPUs could not be compared: this process may use one CPU only, or cannot choose",
        "",
    ),
    wording(
        "cpus",
        Problem,
        "",
        "the counter of CPU {cpu} is off by {value} ± {uncertainty} from that of the first one: time goes back for a thread that is moved",
        INSTEAD,
    ),
    wording(
        "cpus",
        Note,
        "",
        "the counter of CPU {cpu} is off by {value} ± {uncertainty} from that of the first one; a move from CPU to CPU takes longer, so that no thread can observe it",
        "",
    ),
    wording(
        "cpus",
        Ok,
        "",
        "the counters of {cpus} CPUs agree within {within}; an offset of {sees} would have shown",
        "",
    ),
    wording(
        "between-cpus",
        Problem,
        "",
        "it went back {backward} times in {handoffs} handoffs from CPU to CPU, by up to {largest}, and no offset explains it",
        INSTEAD,
    ),
    wording(
        "between-cpus",
        Ok,
        "",
        "{handoffs} handoffs from CPU to CPU showed no step back but by offsets; a share of {shows} by more than {usual} would have shown",
        "",
    ),
    wording(
        "asleep",
        Problem,
        "",
        "it counts {value} ± {uncertainty} slower while the thread sleeps than while it computes",
        INSTEAD,
    ),
    wording(
        "asleep",
        Ok,
        "",
        "it counts equally while the thread sleeps and computes; a difference of {sees} would have shown",
        "",
    ),
    wording(
        "leap",
        Problem,
        "",
        "it leapt ahead of the kernel's clock by {value} ± {uncertainty} at once",
        INSTEAD,
    ),
    wording(
        "leap",
        Ok,
        "",
        "it never leapt ahead of the kernel's clock; {sees} would have shown",
        "",
    ),
    wording(
        "freeze",
        Problem,
        "",
        "it stood still, or fell behind the kernel's clock, by {value} ± {uncertainty} at once",
        INSTEAD,
    ),
    wording(
        "freeze",
        Ok,
        "",
        "it never stood still; {sees} would have shown",
        "",
    ),
    wording(
        "change",
        Problem,
        "",
        "its rate changed by {value} ± {uncertainty} while it was watched",
        INSTEAD,
    ),
    wording(
        "change",
        Ok,
        "",
        "its rate did not change while it was watched; a change of {sees} for an eighth of the time would have shown",
        "",
    ),
    wording(
        "declared",
        Note,
        "",
        "it counts {value} ± {uncertainty} faster than is declared, by the kernel's clock",
        "measure its rate; a program that believes the declared one is off by that",
    ),
    wording(
        "declared",
        Ok,
        "",
        "it counts as fast as is declared; {sees} would have shown",
        "",
    ),
    wording(
        "unfenced",
        Note,
        "",
        "without a fence it went back {backward} times in {handoffs} handoffs, by up to {largest}: the bare instruction is carried out before earlier ones",
        "put a fence before a reading whose order to other threads matters (lfence, isb)",
    ),
    wording(
        "unfenced",
        Ok,
        "",
        "without a fence it never went back in {handoffs} handoffs, though no manual promises that",
        "",
    ),
    wording(
        "cost",
        Note,
        "",
        "the amortised cost of a read is {counter}, of the kernel's clock {clock}: reading it gains nothing",
        INSTEAD,
    ),
    wording(
        "cost",
        Ok,
        "",
        "the amortised cost of a read is {counter}, of the kernel's clock {clock}",
        "",
    ),
    wording(
        "invariant",
        Ok,
        "architecture",
        "all CPUs read one counter of one rate, by the architecture",
        "",
    ),
    wording(
        "invariant",
        Ok,
        "",
        "it counts at one rate whatever the core does (constant), also in deep idle states (nonstop)",
        "",
    ),
    wording(
        "invariant",
        Problem,
        "stops",
        "it stops in deep idle states (no nonstop_tsc)",
        INSTEAD,
    ),
    wording(
        "invariant",
        Problem,
        "",
        "its rate follows the frequency of the core (no constant_tsc)",
        INSTEAD,
    ),
    wording(
        "invariant",
        Unknown,
        "",
        "neither CPUID nor the kernel says whether its rate is constant",
        "",
    ),
    wording(
        "kernel",
        Unknown,
        "",
        "which clock source the kernel trusts is not reported by this machine",
        "",
    ),
    wording(
        "kernel",
        Ok,
        "",
        "the kernel builds its own clocks on it ({current})",
        "",
    ),
    wording(
        "kernel",
        Note,
        "offered",
        "the kernel uses {current}, and offers the counter as well",
        "",
    ),
    wording(
        "kernel",
        Note,
        "",
        "the kernel uses {current}, and does not say whether it trusts the counter",
        "",
    ),
    wording(
        "kernel",
        Problem,
        "",
        "the kernel uses {current} and does not offer the counter: it found it wrong, or was configured to leave it alone",
        "look for `tsc` in the kernel's log (dmesg) and on its command line",
    ),
    wording(
        "log",
        Unknown,
        "",
        "what the kernel logged of it cannot be read: {why}",
        "run as root, or look yourself: dmesg | grep -i -e tsc -e clocksource",
    ),
    wording("log", Problem, "", "the kernel gave it up: {line}", INSTEAD),
    wording(
        "log",
        Note,
        "",
        "what is left of the kernel's log holds nothing against it; its beginning is gone",
        "",
    ),
    wording(
        "log",
        Ok,
        "",
        "the kernel's log, from its start, holds nothing against it",
        "",
    ),
    wording(
        "witness",
        Note,
        "",
        "the kernel's clock is made of this counter ({current}): a leap, a halt or a change of rate of both together shows only to the kernel's watchdog, where it has one, and to other machines",
        "",
    ),
    wording(
        "moved",
        Ok,
        "",
        "this is not a virtual machine, so it is never migrated",
        "",
    ),
    wording("moved", Ok, "promise", "{by}", ""),
    wording(
        "moved",
        Note,
        "promise",
        "{by}: after a move it counts at another rate",
        "",
    ),
    wording(
        "moved",
        Ok,
        "arm",
        "{hypervisor}: the counter has the rate that all hosts of this kind have (1 GHz), and an offset by the architecture",
        "",
    ),
    wording(
        "moved",
        Ok,
        "kvm",
        "{hypervisor} offsets the counter (it shows {age:short}, the system has run for {uptime:short}) and calls it invariant, which it promises only where it scales it or does not move the machine",
        "",
    ),
    wording(
        "moved",
        Note,
        "offset",
        "{hypervisor} offsets the counter (it shows {age:short}, the system has run for {uptime:short}), but does not say that it keeps its rate on another host",
        "",
    ),
    wording(
        "moved",
        Note,
        "no-offset",
        "{hypervisor} does not offset the counter (it shows {age:short}, the system has run for {uptime:short}): on another host it shows another value",
        "",
    ),
    wording(
        "moved",
        Note,
        "",
        "{hypervisor} does not say what becomes of the counter on another host",
        "",
    ),
];

fn share(shows: f64, of: u64) -> Value {
    text(format!("{:.0e}", shows / of as f64))
}

fn rate(found: &CounterFindings) -> Judged {
    found.rate.map_or_else(unknown, |rate| {
        self::found(
            Ok,
            [
                ("rate", number(1e9 / rate.ns_per_tick, Unit::Hertz)),
                ("uncertainty", number(1e6 * rate.uncertainty, Unit::Ppm)),
                ("watched", ns(found.watched_ns)),
            ],
        )
    })
}

fn order(found: &CounterFindings) -> Judged {
    let (backward, readings, largest_ns) = found.backward;
    if readings == 0 {
        return unknown();
    }
    let readings = (("readings", count(readings)), share(SHOWS, readings));
    match backward {
        0 => self::found(Ok, [readings.0, ("shows", readings.1)]),
        _ => self::found(
            Problem,
            [
                readings.0,
                ("backward", count(backward)),
                ("largest", ns(largest_ns)),
            ],
        ),
    }
}

/// Returns the tested value with its uncertainty, or the smallest difference that the test would
/// have detected.
fn judged_test(tested: Tested, severity: Severity, unit: Unit, positive: bool) -> Judged {
    if tested.is_found() && (!positive || tested.value > 0.0) {
        let number = |value| number(value, unit);
        found(
            severity,
            [
                ("value", number(tested.value)),
                ("uncertainty", number(tested.uncertainty)),
            ],
        )
    } else {
        found(Ok, [("sees", number(tested.sees, unit))])
    }
}

fn one_rate(found: &CounterFindings) -> Option<Judged> {
    let beyond = |tested: &Tested| tested.value.abs() - tested.uncertainty;
    let worst = found.cpu_rates.iter();
    let worst = worst.max_by(|a, b| beyond(&a.tested).total_cmp(&beyond(&b.tested)))?;
    let sees = found.cpu_rates.iter().map(|rate| rate.tested.sees);
    let tested = Tested {
        sees: sees.fold(0.0, f64::max),
        ..worst.tested
    };
    let (severity, mut all) = judged_test(tested, Problem, Unit::Ppm, false);
    all.insert("cpu".into(), count(worst.cpu));
    Some((severity, all))
}

fn offsets(found: &CounterFindings) -> Judged {
    let beyond = |offset: &&CpuOffset| offset.ns.abs() - offset.uncertainty_ns;
    let offsets = &found.offsets;
    let Some(worst) = offsets
        .iter()
        .max_by(|a, b| beyond(a).total_cmp(&beyond(b)))
    else {
        return match found.between {
            Some(_) => self::found(Unknown, [because("backward")]),
            None => unknown(),
        };
    };
    let largest = |of: fn(&CpuOffset) -> f64| ns(offsets.iter().map(of).fold(0.0, f64::max));
    if worst.apart {
        self::found(
            if worst.shows { Problem } else { Note },
            [
                ("cpu", count(worst.cpu)),
                ("value", ns(worst.ns)),
                ("uncertainty", ns(worst.uncertainty_ns)),
            ],
        )
    } else {
        self::found(
            Ok,
            [
                ("cpus", count(offsets.len())),
                (
                    "within",
                    largest(|offset| offset.ns.abs() + offset.uncertainty_ns),
                ),
                ("sees", largest(|offset| 2.0 * offset.uncertainty_ns)),
            ],
        )
    }
}

fn between(found: &CounterFindings) -> Option<Judged> {
    let between = found.between?;
    let handoffs = ("handoffs", count(between.handoffs));
    Some(match between.backward {
        0 => self::found(
            Ok,
            [
                handoffs,
                ("shows", share(SHOWS, between.handoffs)),
                ("usual", ns(between.usual_ns)),
            ],
        ),
        backward => self::found(
            Problem,
            [
                handoffs,
                ("backward", count(backward)),
                ("largest", ns(between.largest_ns)),
            ],
        ),
    })
}

fn unfenced(found: &CounterFindings) -> Option<Judged> {
    let unfenced = found.unfenced?;
    let severity = if unfenced.backward > 0 { Note } else { Ok };
    Some(self::found(
        severity,
        [
            ("handoffs", count(unfenced.handoffs)),
            ("backward", count(unfenced.backward)),
            ("largest", ns(unfenced.largest_ns)),
        ],
    ))
}

fn cost(found: &CounterFindings) -> Option<Judged> {
    let [counter, clock] = found.costs?;
    let severity = if counter >= clock { Note } else { Ok };
    Some(self::found(
        severity,
        [("counter", ns(counter)), ("clock", ns(clock))],
    ))
}

fn invariant(platform: &Platform) -> Judged {
    if !is_x86(platform) {
        return found(Ok, [because("architecture")]);
    }
    match (platform.invariant_counter().value, platform.tsc.constant) {
        (Some(true), _) => found(Ok, []),
        (Some(false), Some(true)) => found(Problem, [because("stops")]),
        (Some(false), _) => found(Problem, []),
        (None, _) => unknown(),
    }
}

fn kernel(platform: &Platform) -> Judged {
    let source = &platform.clocksource;
    let Some(current) = source.current.as_deref() else {
        return unknown();
    };
    let current = ("current", text(current));
    let constant = is_x86(platform) && platform.tsc.constant == Some(true);
    if is_built_on(platform) {
        found(Ok, [current])
    } else if source
        .available
        .iter()
        .any(|name| clock_sources::is_counter(name))
    {
        found(Note, [because("offered"), current])
    } else if constant && !source.available.is_empty() {
        found(Problem, [current])
    } else {
        found(Note, [current])
    }
}

fn log(facts: &CounterFacts) -> Judged {
    match &facts.log {
        KernelLog::Unreadable(why) => found(Unknown, [("why", text(why))]),
        KernelLog::Read { distrust, .. } if !distrust.is_empty() => {
            found(Problem, [("line", text(&distrust[0]))])
        }
        KernelLog::Read { from_the_start, .. } => {
            found(if *from_the_start { Ok } else { Note }, [])
        }
    }
}

/// Reports which properties of the counter cannot be tested because the reference clock is derived
/// from the counter.
fn witness(platform: &Platform) -> Option<Judged> {
    let current = platform.clocksource.current.as_deref().unwrap_or_default();
    is_built_on(platform).then(|| found(Note, [("current", text(current))]))
}

/// Returns whether the counter keeps its frequency and value after a virtual machine moves to
/// another host: `Ok` if it does.
fn after_a_move(case: &CounterCase) -> Judged {
    let CounterCase {
        platform, facts, ..
    } = *case;
    let Some(name) = platform.hypervisor.as_deref() else {
        return found(Ok, []);
    };
    if let Some(promise) = &facts.promise {
        let severity = if promise.keeps_rate { Ok } else { Note };
        return found(severity, [because("promise"), ("by", text(&promise.by))]);
    }
    let hz = case.found.rate.map(|rate| 1e9 / rate.ns_per_tick);
    let of_all_hosts = platform.cpu.architecture == "aarch64"
        && hz.is_some_and(|hz| (hz / OF_ALL_HOSTS_HZ - 1.0).abs() < 1e-3);
    let promised = name.contains("KVM")
        && is_x86(platform)
        && platform.invariant_counter().value == Some(true);
    // The hypervisor adds an offset to a counter that starts with the virtual machine.
    let ages = facts.age_s.zip(facts.uptime_s);
    let offset = ages.map(|(age, uptime)| age <= uptime + BEFORE_THE_SYSTEM_S);
    let (severity, reason) = match offset {
        Some(false) => (Note, Some("no-offset")),
        _ if of_all_hosts => (Ok, Some("arm")),
        Some(true) if promised => (Ok, Some("kvm")),
        Some(true) => (Note, Some("offset")),
        None => (Note, None),
    };
    let seconds = |s: f64| ns(s * 1e9);
    optional(
        (severity, values([("hypervisor", text(name))])),
        [
            ("reason", reason.map(text)),
            ("age", ages.map(|(age, _)| seconds(age))),
            ("uptime", ages.map(|(_, uptime)| seconds(uptime))),
        ],
    )
}
