//! Tests the estimate of the time that a read adds to the code around it. The simulated read is a
//! chain of multiplications, so the true added time follows from the code.

use estimators::cost::adds::adds;
use estimators::model::{AddedTimes, Context};
use estimators::trace::{InContext, Reference, Trace};
use simulate::Case;
use simulate::population::regular;
use simulated::{Processes, REFERENCE_ID, Role, Surroundings, World, code_duration_ns};
use timermeter::campaign::clocks::context_question;

/// Number of brief processes in a default run.
const PROCESSES: u64 = 10;

/// Estimates the added times of a case from [`PROCESSES`] simulated processes.
fn estimate_added_times(case: &Case) -> AddedTimes {
    let processes = (0..PROCESSES).map(|process| {
        let seed = case.seed.wrapping_mul(1_000).wrapping_add(process);
        let world = World::new(&case.timer, &case.reference, &case.surroundings, seed).share();
        let mut timer = world.subject(Role::Timer);
        let (contexts, [turns, pairs]) = context_question(case.timer.base);
        let rows = timer
            .adds(REFERENCE_ID, contexts, turns, pairs)
            .expect("all contexts are simulated");
        let rows = contexts.iter().zip(rows);
        rows.map(|(&context, pairs)| InContext {
            context,
            turns,
            pairs,
        })
        .collect()
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
    .expect("every context was measured")
}

/// Cases whose reads cost less than 700 ns, with the references, interruptions and core frequencies
/// of the population. The mean core frequency of a run is the nominal one, for which the true added
/// time is known.
fn cases(processes: Processes) -> Vec<Case> {
    let is_fast = |case: &Case| case.timer.base < 700.0;
    let mut cases: Vec<Case> = (71..79)
        .flat_map(|seed| regular(200, seed))
        .filter(is_fast)
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

/// Returns the number of cases whose added time is right to 0.3 ns or 3 %, and the number of
/// intervals that contain the true added time.
fn count_right_and_covered(cases: &[Case], context: Context) -> [usize; 2] {
    let (mut right, mut covered) = (0, 0);
    for case in cases {
        let [without, with] =
            code_duration_ns(context, case.timer.base).expect("a simulated context");
        let truth = with - without;
        let added = estimate_added_times(case)
            .get(context)
            .expect("the context was measured");
        right += usize::from((added.ns.value - truth).abs() <= (0.03 * truth).max(0.3));
        let (low, high) = added.ns.ends().expect("ten processes");
        covered += usize::from(low <= truth && truth <= high);
    }
    [right, covered]
}

/// The intervals contain the truth also if processes differ; then the values are not always right.
#[test]
fn added_time_of_reads_is_right() {
    for (processes, least_right) in [(Processes::Identical, 95), (Processes::Factor(0.05), 0)] {
        let cases = cases(processes);
        for context in [Context::Latency, Context::Ahead] {
            let [right, covered] = count_right_and_covered(&cases, context);
            assert!(
                100 * right >= least_right * cases.len() && 100 * covered >= 90 * cases.len(),
                "{context:?} {processes:?}: {right} right, {covered} covered of {}",
                cases.len()
            );
        }
    }
}
