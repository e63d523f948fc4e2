//! Searches for readings that go backwards, within a thread that changes CPUs and between threads.

use std::sync::atomic::Ordering;
use std::time::Duration;

use timers::{Answer, BackwardSteps, Deadline, Fault};

use super::cpu_migrator::while_migrating;
use super::rounds::schedule_rounds;
use super::{Examined, LOOP_NS, MAX_READINGS_PER_ANSWER, Session};
use estimators::rate::order::MIN_CHANGES;
use estimators::trace::{Order, Pair, Threads};

/// Largest number of rounds of handoffs. In a round, each CPU belongs to at most one pair; with up
/// to 64 CPUs, every pair is tested.
const MAX_ROUNDS: usize = 63;
/// Largest number of places of a device that are tested: all their pairs, in these rounds.
const MAX_PLACES: usize = MAX_ROUNDS + 1;
/// Fewest handoffs per pair of CPUs (a thread on one CPU reads the timer, then a thread on the
/// other); also their number if all threads share one CPU, because each handoff then needs a
/// context switch.
const MIN_HANDOFFS: u32 = 200;
/// Time after which no further handoffs are requested in a round.
/// *Judgement*: next to a busy program a handoff takes milliseconds.
const MAX_ROUND_TIME: Duration = Duration::from_millis(30);
/// Time in which, in the first round, further handoffs of a coarse clock are requested, while it
/// changed in too few of them to show steps back.
/// *Judgement*: 60 steps of 4 ms, of which the time that answers take hides most.
const MAX_COARSE_TIME: Duration = Duration::from_millis(250);
/// Number of handoffs in the first answer. It is even, so that every other handoff goes in the same
/// direction.
const FIRST_HANDOFFS: u32 = 20;
/// Factor by which the number of handoffs grows from answer to answer.
const HANDOFFS_GROWTH: u32 = 6;
/// Largest number of further answers if the thread has been moved less often than there are CPUs
/// after the planned readings.
const MAX_EXTRA_CHUNKS: u32 = 40;

impl Session<'_> {
    /// Takes successive readings of a timer while its thread is moved from CPU to CPU, and counts
    /// the readings that are smaller than the one before.
    pub(super) fn test_order(&self, examined: &Examined) -> Answer<Order> {
        let affordable = (self.plan.order_ns / (examined.cost_ns + LOOP_NS)).max(1_000.0);
        let mut left = self.plan.order_readings.min(affordable as u32);
        let mut timer = self.timer(examined.id);
        // A thread of a device is not moved.
        let cpus = match examined.device {
            Some(_) => &[],
            None => self.cpus,
        };
        let (process, cpu_count) = (self.connection.borrow().process(), cpus.len() as u32);
        while_migrating(process, cpus, |moves| {
            let moves = || moves.load(Ordering::Relaxed);
            let mut found = BackwardSteps::default();
            let mut extra_chunks = MAX_EXTRA_CHUNKS;
            while left > 0 || (cpu_count > 1 && moves() < cpu_count && extra_chunks > 0) {
                extra_chunks -= u32::from(left == 0);
                let count = if left == 0 {
                    affordable.min(f64::from(MAX_READINGS_PER_ANSWER)) as u32
                } else {
                    left.min(MAX_READINGS_PER_ANSWER)
                };
                left -= count.min(left);
                found = found.followed_by(timer.order(count)?);
            }
            let cpus = if cpu_count < 2 {
                1
            } else {
                moves().min(cpu_count)
            };
            let advance = found.ends.map(|[first, last]| last.wrapping_sub(first));
            Ok(Order {
                advance: advance.map(|ticks| ticks.max(0) as u64),
                readings: found.readings,
                backward: found.backward,
                largest: found.largest,
                moves: moves(),
                cpus,
            })
        })
    }

    /// Passes readings of a timer from thread to thread, between pairs of CPUs, or of places of its
    /// device, if the agent can choose them.
    pub(super) fn test_threads(&self, examined: &Examined) -> Answer<Threads> {
        let (mut timer, plan) = (self.timer(examined.id), self.plan);
        let places = match examined.device {
            Some(device) => {
                // Spread evenly: an agent may declare thousands.
                let all = 0..device.places.unwrap_or(0);
                let apart = all.len().div_ceil(MAX_PLACES).max(1);
                all.step_by(apart).collect()
            }
            None => self.cpus.to_vec(),
        };
        let cpus = places.len() as u32;
        let all = examined.device.and_then(|it| it.places).unwrap_or(cpus);
        let mut threads = Threads {
            possible_pairs: all * all.saturating_sub(1) / 2,
            ..Threads::default()
        };
        let mut coarse_time = coarse_time(examined.step_ns);
        for round in schedule_rounds(&places, MAX_ROUNDS)
            .into_iter()
            .filter(|round| !round.is_empty())
        {
            let count = handoffs_per_pair(plan.handoffs, cpus);
            let ask = |count| timer.handoffs(&round, count);
            let handoffs = collect_handoffs(count, coarse_time, ask);
            coarse_time = Duration::ZERO;
            let handoffs = match handoffs {
                // The agent cannot pin threads to CPUs, or only one thread can read the timer.
                Err(Fault::Refused(_)) if threads.rounds == 0 => break,
                handoffs => handoffs?,
            };
            threads.rounds += 1;
            let pairs = round
                .iter()
                .zip(&handoffs)
                .map(|(&cpus, list)| Pair::from_handoffs(Some(cpus), list));
            threads.pairs.extend(pairs);
        }
        if threads.rounds == 0 {
            let count = if cpus < 2 && examined.device.is_none() {
                MIN_HANDOFFS
            } else {
                plan.handoffs
            };
            let handoffs =
                collect_handoffs(count, coarse_time, |count| timer.handoffs(&[], count))?;
            threads.rounds = 1;
            threads.pairs = handoffs
                .iter()
                .map(|list| Pair::from_handoffs(None, list))
                .collect();
        }
        Ok(threads)
    }
}

/// Returns the time for handoffs of a clock with this step: none if too few changes would fit into it.
fn coarse_time(step_ns: f64) -> Duration {
    let changes = f64::from(MIN_CHANGES) * step_ns;
    match changes < MAX_COARSE_TIME.as_nanos() as f64 {
        true => MAX_COARSE_TIME,
        false => Duration::ZERO,
    }
}

/// Asks for `count` handoffs per pair, or for as many as fit into about `MAX_ROUND_TIME`, with more
/// of them from answer to answer. A handoff takes milliseconds if the threads have to wait for a CPU.
/// Asks for more, for at most `coarse_time`, while the value of the clock changed in too few of them.
/// Returns the two readings of each handoff, a list for each pair.
fn collect_handoffs(
    count: u32,
    coarse_time: Duration,
    mut ask: impl FnMut(u32) -> Answer<Vec<Vec<[i64; 2]>>>,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    let [end, coarse_end] = [MAX_ROUND_TIME, coarse_time].map(Deadline::after);
    let (mut size, mut left, mut changes) = (FIRST_HANDOFFS.min(count), count, 0);
    let mut all: Vec<Vec<[i64; 2]>> = Vec::new();
    loop {
        let more = ask(size)?;
        let changed = more.iter().flatten().filter(|[one, other]| one != other);
        changes += changed.count() as u32;
        all.resize_with(more.len(), Vec::new);
        all.iter_mut()
            .zip(more)
            .for_each(|(list, more)| list.extend(more));
        left -= size.min(left);
        let is_coarse = changes < MIN_CHANGES && coarse_end.remaining().is_some();
        if !(is_coarse || left > 0 && end.remaining().is_some()) {
            return Ok(all);
        }
        // The number of handoffs so far stays even.
        size = (HANDOFFS_GROWTH * size).min(if left > 0 { left } else { count });
    }
}

/// Returns the number of handoffs per pair. It falls with the number of CPUs, so that the total
/// grows with the number of CPUs and not with its square.
fn handoffs_per_pair(handoffs: u32, cpus: u32) -> u32 {
    let count = (2 * handoffs / cpus.max(1)).clamp(MIN_HANDOFFS, handoffs);
    count.next_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    /// The clock changes in every `period`th handoff.
    #[test]
    fn coarse_clock_is_asked_longer() {
        let handoffs = |period: i64, coarse_time| {
            let mut number = 0;
            let all = collect_handoffs(200, coarse_time, |count| {
                let answer = (0..count).map(|_| {
                    number += 1;
                    [(number - 1) / period, number / period]
                });
                Ok(vec![answer.collect()])
            });
            let pair = Pair::from_handoffs(None, &all.expect("answers")[0]);
            (pair.handoffs, pair.changed.expect("it is counted"))
        };
        assert_eq!(handoffs(1, MAX_COARSE_TIME), (200, 200));
        assert_eq!(handoffs(100, Duration::ZERO), (200, 2));
        let (count, changed) = handoffs(100, MAX_COARSE_TIME);
        assert!(changed == MIN_CHANGES && count % 2 == 0, "{count}");
    }

    #[test]
    fn thread_test_time_is_bounded() {
        // Assumes that a handoff takes 1 µs between sockets, starting a thread 50 µs, and sending a
        // pair of readings 0.3 µs.
        let rounds_and_seconds = |cpus: u32| {
            let all: Vec<u32> = (0..cpus).collect();
            let count = f64::from(handoffs_per_pair(Plan::DEFAULT.handoffs, cpus));
            let round_seconds = |pairs: usize| {
                count * 1e-6 + 2.0 * pairs as f64 * 50e-6 + pairs as f64 * count * 0.3e-6
            };
            let rounds = schedule_rounds(&all, MAX_ROUNDS);
            (
                rounds.len(),
                rounds
                    .iter()
                    .map(|pairs| round_seconds(pairs.len()))
                    .sum::<f64>(),
            )
        };
        let (rounds, time) = rounds_and_seconds(2);
        assert!(rounds == 1 && time < 0.2, "{rounds} rounds, {time} s");
        let (rounds, time) = rounds_and_seconds(64);
        assert!(rounds == 63 && time < 2.0, "{rounds} rounds, {time} s");
        let (rounds, time) = rounds_and_seconds(512);
        assert!(rounds == 63 && time < 20.0, "{rounds} rounds, {time} s");
    }
}
