//! Tests all verdicts on clocks with given evidence, and the verdicts other than stability.

mod reference;
mod stability;

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use estimators::figures::figures;
use estimators::model::{Estimate, Outcome, Question};
use estimators::resolution::{Step, StepRule};
use estimators::trace::{
    Advance, Claims, Differences, Order, Pair, Reference, ThreadActivity, Threads,
};

/// A clock of 1 ns that is compared with a reference of 1 ns. It claims to count wall time unless the
/// evidence has another claim.
fn trace(mut evidence: Evidence) -> Trace {
    evidence.claims.counts.get_or_insert(Counted::Wall);
    let intervals = (0..400)
        .map(|work| Differences {
            work,
            deltas: vec![20 + 3 * work as i64].into(),
        })
        .collect();
    let run = estimators::trace::Observations {
        intervals,
        ..estimators::trace::Observations::default()
    };
    Trace {
        ns_per_tick: Some(1.0),
        declared: true,
        reference: Reference {
            id: "reference".into(),
            ns_per_tick: 1.0,
            step: 1.0,
            ns_per_work: 3.0,
            ..Reference::default()
        },
        runs: vec![run],
        evidence,
        ..Trace::default()
    }
}

/// The figures of a trace without evidence, which does not change it. The clock costs 30 ns.
static PROFILE: LazyLock<Figures> = LazyLock::new(|| Figures {
    cost: Some(Estimate::exact(30.0)),
    ..resolved_profile(&trace(Evidence::default()), 1.0, StepRule::Unit)
});

fn verdicts(evidence: Evidence) -> Verdicts {
    verdicts_on(&trace(evidence), &PROFILE)
}

/// Returns the figures of a trace, with a given step in nanoseconds.
fn resolved_profile(trace: &Trace, step_ns: f64, rule: StepRule) -> Figures {
    let step = Estimate::exact(step_ns);
    Figures {
        resolution: Step::Resolved { step, rule },
        ..figures(trace)
    }
}

static UNDECLARED: LazyLock<Properties> = LazyLock::new(Properties::default);

/// The case of a timer that declares no properties.
fn case<'a>(trace: &'a Trace, figures: &'a Figures, baselines: &'a ReadPathBaselines) -> Case<'a> {
    Case {
        properties: &UNDECLARED,
        device: None,
        trace,
        figures,
        machine: MachineCase::of_baselines(baselines),
        syscall_ns: None,
    }
}

fn verdicts_on(trace: &Trace, figures: &Figures) -> Verdicts {
    judge(&case(trace, figures, &ReadPathBaselines::default()))
}

/// Checks the outcome of a verdict, and that its evidence contains these words.
#[track_caller]
fn assert_judged(found: &Verdicts, question: Question, outcome: Outcome, words: &str) {
    let answer = found.answers().find(|answer| answer.question == question);
    let answer = answer.unwrap();
    assert_eq!(answer.outcome, outcome, "{}", answer.evidence);
    assert!(answer.evidence.contains(words), "{}", answer.evidence);
}

fn claiming(counts: Counted) -> Claims {
    Claims {
        counts: Some(counts),
        resolution_ns: None,
    }
}

/// The shares of the time in which a clock advances while its thread computes, sleeps, and sleeps
/// next to a busy thread.
fn advances(shares: [f64; 3]) -> Vec<Advance> {
    let advance = |(activity, share)| Advance {
        activity,
        timer: (8e6 * share) as i64,
        reference: 8_000_000,
    };
    ThreadActivity::ALL
        .into_iter()
        .zip(shares)
        .map(advance)
        .collect()
}

/// Checks what a clock counts by these advances, which claims to count this.
#[track_caller]
fn assert_counts(
    claimed: Counted,
    advances: Vec<Advance>,
    expected: (Outcome, Option<Counted>),
) -> String {
    let found = verdicts(Evidence {
        claims: claiming(claimed),
        advances,
        ..Evidence::default()
    });
    let found = found.counts;
    assert_eq!((found.outcome, found.found), expected, "{}", found.evidence);
    found.evidence
}

#[test]
fn experiment_finds_what_is_counted() {
    for (advances, found) in [
        (advances([1.0; 3]), Some(Counted::Wall)),
        (advances([0.97, 0.01, 0.9]), Some(Counted::ProcessCpu)),
        (advances([0.97, 0.01, 0.02]), Some(Counted::ThreadCpu)),
        (advances([0.4, 0.01, 0.02]), None),
        (Vec::new(), None),
    ] {
        let outcome = match found {
            None => Outcome::NotTested,
            Some(Counted::Wall) => Outcome::Pass,
            Some(_) => Outcome::Fail,
        };
        assert_counts(Counted::Wall, advances, (outcome, found));
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
    use Question::ThreadSafe;
    let found = verdicts(handoff_evidence(0, 0, [40, 160]));
    assert_judged(&found, ThreadSafe, Outcome::Pass, "");
    let offset = found.thread_safe.offsets[1];
    assert_eq!((offset.ns, offset.uncertainty_ns), (-60.0, 101.0));
    let mut evidence = handoff_evidence(3, 420, [-420, 580]);
    let found = verdicts(evidence.clone());
    assert_judged(&found, ThreadSafe, Outcome::Fail, "");
    let mut disqualifying = found.disqualifying();
    assert!(disqualifying.any(|answer| answer.question == ThreadSafe));
    evidence.claims = claiming(Counted::ThreadCpu);
    assert_judged(&verdicts(evidence), ThreadSafe, Outcome::NotApplicable, "");
}

fn ordered(order: Order) -> Evidence {
    Evidence {
        order: Some(order),
        ..Evidence::default()
    }
}

#[test]
fn one_step_back_is_enough() {
    let order = |backward| {
        verdicts(ordered(Order {
            readings: 250_000,
            backward,
            largest: 7 * backward,
            moves: 12,
            cpus: 2,
            advance: None,
        }))
    };
    let (none, one) = (order(0), order(1));
    let moved = "moved 12 times among 2 CPUs";
    assert_judged(&none, Question::Monotonic, Outcome::Pass, moved);
    // How far it advanced is unknown, as in old traces.
    assert!(!none.monotonic.evidence.contains("detected"));
    let back = "once, by up to 7.000 ns, in 250000 readings";
    assert_judged(&one, Question::Monotonic, Outcome::Fail, back);
    assert_eq!(one.monotonic.largest_ns, Some(7.0));
}

/// What can be said of a clock depends on how often its value changed, not on how often it was read.
#[test]
fn changes_limit_detectable_steps_back() {
    let judged = |step: f64, advance: u64, backward: u64| {
        let trace = trace(ordered(Order {
            readings: 143_134,
            backward,
            advance: Some(advance),
            ..Order::default()
        }));
        let figures = resolved_profile(&trace, step, StepRule::Unit);
        verdicts_on(&trace, &figures)
    };
    let often =
        |words: &str| format!("backwards; steps back at {words} changes of its value would");
    let [some, all] = ["2.5 % of the 121", "0.0021 % of the 143134"].map(often);
    let seldom = "its value changed 2 times, too seldom to detect";
    for (step, advance, backward, outcome, words) in [
        (4e6, 484_000_000, 0, Outcome::Pass, &*some),
        // Rounded up.
        (4e6, 7_000_000, 0, Outcome::Pass, seldom),
        (1.0, 484_000_000, 0, Outcome::Pass, &all),
        (4e6, 0, 0, Outcome::NotTested, ""),
        (4e6, 8_000_000, 1, Outcome::Fail, ""),
    ] {
        let found = judged(step, advance, backward);
        assert_judged(&found, Question::Monotonic, outcome, words);
    }
    // It changed between comparisons, which are too far apart to show a step back.
    let found = verdicts(Evidence {
        sparse_comparisons: vec![[0, 0, 1], [100, 100, 101]],
        ..ordered(Order {
            readings: 143_134,
            advance: Some(0),
            ..Order::default()
        })
    });
    assert_judged(&found, Question::Monotonic, Outcome::NotTested, "");
}

/// Equal readings on both sides of a handoff show no step back.
#[test]
fn handoffs_count_by_changes() {
    let judged = |changed| {
        let mut evidence = handoff_evidence(0, 0, [0, 4]);
        evidence.threads.as_mut().unwrap().pairs[0].changed = changed;
        verdicts(evidence)
    };
    for (changed, outcome, words) in [
        (Some(0), Outcome::NotTested, ""),
        (Some(3), Outcome::NotTested, ""),
        (
            Some(4),
            Outcome::Pass,
            "; steps back at 75 % of the 4 changes",
        ),
        (
            Some(40),
            Outcome::Pass,
            "; steps back at 7.5 % of the 40 changes",
        ),
        (
            Some(4_000),
            Outcome::Pass,
            "; steps back at 0.075 % of the 4000 changes",
        ),
        (None, Outcome::Pass, ""),
    ] {
        assert_judged(&judged(changed), Question::ThreadSafe, outcome, words);
    }
    assert!(!judged(None).thread_safe.evidence.contains("detected"));
}

/// The read path of a clock, or of a raw counter, that costs 30 ns.
fn path(
    baselines: &ReadPathBaselines,
    syscall_ns: Option<f64>,
    declared: bool,
) -> estimators::model::ReadPath {
    let mut trace = trace(Evidence::default());
    trace.declared = declared;
    let properties = match declared {
        true => timers::Properties::MONOTONIC,
        false => timers::Properties::COUNTER,
    };
    let properties = properties.into_owned();
    judge(&Case {
        properties: &properties,
        syscall_ns,
        ..case(&trace, &PROFILE, baselines)
    })
    .read_path
}

/// The clock source (`none`: no vDSO), the costs of a system call, of that of the clock and of a trap, and of the same
/// clock by a system call; whether the rate is declared; the verdict, the path, and words of the evidence. The rows are a
/// common machine, one with fast calls, an emulator, on which all instructions cost about the same, and baselines that were
/// timed at a slow moment: too little for the call of the clock, too much for user mode.
const READ_PATHS: &str = "\
tsc 90 170 1500 170 declared pass user-mode
tsc 90 170 1500 - declared pass user-mode
tsc 90 170 1500 - raw pass user-mode
hpet 12 31 1500 - declared fail system-call
hpet 12 90 1500 31 declared fail system-call its system call 31.00 ns, because the clock source is hpet
tsc 2 31 35 - declared fail trapped
tsc 2 31 35 - raw fail trapped
tsc 2 90 65 - raw pass system-call
tsc 40 90 1500 - declared pass user-mode
hpet 40 55 1500 - declared not-tested -
none 2 31 35 - declared fail system-call
none 12 90 1500 31 declared fail system-call because the kernel maps no vDSO";

#[test]
fn cost_decides_read_path() {
    for line in READ_PATHS.lines() {
        let cells: Vec<&str> = line.splitn(9, ' ').collect();
        let [system_call_ns, clock_call_ns, trap_ns, syscall_ns] =
            [1, 2, 3, 4].map(|at| cells[at].parse().ok());
        let baselines = ReadPathBaselines {
            system_call_ns,
            clock_call_ns,
            trap_ns,
            clock_source: Some(cells[0].replace("none", "tsc")),
            vdso: (cells[0] == "none").then_some(false),
        };
        let found = path(&baselines, syscall_ns, cells[5] == "declared");
        let is_known = found.path.is_some();
        let judged = serde_json::json!([found.outcome, found.path.as_ref()]);
        let judged = judged
            .to_string()
            .replace("not tested", "not-tested")
            .replace("null", "\"-\"");
        assert_eq!(
            judged,
            format!("[{:?},{:?}]", cells[6], cells[7]),
            "{line}: {}",
            found.evidence
        );
        let words = cells.get(8).copied().unwrap_or_default();
        assert!(found.evidence.contains(words), "{line}: {}", found.evidence);
        assert!(
            is_known || !found.evidence.contains("monotonic-syscall"),
            "{line}"
        );
    }
}

#[test]
fn busy_machine_keeps_cpu_time() {
    let unknown = (Outcome::NotTested, None);
    let evidence = assert_counts(Counted::ThreadCpu, advances([0.2, 0.0, 0.0]), unknown);
    assert!(evidence.contains("20 %"), "{evidence}");
}

/// Threads that should compute get only the share of time that other programs leave.
#[test]
fn starved_thread_keeps_the_clock() {
    const SHARES: [f64; 8] = [0.0, 0.02, 0.11, 0.23, 0.29, 0.31, 0.45, 0.9];
    for (counts, asleep) in [
        (Counted::ProcessCpu, 0.0),
        (Counted::ProcessCpu, 0.7),
        (Counted::ThreadCpu, 0.0),
    ] {
        for got in SHARES {
            // Next to a busy thread, the clock of the sleeping thread stands still.
            let all_busy = match counts {
                Counted::ThreadCpu => &SHARES[..1],
                _ => &SHARES,
            };
            for &with_busy in all_busy {
                let starved = got <= 0.5 || (with_busy <= 0.5 && counts == Counted::ProcessCpu);
                let advances = advances([got, asleep, with_busy]);
                if starved {
                    assert_counts(counts, advances, (Outcome::NotTested, None));
                } else if asleep == 0.0 {
                    assert_counts(counts, advances, (Outcome::Pass, Some(counts)));
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
            ([0.0, 1.0, 0.0], true),
            ([0.0, 1.0, 0.9], true),
            // The thread lost its CPU between the readings of both clocks.
            ([0.25, 1.0, 1.0], false),
            ([1.0, 1.0, 0.23], false),
        ] {
            let advances = advances(shares);
            let expected = match known {
                true => (Outcome::Fail, Some(Counted::SomethingElse)),
                false => (Outcome::NotTested, None),
            };
            assert_counts(counts, advances, expected);
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
