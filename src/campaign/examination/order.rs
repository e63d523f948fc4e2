//! Searches for readings that go backwards, within a thread that changes CPUs and between threads.

use std::sync::atomic::Ordering;
use std::time::Duration;

use timers::{Answer, Deadline, Fault, Ordered};

use super::cpu_migrator::while_migrating;
use super::rounds::rounds;
use super::{CHUNK, Examined, Session};
use crate::trace::{Order, Pair, Threads};

/// Rounds of pairs of CPUs at most. With up to 64 CPUs, every pair is tested.
const MOST_ROUNDS: usize = 63;
/// Handoffs if all threads share one CPU, where each handoff needs a context switch.
const FEW_HANDOFFS: u32 = 200;
/// Time that the handoffs of a round may take, excluding the last answer; the number of handoffs in
/// the first answer; and the factor by which the number grows. The latter two are even.
/// *Judgement*: next to a busy program a handoff takes milliseconds.
const HANDOFFS_TAKE: Duration = Duration::from_millis(30);
const FIRST_HANDOFFS: u32 = 20;
const MORE_HANDOFFS: u32 = 6;
/// Additional answers, beyond the plan, if not all CPUs were visited by its end.
const MOST_CHUNKS: u32 = 40;

impl Session {
    pub(super) fn order(&self, one: &Examined) -> Answer<Order> {
        let affordable = (self.plan.order_ns / (one.cost_ns + 5.0)).max(1_000.0);
        let mut left = self.plan.order_readings.min(affordable as u32);
        let mut timer = self.timer(one.id);
        let (process, all) = (self.connection.borrow().process(), self.cpus.len() as u32);
        while_migrating(process, &self.cpus, |moves| {
            let moves = || moves.load(Ordering::Relaxed);
            let mut found = Ordered::default();
            let mut longer = MOST_CHUNKS;
            while left > 0 || (all > 1 && moves() < all && longer > 0) {
                longer -= u32::from(left == 0);
                let count = if left == 0 {
                    affordable.min(f64::from(CHUNK)) as u32
                } else {
                    left.min(CHUNK)
                };
                left -= count.min(left);
                found = found.and(timer.order(count)?);
            }
            let cpus = if all < 2 { 1 } else { moves().min(all) };
            Ok(ordered(found, moves(), cpus))
        })
    }

    pub(super) fn threads(&self, id: &str) -> Answer<Threads> {
        let (mut timer, plan) = (self.timer(id), &self.plan);
        let cpus = self.cpus.len() as u32;
        let mut threads = Threads {
            possible: cpus * cpus.saturating_sub(1) / 2,
            ..Threads::default()
        };
        for round in rounds(&self.cpus, MOST_ROUNDS)
            .into_iter()
            .filter(|round| !round.is_empty())
        {
            let count = handoffs_per_pair(plan.handoffs, cpus);
            let handoffs = handoffs_in_time(count, |count| timer.handoffs_between(&round, count));
            let handoffs = match handoffs {
                // The host cannot choose CPUs, or two threads cannot read the timer.
                Err(Fault::Refused(_)) if threads.rounds == 0 => break,
                handoffs => handoffs?,
            };
            threads.rounds += 1;
            let pairs = round.iter().zip(&handoffs);
            let pairs = pairs.map(|(&cpus, list)| Pair::from_handoffs(Some(cpus), list));
            threads.pairs.extend(pairs);
        }
        if threads.rounds == 0 {
            let count = if cpus < 2 {
                FEW_HANDOFFS
            } else {
                plan.handoffs
            };
            let handoffs = handoffs_in_time(count, |count| Ok(vec![timer.handoffs(count)?]))?;
            threads.rounds = 1;
            threads.pairs = handoffs
                .iter()
                .map(|list| Pair::from_handoffs(None, list))
                .collect();
        }
        Ok(threads)
    }
}

/// Converts the order of readings that were moved over CPUs.
pub(in crate::campaign) fn ordered(found: Ordered, moves: u32, cpus: u32) -> Order {
    Order {
        readings: found.readings,
        backward: found.backward,
        largest: found.largest,
        moves,
        cpus,
    }
}

/// Returns `most` handoffs per pair, or as many as fit in about `HANDOFFS_TAKE`: a few at first,
/// then more per answer. If threads have to wait for a CPU, each handoff takes milliseconds.
fn handoffs_in_time(
    most: u32,
    mut ask: impl FnMut(u32) -> Answer<Vec<Vec<[i64; 2]>>>,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    let over = Deadline::after(HANDOFFS_TAKE);
    let mut count = FIRST_HANDOFFS.min(most);
    let mut all = ask(count)?;
    let mut left = most - count;
    while left > 0 && over.remaining().is_some() {
        // The number stays even, so that every other handoff goes in the same direction.
        count = (MORE_HANDOFFS * count).min(left);
        left -= count;
        all.iter_mut()
            .zip(ask(count)?)
            .for_each(|(list, more)| list.extend(more));
    }
    Ok(all)
}

/// Returns the handoffs per pair, so that the total grows with the number of CPUs and not with its
/// square.
fn handoffs_per_pair(handoffs: u32, cpus: u32) -> u32 {
    (2 * handoffs / cpus.max(1)).clamp(FEW_HANDOFFS, handoffs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::sampling::Plan;

    #[test]
    fn thread_test_grows_with_cpus() {
        // A handoff takes 1 µs between sockets, a round starts its threads in 50 µs each, a pair of
        // readings 0.3 µs on the wire.
        let seconds = |cpus: u32| {
            let all: Vec<u32> = (0..cpus).collect();
            let count = f64::from(handoffs_per_pair(Plan::DEFAULT.handoffs, cpus));
            let round = |pairs: usize| {
                count * 1e-6 + 2.0 * pairs as f64 * 50e-6 + pairs as f64 * count * 0.3e-6
            };
            let rounds = rounds(&all, MOST_ROUNDS);
            (
                rounds.len(),
                rounds.iter().map(|pairs| round(pairs.len())).sum::<f64>(),
            )
        };
        let (rounds, time) = seconds(2);
        assert!(rounds == 1 && time < 0.2, "{rounds} rounds, {time} s");
        let (rounds, time) = seconds(64);
        assert!(rounds == 63 && time < 2.0, "{rounds} rounds, {time} s");
        let (rounds, time) = seconds(512);
        assert!(rounds == 63 && time < 20.0, "{rounds} rounds, {time} s");
    }
}
