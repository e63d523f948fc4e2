//! What a read adds to the code around it, found for simulated reads that are chains of
//! multiplications next to work of known shape.

use simulate::Case;
use simulate::population::regular;
use simulated::{Processes, REFERENCE_ID, Role, Surroundings, World, code_duration_ns};
use timermeter::campaign::clocks::context_questions;
use timermeter::cost::adds::adds;
use timermeter::model::{AddedTimes, Context};
use timermeter::trace::{InContext, Reference, Trace};

/// Brief processes of a default run.
const PROCESSES: u64 = 10;

/// What would be found of a case, by processes of their own.
fn found(case: &Case) -> AddedTimes {
    let processes = (0..PROCESSES).map(|process| {
        let seed = case.seed.wrapping_mul(1_000).wrapping_add(process);
        let world = World::new(&case.timer, &case.reference, &case.surroundings, seed).share();
        let mut timer = world.subject(Role::Timer);
        let asked = context_questions(case.timer.base, &Context::USUAL).flat_map(
            |(contexts, [turns, pairs])| {
                let of_native: Vec<_> = contexts.to_vec();
                let rows = timer
                    .adds(REFERENCE_ID, &of_native, turns, pairs)
                    .expect("all are simulated");
                let rows = contexts.iter().zip(rows);
                rows.map(|(&context, pairs)| InContext {
                    context,
                    turns,
                    pairs,
                })
                .collect::<Vec<_>>()
            },
        );
        asked.collect()
    });
    let reference = Reference {
        ns_per_tick: case.reference.unit,
        step: case.reference.step / case.reference.unit,
        ..Reference::default()
    };
    adds(&Trace {
        adds: processes.collect(),
        reference,
        ..Trace::default()
    })
    .expect("all were asked")
}

/// Reads that cost nanoseconds rather than microseconds, timed by references as they are, on a core
/// that changes its frequency, with interruptions. The run as a whole is at the nominal frequency,
/// as the truth is stated at that.
fn cases(processes: Processes) -> Vec<Case> {
    let soon = |case: &Case| case.timer.base < 700.0;
    let mut cases: Vec<Case> = [71, 72]
        .into_iter()
        .flat_map(|seed| regular(200, seed))
        .filter(soon)
        .collect();
    for case in &mut cases {
        case.surroundings = Surroundings {
            level: 0.0,
            processes,
            ..case.surroundings
        };
    }
    assert!(cases.len() > 100, "{}", cases.len());
    cases
}

/// How many of them are right to 0.3 ns or 3 %, and how many intervals hold the truth.
fn judged(cases: &[Case], context: Context) -> [usize; 2] {
    let (mut right, mut held) = (0, 0);
    for case in cases {
        let [without, with] = code_duration_ns(context, case.timer.base).expect("simulated");
        let truth = with - without;
        let added = found(case).get(context).expect("it was asked");
        right += usize::from((added.ns.value - truth).abs() <= (0.03 * truth).max(0.3));
        let (low, high) = added.ns.ends().expect("ten processes");
        held += usize::from(low <= truth && truth <= high);
    }
    println!("{context:?}: {right} right, {held} held of {}", cases.len());
    [right, held]
}

#[test]
fn what_simulated_reads_add_is_found() {
    let cases = cases(Processes::Identical);
    for context in Context::USUAL {
        let [right, held] = judged(&cases, context);
        assert!(
            100 * right >= 95 * cases.len(),
            "{context:?}: {right} of {} are right",
            cases.len()
        );
        assert!(
            100 * held >= 90 * cases.len(),
            "{context:?}: {held} of {} intervals hold",
            cases.len()
        );
    }
}

#[test]
fn intervals_hold_what_processes_differ_by() {
    let cases = cases(Processes::Factor(0.05));
    for context in [Context::Throughput, Context::Ahead] {
        let [_, held] = judged(&cases, context);
        assert!(
            100 * held >= 90 * cases.len(),
            "{context:?}: {held} of {} intervals hold",
            cases.len()
        );
    }
}
