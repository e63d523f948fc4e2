//! Observes a counter that programs read without the kernel, on all CPUs: its order, handoffs
//! between CPUs, and its rate relative to a kernel clock while the thread computes and while it
//! sleeps.

use std::time::Duration;

use timers::raw::Machine;
use timers::{During, Ordered};

use super::examination::{ordered, rounds};
use crate::trace::{CounterEvidence, Handed, Order, PairedReading, Reads};

/// Numbers of reads, handoffs and rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterPlan {
    /// Readings that are checked for their order.
    pub readings: u32,
    /// Handoffs per pair of CPUs.
    pub handoffs: u32,
    /// Rounds of comparisons on all chosen CPUs.
    pub rounds: u32,
    /// Time between two rounds.
    pub between: Duration,
    /// Comparisons in a sample; the tightest of them is kept.
    pub look: u32,
}

impl CounterPlan {
    /// The plan of `check --counter`, which takes about three seconds.
    pub const USUAL: Self = Self {
        readings: 1_000_000,
        handoffs: 2_000,
        rounds: 60,
        between: Duration::from_millis(50),
        look: 9,
    };
}

/// Readings in one call of the machine.
const CHUNK: u32 = 20_000;
/// CPUs on which the counter is sampled, at most: each costs a migration.
/// *Judgement*.
const MOST_CPUS: usize = 64;
/// Rounds of pairs of CPUs at most, as in the examination of timers.
const MOST_ROUNDS: usize = 63;
/// Reads in a row that are timed, and the number of repetitions.
const READS: u32 = 1_000;
const REPEATS: u32 = 20;

/// Makes all observations of the plan.
pub fn observe(machine: &mut dyn Machine, plan: &CounterPlan) -> CounterEvidence {
    let cpus = machine.cpus();
    let chosen = spread(&cpus);
    let mut seen = CounterEvidence {
        declared_hz: machine.declared_hz(),
        ..CounterEvidence::default()
    };
    seen.reads = Some(reads(machine));
    match order(machine, &chosen, plan.readings) {
        Ok(order) => seen.order = order,
        Err(why) => seen.refusals.push(why),
    }
    let handed = |round: &[[u32; 2]], lists: &[Vec<[i64; 2]>]| -> Vec<Handed> {
        let pairs = round.iter().zip(lists);
        pairs
            .map(|(&pair, list)| Handed::from_handoffs(pair, list))
            .collect()
    };
    let mut rounds = rounds(&cpus, MOST_ROUNDS);
    rounds.retain(|round| !round.is_empty());
    for round in &rounds {
        match machine.handoffs_between(round, plan.handoffs) {
            Ok(lists) => seen.handed.extend(handed(round, &lists)),
            Err(fault) => {
                seen.refusals.push(fault.to_string());
                break;
            }
        }
    }
    if let Some(round) = rounds.first() {
        let lists = machine.handoffs_unfenced(round, plan.handoffs);
        seen.unfenced = handed(round, &lists.unwrap_or_default());
    }
    for round in 0..plan.rounds {
        let slept = round % 2 == 1;
        machine.pass(
            plan.between,
            if slept { During::Sleep } else { During::Spin },
        );
        for &cpu in &chosen {
            if machine.move_to(cpu) {
                let values = machine.bracket_untrimmed(plan.look);
                seen.looks.push(PairedReading { cpu, slept, values });
            }
        }
    }
    seen
}

/// Returns at most `MOST_CPUS` CPUs, spread evenly over the given ones.
fn spread(cpus: &[u32]) -> Vec<u32> {
    let most = cpus.len().min(MOST_CPUS);
    (0..most)
        .map(|turn| cpus[turn * cpus.len() / most])
        .collect()
}

/// Checks the order of readings of one thread that is moved from CPU to CPU.
fn order(machine: &mut dyn Machine, cpus: &[u32], readings: u32) -> Result<Order, String> {
    let mut all = Ordered::default();
    let mut moves = 0;
    for turn in 0..readings.div_ceil(CHUNK) as usize {
        if let Some(&cpu) = cpus.get(turn % cpus.len().max(1)) {
            moves += u32::from(machine.move_to(cpu));
        }
        all = all.and(machine.order(CHUNK).map_err(|fault| fault.to_string())?);
    }
    Ok(ordered(all, moves, cpus.len() as u32))
}

/// Times reads in a row of the counter and of the clock, and returns the least of several times for
/// each.
fn reads(machine: &mut dyn Machine) -> Reads {
    let mut least = [u64::MAX; 2];
    for _ in 0..REPEATS {
        for (which, least) in least.iter_mut().enumerate() {
            let began = machine.clock();
            for _ in 0..READS {
                if which == 0 {
                    machine.counter()
                } else {
                    machine.clock()
                };
            }
            *least = (*least).min(machine.clock().saturating_sub(began));
        }
    }
    Reads {
        count: READS,
        counter_ns: least[0],
        clock_ns: least[1],
    }
}
