//! Tests all verdicts on clocks with given evidence, and the verdicts other than stability.

mod reference;
mod stability;

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::model::{Interval, Outcome, Question};
use crate::profile::profile;
use crate::resolution::{Resolution, StepRule};
use crate::trace::{Advance, Claims, Intervals, Order, Pair, Reference, ThreadActivity, Threads};

/// A clock of 1 ns that is compared with a reference of 1 ns. It claims to count wall time unless the
/// evidence has another claim.
fn trace(mut evidence: Evidence) -> Trace {
    evidence.claims.counts.get_or_insert(Counted::Wall);
    let intervals = (0..400)
        .map(|work| Intervals {
            work,
            deltas: vec![20 + 3 * work as i64].into(),
        })
        .collect();
    let run = crate::trace::Run {
        intervals,
        ..crate::trace::Run::default()
    };
    Trace {
        ns_per_tick: Some(1.0),
        declared: true,
        reference: Reference {
            id: "reference".into(),
            ns_per_tick: 1.0,
            step: 1.0,
            step_at_most: None,
            ns_per_work: 3.0,
            ..Reference::default()
        },
        runs: vec![run],
        evidence,
        ..Trace::default()
    }
}

/// The profile of a trace without evidence, which does not change it. The clock costs 30 ns.
static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile {
    cost: Some(Interval::exact(30.0)),
    ..resolved_profile(&trace(Evidence::default()), 1.0, StepRule::Unit)
});

fn verdicts(evidence: Evidence) -> Verdicts {
    verdicts_on(&trace(evidence), &PROFILE)
}

/// Returns the profile of a trace, with a given step in nanoseconds.
fn resolved_profile(trace: &Trace, step_ns: f64, rule: StepRule) -> Profile {
    let step = Interval::exact(step_ns);
    Profile {
        resolution: Resolution::Resolved { step, rule },
        ..profile(trace)
    }
}

static UNDECLARED: LazyLock<Properties> = LazyLock::new(Properties::default);

/// The case of a timer that declares no properties.
fn case<'a>(trace: &'a Trace, profile: &'a Profile, baselines: &'a ReadPathBaselines) -> Case<'a> {
    Case {
        properties: &UNDECLARED,
        device: None,
        trace,
        profile,
        machine: MachineCase::of_baselines(baselines),
        syscall_ns: None,
    }
}

fn verdicts_on(trace: &Trace, profile: &Profile) -> Verdicts {
    judge(&case(trace, profile, &ReadPathBaselines::default()))
}

fn claiming(counts: Counted) -> Claims {
    Claims {
        counts: Some(counts),
        resolution_ns: None,
    }
}

fn advances(spin: f64, sleep: f64, with_busy: f64) -> Vec<Advance> {
    [
        (ThreadActivity::Spin, spin),
        (ThreadActivity::Sleep, sleep),
        (ThreadActivity::OtherSpin, with_busy),
    ]
    .map(|(activity, share)| Advance {
        activity,
        timer: (8e6 * share) as i64,
        reference: 8_000_000,
    })
    .into()
}

#[test]
fn experiment_finds_what_is_counted() {
    for (advances, found) in [
        (advances(1.0, 1.0, 1.0), Some(Counted::Wall)),
        (advances(0.97, 0.01, 0.9), Some(Counted::ProcessCpu)),
        (advances(0.97, 0.01, 0.02), Some(Counted::ThreadCpu)),
        (advances(0.0, 1.0, 0.0), Some(Counted::SomethingElse)),
        (advances(0.4, 0.01, 0.02), None),
        (Vec::new(), None),
    ] {
        let evidence = Evidence {
            advances,
            ..Evidence::default()
        };
        let nature = verdicts(evidence).counts;
        assert_eq!(nature.found, found, "{}", nature.evidence);
        let outcome = match found {
            None => Outcome::NotTested,
            Some(Counted::Wall) => Outcome::Pass,
            Some(_) => Outcome::Fail,
        };
        assert_eq!(nature.outcome, outcome, "{}", nature.evidence);
    }
}

fn handoff_evidence(backward: u32, largest: u64, least: [i64; 2]) -> Evidence {
    let pair = Pair {
        cpus: Some([0, 1]),
        handoffs: 4_000,
        backward,
        largest,
        min_difference: least.map(Some),
        ..Pair::default()
    };
    let threads = Threads {
        rounds: 1,
        possible_pairs: 1,
        pairs: vec![pair],
    };
    Evidence {
        threads: Some(threads),
        ..Evidence::default()
    }
}

#[test]
fn step_back_between_threads_disqualifies() {
    let found = verdicts(handoff_evidence(0, 0, [40, 160]));
    assert_eq!(
        found.thread_safe.outcome,
        Outcome::Pass,
        "{}",
        found.thread_safe.evidence
    );
    let offset = found.thread_safe.offsets[1];
    assert_eq!((offset.ns, offset.uncertainty_ns), (-60.0, 101.0));
    let found = verdicts(handoff_evidence(3, 420, [-420, 580]));
    assert_eq!(found.thread_safe.outcome, Outcome::Fail);
    assert!(
        found
            .disqualifying()
            .any(|answer| answer.question == Question::ThreadSafe)
    );
    let mut evidence = handoff_evidence(3, 420, [-420, 580]);
    evidence.claims = claiming(Counted::ThreadCpu);
    assert_eq!(
        verdicts(evidence).thread_safe.outcome,
        Outcome::NotApplicable
    );
}

#[test]
fn one_step_back_is_enough() {
    let order = |backward| {
        let order = Order {
            readings: 250_000,
            backward,
            largest: 7 * backward,
            moves: 12,
            cpus: 2,
            advance: None,
        };
        verdicts(Evidence {
            order: Some(order),
            ..Evidence::default()
        })
        .monotonic
    };
    assert_eq!(order(0).outcome, Outcome::Pass);
    assert!(order(0).evidence.contains("moved 12 times among 2 CPUs"));
    let found = order(1);
    assert_eq!(
        (found.outcome, found.largest_ns),
        (Outcome::Fail, Some(7.0))
    );
    assert!(
        found
            .evidence
            .contains("once, by up to 7.000 ns, in 250000 readings"),
        "{}",
        found.evidence
    );
    // How far it advanced is unknown, as in old traces.
    assert!(!order(0).evidence.contains("detected"));
}

/// What can be said of a clock depends on how often its value changed, not on how often it was read.
#[test]
fn changes_limit_detectable_steps_back() {
    let judged = |step: f64, advance: u64, backward: u64| {
        let order = Order {
            readings: 143_134,
            backward,
            advance: Some(advance),
            ..Order::default()
        };
        let trace = trace(Evidence {
            order: Some(order),
            ..Evidence::default()
        });
        let profile = resolved_profile(&trace, step, StepRule::Unit);
        let verdict = verdicts_on(&trace, &profile).monotonic;
        (verdict.outcome, verdict.evidence)
    };
    for (step, advance, words) in [
        (
            4e6,
            484_000_000,
            "backwards; steps back at 2.5 % of the 121 changes of its value would",
        ),
        (
            4e6,
            8_000_000,
            "its value changed 2 times, too seldom to detect",
        ),
        (
            1.0,
            484_000_000,
            "backwards; steps back at 0.0021 % of the 143134 changes of its value would",
        ),
    ] {
        let (outcome, evidence) = judged(step, advance, 0);
        assert_eq!(outcome, Outcome::Pass);
        assert!(evidence.contains(words), "{evidence}");
    }
    let (outcome, evidence) = judged(4e6, 0, 0);
    assert_eq!(outcome, Outcome::NotTested, "{evidence}");
    assert_eq!(judged(4e6, 8_000_000, 1).0, Outcome::Fail);
    // It changed between comparisons, which are too far apart to show a step back.
    let evidence = Evidence {
        order: Some(Order {
            readings: 143_134,
            advance: Some(0),
            ..Order::default()
        }),
        sparse_comparisons: vec![[0, 0, 1], [100, 100, 101]],
        ..Evidence::default()
    };
    let verdict = verdicts(evidence).monotonic;
    assert_eq!(verdict.outcome, Outcome::NotTested, "{}", verdict.evidence);
}

/// Equal readings on both sides of a handoff show no step back.
#[test]
fn handoffs_count_by_changes() {
    let judged = |changed| {
        let mut evidence = handoff_evidence(0, 0, [0, 4]);
        evidence.threads.as_mut().expect("threads").pairs[0].changed = changed;
        let verdict = verdicts(evidence).thread_safe;
        (verdict.outcome, verdict.evidence)
    };
    for changed in [0, 3] {
        assert_eq!(judged(Some(changed)).0, Outcome::NotTested, "{changed}");
    }
    for (changed, words) in [
        (Some(4), "; steps back at 75 % of the 4 changes"),
        (Some(40), "; steps back at 7.5 % of the 40 changes"),
        (Some(4_000), "; steps back at 0.075 % of the 4000 changes"),
    ] {
        let (outcome, evidence) = judged(changed);
        assert_eq!(outcome, Outcome::Pass);
        assert!(evidence.contains(words), "{evidence}");
    }
    let (outcome, evidence) = judged(None);
    assert!(
        outcome == Outcome::Pass && !evidence.contains("detected"),
        "{evidence}"
    );
}

/// The read path of a clock, or of a raw counter, that costs 30 ns.
fn path(
    baselines: &ReadPathBaselines,
    syscall_ns: Option<f64>,
    declared: bool,
) -> crate::model::ReadPath {
    let mut trace = trace(Evidence {
        ..Evidence::default()
    });
    trace.declared = declared;
    let properties = (if declared {
        timers::Properties::MONOTONIC
    } else {
        timers::Properties::COUNTER
    })
    .into_owned();
    judge(&Case {
        properties: &properties,
        syscall_ns,
        ..case(&trace, &PROFILE, baselines)
    })
    .read_path
}

#[test]
fn cost_decides_read_path() {
    use crate::model::Path;
    let baselines = |source: &str, call: f64, clock_call: f64, trap: f64| ReadPathBaselines {
        system_call_ns: Some(call),
        clock_call_ns: Some(clock_call),
        trap_ns: Some(trap),
        clock_source: Some(source.into()),
        vdso: None,
    };
    let fast_calls = baselines("tsc", 90.0, 170.0, 1_500.0);
    for (baselines, syscall_ns, declared, outcome, path_found) in [
        (
            &fast_calls,
            Some(170.0),
            true,
            Outcome::Pass,
            Path::UserMode,
        ),
        (&fast_calls, None, true, Outcome::Pass, Path::UserMode),
        (&fast_calls, None, false, Outcome::Pass, Path::UserMode),
        (
            &baselines("hpet", 12.0, 31.0, 1_500.0),
            None,
            true,
            Outcome::Fail,
            Path::SystemCall,
        ),
        (
            &baselines("hpet", 12.0, 90.0, 1_500.0),
            Some(31.0),
            true,
            Outcome::Fail,
            Path::SystemCall,
        ),
        (
            &baselines("tsc", 2.0, 31.0, 35.0),
            None,
            true,
            Outcome::Fail,
            Path::Trapped,
        ),
        (
            &baselines("tsc", 2.0, 31.0, 35.0),
            None,
            false,
            Outcome::Fail,
            Path::Trapped,
        ),
        (
            &baselines("tsc", 2.0, 90.0, 65.0),
            None,
            false,
            Outcome::Pass,
            Path::SystemCall,
        ),
        (
            &baselines("tsc", 40.0, 90.0, 1_500.0),
            None,
            true,
            Outcome::Pass,
            Path::UserMode,
        ),
    ] {
        let found = path(baselines, syscall_ns, declared);
        let judged = (found.outcome, found.path);
        assert_eq!(
            judged,
            (outcome, Some(path_found)),
            "{baselines:?}: {}",
            found.evidence
        );
    }
    let found = path(&baselines("hpet", 12.0, 90.0, 1_500.0), Some(31.0), true);
    assert!(
        found.evidence.contains("costs as much as its system call")
            && found.evidence.ends_with("because the clock source is hpet"),
        "{}",
        found.evidence
    );
    // Too little for the clock's call, too much for user mode: one of the baselines was timed at a
    // slow moment.
    let found = path(&baselines("hpet", 40.0, 55.0, 1_500.0), None, true);
    assert_eq!(
        (found.outcome, found.path),
        (Outcome::NotTested, None),
        "{}",
        found.evidence
    );
    // The call that was timed reads another clock.
    assert!(
        !found.evidence.contains("monotonic-syscall"),
        "{}",
        found.evidence
    );
    // An emulator, on which all instructions cost about the same: 35 ns are no trap.
    let no_vdso = ReadPathBaselines {
        vdso: Some(false),
        ..baselines("tsc", 2.0, 31.0, 35.0)
    };
    let found = path(&no_vdso, None, true);
    assert_eq!(
        (found.outcome, found.path),
        (Outcome::Fail, Some(Path::SystemCall)),
        "{}",
        found.evidence
    );
    let no_vdso = ReadPathBaselines {
        vdso: Some(false),
        ..baselines("tsc", 12.0, 90.0, 1_500.0)
    };
    let found = path(&no_vdso, Some(31.0), true);
    assert_eq!(
        (found.outcome, found.path),
        (Outcome::Fail, Some(Path::SystemCall))
    );
    assert!(
        found.evidence.ends_with("because the kernel maps no vDSO"),
        "{}",
        found.evidence
    );
}

#[test]
fn busy_machine_keeps_cpu_time() {
    let claims = claiming(Counted::ThreadCpu);
    let found = verdicts(Evidence {
        claims,
        advances: advances(0.2, 0.0, 0.0),
        ..Evidence::default()
    })
    .counts;
    assert_eq!(
        (found.outcome, found.found),
        (Outcome::NotTested, None),
        "{}",
        found.evidence
    );
    assert!(found.evidence.contains("20 %"), "{}", found.evidence);
}

/// Threads that should compute get only the share of time that other programs leave.
#[test]
fn starved_thread_keeps_the_clock() {
    for (counts, asleep) in [
        (Counted::ProcessCpu, 0.0),
        (Counted::ProcessCpu, 0.7),
        (Counted::ThreadCpu, 0.0),
    ] {
        for got in [0.0, 0.02, 0.11, 0.23, 0.29, 0.31, 0.45, 0.9] {
            for with_busy in [0.0, 0.02, 0.11, 0.23, 0.29, 0.31, 0.45, 0.9] {
                // Next to a busy thread, the clock of the sleeping thread stands still.
                let with_busy = if counts == Counted::ThreadCpu {
                    0.0
                } else {
                    with_busy
                };
                let starved = got <= 0.5 || (with_busy <= 0.5 && counts == Counted::ProcessCpu);
                let advances = advances(got, asleep, with_busy);
                let evidence = Evidence {
                    claims: claiming(counts),
                    advances,
                    ..Evidence::default()
                };
                let found = verdicts(evidence).counts;
                if starved {
                    assert_eq!(
                        (found.outcome, found.found),
                        (Outcome::NotTested, None),
                        "{}",
                        found.evidence
                    );
                } else if asleep == 0.0 {
                    assert_eq!(
                        (found.outcome, found.found),
                        (Outcome::Pass, Some(counts)),
                        "{}",
                        found.evidence
                    );
                }
            }
        }
    }
}

#[test]
fn unexplained_clock_counts_something_else() {
    for counts in [Counted::Wall, Counted::ThreadCpu] {
        for (shares, known) in [
            // The clock moves during sleep and not at work: no clock of CPU time does, however long
            // its thread waits.
            ((0.0, 1.0, 0.0), true),
            ((0.0, 1.0, 0.9), true),
            // The thread lost its CPU between the readings of both clocks.
            ((0.25, 1.0, 1.0), false),
            ((1.0, 1.0, 0.23), false),
        ] {
            let advances = advances(shares.0, shares.1, shares.2);
            let evidence = Evidence {
                claims: claiming(counts),
                advances,
                ..Evidence::default()
            };
            let found = verdicts(evidence).counts;
            let expected = if known {
                (Outcome::Fail, Some(Counted::SomethingElse))
            } else {
                (Outcome::NotTested, None)
            };
            assert_eq!(
                (found.outcome, found.found),
                expected,
                "{shares:?}: {}",
                found.evidence
            );
        }
    }
}

#[test]
fn missing_evidence_gives_no_verdict() {
    let found = verdicts(Evidence::default());
    for answer in found.answers() {
        assert!(
            matches!(answer.outcome, Outcome::NotTested | Outcome::Pass),
            "{answer:?}"
        );
        assert!(!answer.evidence.is_empty(), "{answer:?}");
    }
}

proptest! {
    #[test]
    fn no_evidence_panics(series in prop::collection::vec(any::<[i64; 3]>(), 0..12), sparse_comparisons in prop::collection::vec(any::<[i64; 3]>(), 0..6),
                          timer in any::<i64>(), reference in any::<i64>(), least in any::<[Option<i64>; 2]>()) {
        let advances = vec![Advance { activity: ThreadActivity::Spin, timer, reference }];
        let pair = Pair { cpus: Some([0, 1]), handoffs: 9, backward: 0, largest: 0, min_difference: least, changed: None };
        let threads = Some(Threads { rounds: 1, possible_pairs: 1, pairs: vec![pair] });
        let found = verdicts(Evidence { series, sparse_comparisons, advances, threads, ..Evidence::default() });
        prop_assert!(found.answers().all(|answer| !answer.evidence.is_empty()));
    }
}
