//! Observes a counter that programs read without the kernel, such as the time stamp counter:
//! whether its readings are in order, also between CPUs, and its rate relative to a kernel clock on
//! all CPUs, while the thread computes and while it sleeps.

use std::time::Duration;

use timers::raw::Machine;
use timers::{Activity, Answer, BackwardSteps};

use super::examination::{as_order, schedule_rounds};
use crate::trace::{CounterEvidence, HandoffPair, Order, PairedReading, Reads};

/// The numbers of reads, handoffs and rounds of an observation of the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterPlan {
    /// Readings that are checked for their order.
    pub readings: u32,
    /// Handoffs per pair of CPUs: a thread on one CPU reads the counter, then a thread on the
    /// other.
    pub handoffs: u32,
    /// Rounds in which the counter is compared with the kernel clock on each chosen CPU.
    pub rounds: u32,
    /// Time between two rounds.
    pub between: Duration,
    /// Comparisons in a sample; the one with the shortest time between its outer reads is kept.
    pub comparisons_per_sample: u32,
}

impl CounterPlan {
    /// The plan of `check --counter`, which takes about three seconds.
    pub const USUAL: Self = Self {
        readings: 1_000_000,
        handoffs: 2_000,
        rounds: 60,
        between: Duration::from_millis(50),
        comparisons_per_sample: 9,
    };
}

/// Readings between two moves to another CPU.
const READINGS_PER_CPU: u32 = 20_000;
/// Largest number of CPUs on which the counter is compared, because each of them costs a migration.
/// *Judgement*.
const MAX_CPUS: usize = 64;
/// Largest number of rounds of handoffs, in each of which a CPU belongs to at most one pair; the
/// same number as `MAX_ROUNDS` of `examination/order.rs`.
const MAX_HANDOFF_ROUNDS: usize = 63;
/// Successive reads that are timed together.
const TIMED_READS: u32 = 1_000;
/// How often `TIMED_READS` reads are timed; the shortest time counts.
const TIMING_REPEATS: u32 = 20;

/// Makes all observations of the plan.
pub fn observe(machine: &mut dyn Machine, plan: &CounterPlan) -> CounterEvidence {
    let cpus = machine.cpus();
    let chosen = choose_cpus(&cpus);
    let mut evidence = CounterEvidence {
        declared_hz: machine.declared_hz(),
        ..CounterEvidence::default()
    };
    evidence.reads = Some(time_reads(machine));
    match test_order(machine, &chosen, plan.readings) {
        Ok(order) => evidence.order = order,
        Err(fault) => evidence.refusals.push(fault.to_string()),
    }
    let summarise = |round: &[[u32; 2]], lists: &[Vec<[i64; 2]>]| -> Vec<HandoffPair> {
        round
            .iter()
            .zip(lists)
            .map(|(&pair, list)| HandoffPair::from_handoffs(pair, list))
            .collect()
    };
    let mut rounds = schedule_rounds(&cpus, MAX_HANDOFF_ROUNDS);
    rounds.retain(|round| !round.is_empty());
    for round in &rounds {
        match machine.handoffs_fenced(round, plan.handoffs) {
            Ok(lists) => evidence.handoffs.extend(summarise(round, &lists)),
            Err(fault) => {
                evidence.refusals.push(fault.to_string());
                break;
            }
        }
    }
    // The first round is repeated without fences, because many programs use none.
    if let Some(round) = rounds.first() {
        let lists = machine.handoffs_unfenced(round, plan.handoffs);
        evidence.unfenced = summarise(round, &lists.unwrap_or_default());
    }
    for round in 0..plan.rounds {
        let slept = round % 2 == 1;
        machine.pass(
            plan.between,
            if slept {
                Activity::Sleep
            } else {
                Activity::Spin
            },
        );
        for &cpu in &chosen {
            if machine.move_to(cpu) {
                let values = machine.bracket_untrimmed(plan.comparisons_per_sample);
                evidence
                    .paired_readings
                    .push(PairedReading { cpu, slept, values });
            }
        }
    }
    evidence
}

/// Returns at most `MAX_CPUS` of the given CPUs, spread evenly over them.
fn choose_cpus(cpus: &[u32]) -> Vec<u32> {
    let count = cpus.len().min(MAX_CPUS);
    (0..count)
        .map(|turn| cpus[turn * cpus.len() / count])
        .collect()
}

/// Takes `readings` readings in a thread that is moved from CPU to CPU, and counts those that are
/// smaller than the one before.
fn test_order(machine: &mut dyn Machine, cpus: &[u32], readings: u32) -> Answer<Order> {
    let mut all = BackwardSteps::default();
    let mut moves = 0;
    for turn in 0..readings.div_ceil(READINGS_PER_CPU) as usize {
        if let Some(&cpu) = cpus.get(turn % cpus.len().max(1)) {
            moves += u32::from(machine.move_to(cpu));
        }
        all = all.followed_by(machine.count_backward_steps(READINGS_PER_CPU)?);
    }
    Ok(as_order(all, moves, cpus.len() as u32))
}

/// Times successive reads of the counter and of the kernel clock. Returns the shortest of
/// `TIMING_REPEATS` times for the counter and for the clock.
fn time_reads(machine: &mut dyn Machine) -> Reads {
    // The times of the counter and of the clock.
    let mut shortest_ns = [u64::MAX; 2];
    for _ in 0..TIMING_REPEATS {
        for (index, shortest) in shortest_ns.iter_mut().enumerate() {
            let began = machine.clock();
            for _ in 0..TIMED_READS {
                if index == 0 {
                    machine.counter()
                } else {
                    machine.clock()
                };
            }
            *shortest = (*shortest).min(machine.clock().saturating_sub(began));
        }
    }
    Reads {
        count: TIMED_READS,
        counter_ns: shortest_ns[0],
        clock_ns: shortest_ns[1],
    }
}
