//! What is asked of a counter that programs read past the kernel, on all CPUs: its order, handoffs,
//! and how it moves beside a clock of the kernel while the thread computes and while it sleeps.

use std::time::Duration;

use timers::raw::Machine;
use timers::{During, Ordered};

use super::examination::{ordered, rounds};
use crate::trace::{CounterEvidence, CounterLook, Handed, Order, Reads};

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterPlan {
    /// Readings whose order is looked at.
    pub readings: u32,
    /// Handoffs of each pair of CPUs.
    pub handoffs: u32,
    /// Rounds of looks.
    pub rounds: u32,
    /// Time between two rounds.
    pub between: Duration,
    /// Looks of which the tightest counts.
    pub look: u32,
}

impl CounterPlan {
    /// What `check --counter` asks: about three seconds.
    pub const USUAL: Self = Self {
        readings: 1_000_000,
        handoffs: 2_000,
        rounds: 60,
        between: Duration::from_millis(50),
        look: 9,
    };
}

/// Readings in one answer.
const CHUNK: u32 = 20_000;
/// CPUs that looks are made from, at most: each costs a move.
/// *Judgement*.
const MOST_CPUS: usize = 64;
/// Rounds of pairs of CPUs at most, as of the examination of timers.
const MOST_ROUNDS: usize = 63;
/// Reads in a row whose cost is taken, and how often.
const READS: u32 = 1_000;
const REPEATS: u32 = 20;

/// Asks all of it.
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
                let values = machine.look(plan.look);
                seen.looks.push(CounterLook { cpu, slept, values });
            }
        }
    }
    seen
}

/// So many of them as are looked from.
fn spread(cpus: &[u32]) -> Vec<u32> {
    let most = cpus.len().min(MOST_CPUS);
    (0..most)
        .map(|turn| cpus[turn * cpus.len() / most])
        .collect()
}

/// Readings of one thread that goes from CPU to CPU meanwhile.
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

/// What reads in a row take, the least of several times.
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
