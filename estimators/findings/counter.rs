//! Makes the findings about the counter of the processor, which a program can read without the
//! kernel. They follow from measurements and from the declarations of the processor, the kernel and
//! the hypervisor.

mod wordings;

pub(super) use wordings::COUNTER;

use timers::clock_sources;

use super::judgement::{Judgement, finding, is_x86, judgement, reason, unknown, with_known};
use super::machine::report_tsc_conflict;
use super::{count, ns, number, text};
use crate::model::Severity::{Note, Ok, Problem, Unknown};
use crate::model::{CounterFacts, Finding, KernelLog, Platform, Severity, Unit, Value};
use crate::rate::counter::{CounterFindings, CpuOffset, EXPECTED_FOR_DETECTION, TestedEffect};

/// The input of the checks of the counter.
#[derive(Clone, Copy, Debug)]
pub struct CounterCase<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// The declarations of the machine about the counter.
    pub facts: &'a CounterFacts,
    /// The results of the measurements.
    pub found: &'a CounterFindings,
}

/// The largest time that firmware and boot loader need, in seconds. If the time that the counter
/// shows exceeds the uptime of the system by more, the counter did not start with the machine.
/// *Judgement*.
const MAX_BOOT_S: f64 = 600.0;
/// The frequency of the counter in version 8.6 and later of the Arm architecture, in hertz.
/// *Definition*: Arm Architecture Reference Manual, D12.1.
const ARM_FREQUENCY_HZ: f64 = 1e9;

/// A statistical test of the measurements: the code of its finding, the severity if the test found
/// a difference, the unit of the difference, whether only a positive difference counts, and the
/// function that selects the result of the test.
type Test = (
    &'static str,
    Severity,
    Unit,
    bool,
    fn(&CounterFindings) -> Option<TestedEffect>,
);

const STATISTICAL_TESTS: [Test; 5] = [
    ("asleep", Problem, Unit::Ppm, false, |found| {
        found.sleep_rate_loss
    }),
    ("leap", Problem, Unit::Nanoseconds, true, |found| {
        found.sudden_gain
    }),
    ("freeze", Problem, Unit::Nanoseconds, true, |found| {
        found.sudden_loss
    }),
    ("change", Problem, Unit::Ppm, false, |found| {
        found.lasting_change
    }),
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
    let mut add = |code: &str, judged: Option<Judgement>| {
        findings.extend(judged.map(|judgement| finding(code, judgement)));
    };
    if found.stuck {
        add(
            "stuck",
            Some(judgement(Problem, [("watched", ns(found.observed_ns))])),
        );
    } else {
        add("rate", Some(judge_rate(found)));
        add("order", Some(judge_order(found)));
        add("one-rate", judge_rates_of_cpus(found));
        add("cpus", Some(judge_offsets(found)));
        add("between-cpus", judge_handoffs(found));
        for (code, severity, unit, positive, tested) in STATISTICAL_TESTS {
            add(
                code,
                tested(found).map(|it| judge_test(it, severity, unit, positive)),
            );
        }
        add("unfenced", judge_unfenced_handoffs(found));
        add("cost", judge_cost(found));
    }
    add("invariant", Some(judge_invariance(platform)));
    add("kernel", Some(judge_clock_source(platform)));
    add("log", Some(judge_kernel_log(case.facts)));
    add("witness", note_derived_clock(platform));
    let emulator = platform.emulator();
    add(
        "emulated",
        emulator.map(|name| judgement(Note, [("emulator", text(name))])),
    );
    add("moved", Some(judge_migration(case)));
    findings.extend(report_tsc_conflict(platform));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Returns whether the clock of the kernel is derived from this counter.
#[must_use]
pub fn kernel_clock_uses_counter(platform: &Platform) -> bool {
    let current = platform.clocksource.current.as_deref();
    current.is_some_and(clock_sources::is_counter)
}

/// Returns the smallest share of wrong readings that would have been detected, as a text, if
/// `detectable` wrong ones among `readings` are detected.
fn detectable_share(detectable: f64, readings: u64) -> Value {
    text(format!("{:.0e}", detectable / readings as f64))
}

fn judge_rate(found: &CounterFindings) -> Judgement {
    found.rate.map_or_else(unknown, |rate| {
        judgement(
            Ok,
            [
                ("rate", number(1e9 / rate.ns_per_tick, Unit::Hertz)),
                ("uncertainty", number(1e6 * rate.uncertainty, Unit::Ppm)),
                ("watched", ns(found.observed_ns)),
            ],
        )
    })
}

/// Judges whether the counter went back in one thread that was moved between CPUs.
fn judge_order(found: &CounterFindings) -> Judgement {
    let (backward, readings, largest_ns) = found.backward;
    if readings == 0 {
        return unknown();
    }
    let stayed = (found.order_cpus < 2).then(|| text("one-cpu"));
    let readings = (
        ("readings", count(readings)),
        detectable_share(EXPECTED_FOR_DETECTION, readings),
    );
    match backward {
        0 => with_known(
            judgement(Ok, [readings.0, ("shows", readings.1)]),
            [("reason", stayed)],
        ),
        _ => judgement(
            Problem,
            [
                readings.0,
                ("backward", count(backward)),
                ("largest", ns(largest_ns)),
            ],
        ),
    }
}

/// Judges the result of a statistical test: reports the difference with its uncertainty, or the
/// smallest difference that the test would have detected.
fn judge_test(tested: TestedEffect, severity: Severity, unit: Unit, positive: bool) -> Judgement {
    if tested.is_found() && (!positive || tested.value > 0.0) {
        let number = |value| number(value, unit);
        judgement(
            severity,
            [
                ("value", number(tested.value)),
                ("uncertainty", number(tested.uncertainty)),
            ],
        )
    } else {
        judgement(Ok, [("sees", number(tested.detectable, unit))])
    }
}

/// Judges whether the counters of all CPUs have one rate. `None` if they could not be compared.
fn judge_rates_of_cpus(found: &CounterFindings) -> Option<Judgement> {
    let certain_part = |tested: &TestedEffect| tested.value.abs() - tested.uncertainty;
    let worst = found.cpu_rates.iter();
    let worst = worst.max_by(|a, b| certain_part(&a.tested).total_cmp(&certain_part(&b.tested)))?;
    let detectable = found.cpu_rates.iter().map(|rate| rate.tested.detectable);
    let tested = TestedEffect {
        detectable: detectable.fold(0.0, f64::max),
        ..worst.tested
    };
    let (severity, mut all) = judge_test(tested, Problem, Unit::Ppm, false);
    all.insert("cpu".into(), count(worst.cpu));
    Some((severity, all))
}

/// Judges whether the counters of all CPUs show the same time.
fn judge_offsets(found: &CounterFindings) -> Judgement {
    let certain_part = |offset: &&CpuOffset| offset.ns.abs() - offset.uncertainty_ns;
    let offsets = &found.offsets;
    let Some(worst) = offsets
        .iter()
        .max_by(|a, b| certain_part(a).total_cmp(&certain_part(b)))
    else {
        return match found.across_cpus {
            Some(_) => judgement(Unknown, [reason("backward")]),
            None => unknown(),
        };
    };
    let largest = |value: fn(&CpuOffset) -> f64| ns(offsets.iter().map(value).fold(0.0, f64::max));
    if worst.is_significant {
        judgement(
            if worst.exceeds_handoff { Problem } else { Note },
            [
                ("cpu", count(worst.cpu)),
                ("value", ns(worst.ns)),
                ("uncertainty", ns(worst.uncertainty_ns)),
            ],
        )
    } else {
        judgement(
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

/// Judges whether the counter went back between CPUs although no offset explains it. `None` if no
/// handoffs were observed.
fn judge_handoffs(found: &CounterFindings) -> Option<Judgement> {
    let between = found.across_cpus?;
    let handoffs = ("handoffs", count(between.handoffs));
    Some(match between.backward {
        0 => judgement(
            Ok,
            [
                handoffs,
                (
                    "shows",
                    detectable_share(EXPECTED_FOR_DETECTION, between.handoffs),
                ),
                ("usual", ns(between.usual_ns)),
            ],
        ),
        backward => judgement(
            Problem,
            [
                handoffs,
                ("backward", count(backward)),
                ("largest", ns(between.largest_ns)),
            ],
        ),
    })
}

/// Reports whether readings without a fence went back between CPUs. `None` if there are none.
fn judge_unfenced_handoffs(found: &CounterFindings) -> Option<Judgement> {
    let unfenced = found.unfenced?;
    let severity = if unfenced.backward > 0 { Note } else { Ok };
    Some(judgement(
        severity,
        [
            ("handoffs", count(unfenced.handoffs)),
            ("backward", count(unfenced.backward)),
            ("largest", ns(unfenced.largest_ns)),
        ],
    ))
}

/// Compares the costs of a read of the counter and of the kernel's clock. `None` if unknown.
fn judge_cost(found: &CounterFindings) -> Option<Judgement> {
    let [counter, clock] = found.costs?;
    let severity = if counter >= clock { Note } else { Ok };
    Some(judgement(
        severity,
        [("counter", ns(counter)), ("clock", ns(clock))],
    ))
}

/// Judges whether the counter is declared to have one rate in all states of the processor.
fn judge_invariance(platform: &Platform) -> Judgement {
    if !is_x86(platform) {
        return judgement(Ok, [reason("architecture")]);
    }
    match (platform.invariant_counter().value, platform.tsc.constant) {
        (Some(true), _) => judgement(Ok, []),
        (Some(false), Some(true)) => judgement(Problem, [reason("stops")]),
        (Some(false), _) => judgement(Problem, []),
        (None, _) => unknown(),
    }
}

/// Judges whether the kernel uses the counter for its own clocks.
fn judge_clock_source(platform: &Platform) -> Judgement {
    let source = &platform.clocksource;
    let Some(current) = source.current.as_deref() else {
        return unknown();
    };
    let current = ("current", text(current));
    let constant = is_x86(platform) && platform.tsc.constant == Some(true);
    if kernel_clock_uses_counter(platform) {
        judgement(Ok, [current])
    } else if source
        .available
        .iter()
        .any(|name| clock_sources::is_counter(name))
    {
        judgement(Note, [reason("offered"), current])
    } else if constant && !source.available.is_empty() {
        judgement(Problem, [current])
    } else {
        judgement(Note, [current])
    }
}

/// Judges whether the kernel's log says that the kernel distrusts the counter.
fn judge_kernel_log(facts: &CounterFacts) -> Judgement {
    match &facts.log {
        KernelLog::Unreadable(why) => judgement(Unknown, [("why", text(why))]),
        KernelLog::Read { distrust, .. } if !distrust.is_empty() => {
            judgement(Problem, [("line", text(&distrust[0]))])
        }
        KernelLog::Read { from_the_start, .. } => {
            judgement(if *from_the_start { Ok } else { Note }, [])
        }
    }
}

/// Notes that the kernel's clock, with which the counter is compared, is derived from the counter,
/// so that some faults cannot be detected.
fn note_derived_clock(platform: &Platform) -> Option<Judgement> {
    let current = platform.clocksource.current.as_deref().unwrap_or_default();
    kernel_clock_uses_counter(platform).then(|| judgement(Note, [("current", text(current))]))
}

/// Judges whether a program notices, or need not notice, that the virtual machine is moved to
/// another host or restored from a snapshot; the severity is `Ok` if so, or if the machine is not
/// virtual. Unknown if the machine was moved while the counter was measured.
fn judge_migration(case: &CounterCase) -> Judgement {
    let CounterCase {
        platform, facts, ..
    } = *case;
    let vmclock = platform.vmclock;
    let Some(name) = platform
        .hypervisor
        .as_deref()
        .or(vmclock.map(|_| "a hypervisor"))
    else {
        return judgement(Ok, []);
    };
    let hypervisor = ("hypervisor", text(name));
    let rate = vmclock.and_then(|page| page.known_rate());
    let rate = rate.map(|(hz, ppm)| [number(hz, Unit::Hertz), number(ppm, Unit::Ppm)]);
    let hz = case.found.rate.map(|rate| 1e9 / rate.ns_per_tick);
    let is_arm_standard = platform.cpu.architecture == "aarch64"
        && hz.is_some_and(|hz| (hz / ARM_FREQUENCY_HZ - 1.0).abs() < 1e-3);
    // A counter that started with the virtual machine has an offset from the counter of the host,
    // which the hypervisor adds and can adapt after a migration.
    let ages = facts.age_s.zip(facts.uptime_s);
    let has_offset = ages.map(|(age, uptime)| age <= uptime + MAX_BOOT_S);
    let expected = vmclock.and_then(|page| page.expected);
    let promise = facts.promise.as_ref();
    let (severity, reason) = match (&promise, has_offset) {
        _ if vmclock.is_some_and(|page| page.disrupted == Some(true)) => {
            (Unknown, Some("disrupted"))
        }
        _ if expected.is_some() => (Note, Some("expected")),
        _ if rate.is_some() => (Ok, Some("vmclock")),
        (None, Some(false)) => (Note, Some("no-offset")),
        _ if is_arm_standard => (Ok, Some("arm")),
        _ if vmclock.is_some() => (Note, Some("no-rate")),
        (Some(promise), _) if promise.keeps_rate => (Note, Some("declared")),
        (Some(_), _) => (Note, Some("promise")),
        (None, Some(true)) => (Note, Some("offset")),
        (None, None) => (Note, None),
    };
    let seconds = |s: f64| ns(s * 1e9);
    let [hz, bound] = rate.map_or([None, None], |values| values.map(Some));
    with_known(
        judgement(severity, [hypervisor]),
        [
            ("reason", reason.map(text)),
            ("by", promise.map(|promise| text(&promise.by))),
            ("rate", hz),
            ("bound", bound),
            ("within", expected.map(|expected| text(expected.in_words()))),
            ("age", ages.map(|(age, _)| seconds(age))),
            ("uptime", ages.map(|(_, uptime)| seconds(uptime))),
        ],
    )
}
