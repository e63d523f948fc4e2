//! Can the timer be trusted? What is asked of it besides its figures: order, threads, rate, and what it counts.
//!
//! A process of its own is asked, which lives as long as the campaign where the host can compare a timer with its
//! reference: so its rate is seen over windows from a millisecond to the whole run.

mod cpu_migrator;
mod examinee;
mod rounds;

use std::cell::RefCell;
use std::rc::Rc;

use timers::{Answer, During, Fault, Ordered, Subject};

use self::cpu_migrator::CpuMigrator;
pub use self::examinee::{Examination, Examinee};
use self::rounds::rounds;
use crate::analysis::rate::tightest;
use crate::model::Counted;
use crate::prober::connection::Connection;
use crate::prober::hosted::subject;
use crate::prober::sampling::Plan;
use crate::trace::{Evidence, Meanwhile, Moved, Order, Pair, Reference, Threads};

/// Rounds of pairs of CPUs at most. Up to 64 CPUs every pair meets.
const MOST_ROUNDS: usize = 63;
/// Handoffs where all threads share one CPU and each one needs a switch.
const FEW_HANDOFFS: u32 = 200;
/// Comparisons of which the tightest counts.
const SPARSE_COMPARISON: u32 = 7;
/// Readings in one answer.
const CHUNK: u32 = 50_000;
/// Answers beyond the plan, where there are so many CPUs that not all were visited by its end.
const MOST_CHUNKS: u32 = 40;
/// Time between two comparisons of a series, in nanoseconds.
const SPACING_NS: f64 = 1e6;
/// The longest time that a timer is watched for what it counts; slower ones are watched while all slow ones wait.
const LONGEST_NATURE_MS: u32 = 64;
/// How often the busy thread is tried, for twice as long each time: where other programs want all CPUs it may not run for a while.
const BUSY_TRIES: u32 = 3;
/// How long it is watched beside a busy thread where it stands still asleep: the kernel adds what a running thread used up to
/// the time of its process once a tick, of 10 ms at most (`thread_group_cputime` in its `kernel/sched/cputime.c`).
const BESIDE_BUSY_MS: u32 = 30;
/// Steps of a timer in that time at least.
const NATURE_STEPS: f64 = 6.0;
/// How long both clocks are watched asleep where the host cannot compare them: the shortest time in which what one read after the
/// other may take longer at one end than at the other (`COLD_NS` of `trust/stability/advances.rs`) hides no rate that matters.
const RATE_MS: u32 = 250;

/// The process that is asked about one timer.
pub struct Session {
    connection: Rc<RefCell<Connection>>,
    timer: Box<dyn Subject>,
    reference: String,
}

/// What is known already, and shapes the questions.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The plan of the campaign.
    pub plan: &'a Plan,
    /// The CPUs that its threads may run on.
    pub cpus: &'a [u32],
    /// What a read costs, in nanoseconds.
    pub cost_ns: f64,
    /// The step of the timer, in nanoseconds, where it is long.
    pub step_ns: f64,
}

impl Session {
    /// With a process that was just started.
    #[must_use]
    pub fn new(connection: Rc<RefCell<Connection>>, timer: &str, reference: &str) -> Self {
        let timer = subject(&connection, timer);
        Self { connection, timer, reference: reference.into() }
    }

    /// Whether it can compare the timer with its reference.
    #[must_use]
    pub fn compares(&self) -> bool {
        self.connection.borrow().hello().ops.iter().any(|op| op == "comparisons")
    }

    /// One comparison with the reference: of several the one that took least.
    ///
    /// # Errors
    /// As the subject.
    pub fn compare_sparsely(&mut self) -> Answer<Option<[i64; 3]>> {
        self.timer.comparisons(&self.reference, 0, SPARSE_COMPARISON).map(tightest)
    }

    /// All the other questions. One that is refused is noted, and the next one asked.
    ///
    /// # Errors
    /// When the process is lost; what it told before stands in the evidence.
    pub fn examine(&mut self, known: &Known, reference: &Reference, evidence: &mut Evidence) -> Answer<()> {
        let order = self.order(known);
        evidence.order = noted("readings", order, evidence)?;
        let threads = self.threads(known);
        evidence.threads = noted("handoffs", threads, evidence)?;
        if self.compares() {
            let work = (SPACING_NS / reference.ns_per_work) as u64;
            let series = self.timer.comparisons(&self.reference, work, known.plan.comparisons);
            evidence.series = noted("comparisons", series, evidence)?.unwrap_or_default();
        }
        let spans = (NATURE_STEPS * known.step_ns * 1e-6).ceil() as u32;
        let span = known.plan.nature_ms.max(spans);
        if span <= LONGEST_NATURE_MS {
            let spun = self.advance(Meanwhile::Spin, span, evidence)?;
            let slept = match asleep(evidence) {
                Some(slept) => Some(slept),
                None => self.advance(Meanwhile::Sleep, span, evidence)?,
            };
            let stood = spun.zip(slept).is_some_and(|(spun, slept)| slept.rate() < 0.5 * spun.rate());
            let mut beside = if stood { span.max(BESIDE_BUSY_MS) } else { span };
            for _ in 0..BUSY_TRIES {
                let moved = self.advance(Meanwhile::OtherSpin, beside, evidence)?;
                let still = moved.zip(spun).is_some_and(|(moved, spun)| moved.rate() < 0.5 * spun.rate());
                if !(still && evidence.claims.counts == Some(Counted::ProcessCpu)) {
                    break;
                }
                beside *= 2;
            }
            let claims_wall = evidence.claims.counts.is_none_or(|counts| counts == Counted::Wall);
            if !self.compares() && claims_wall {
                // Twice, as one answer alone disqualifies nobody.
                for _ in 0..2 {
                    self.advance(Meanwhile::Sleep, RATE_MS, evidence)?;
                }
            }
        }
        Ok(())
    }

    /// How far the timer moves, added to the evidence.
    fn advance(
        &mut self,
        meanwhile: Meanwhile,
        milliseconds: u32,
        evidence: &mut Evidence,
    ) -> Answer<Option<Moved>> {
        let during = match meanwhile {
            Meanwhile::Spin => During::Spin,
            Meanwhile::Sleep => During::Sleep,
            Meanwhile::OtherSpin => During::OtherSpin,
        };
        let advance = self.timer.advance(&self.reference, during, milliseconds);
        let moved = noted("advance", advance, evidence)?.map(|moved| Moved {
            meanwhile,
            timer: moved.timer,
            reference: moved.reference,
        });
        evidence.advances.extend(moved);
        Ok(moved)
    }

    fn order(&mut self, known: &Known) -> Answer<Order> {
        let affordable = (known.plan.order_ns / (known.cost_ns + 5.0)).max(1_000.0);
        let mut left = known.plan.order_readings.min(affordable as u32);
        let cpu_migrator = CpuMigrator::start(self.connection.borrow().process(), known.cpus);
        let mut found = Ordered::default();
        let mut longer = MOST_CHUNKS;
        loop {
            let everywhere = cpu_migrator.as_ref().is_none_or(CpuMigrator::has_been_everywhere);
            if left == 0 && (everywhere || longer == 0) {
                break;
            }
            longer -= u32::from(left == 0);
            let count = if left == 0 { affordable.min(f64::from(CHUNK)) as u32 } else { left.min(CHUNK) };
            left -= count.min(left);
            found = found.and(self.timer.order(count)?);
        }
        let (moves, cpus) = cpu_migrator.map_or((0, 1), CpuMigrator::stop);
        let Ordered { readings, backward, largest, .. } = found;
        Ok(Order { readings, backward, largest, moves, cpus })
    }

    fn threads(&mut self, known: &Known) -> Answer<Threads> {
        let chooses = self.connection.borrow().hello().ops.iter().any(|op| op == "handoffs-between");
        let cpus = known.cpus.len() as u32;
        let possible = cpus * cpus.saturating_sub(1) / 2;
        if !chooses || cpus < 2 {
            let count = if cpus < 2 { FEW_HANDOFFS } else { known.plan.handoffs };
            let pair = Pair::of(None, &self.timer.handoffs(count)?);
            return Ok(Threads { rounds: 1, possible, pairs: vec![pair] });
        }
        let mut threads = Threads { possible, ..Threads::default() };
        for round in rounds(known.cpus, MOST_ROUNDS) {
            let handoffs = self.timer.handoffs_between(&round, a_pair(known.plan.handoffs, cpus))?;
            threads.rounds += 1;
            threads.pairs.extend(round.iter().zip(&handoffs).map(|(&cpus, list)| Pair::of(Some(cpus), list)));
        }
        Ok(threads)
    }
}

/// How far a slow timer moved while a process watched it that slept all the time.
fn asleep(evidence: &Evidence) -> Option<Moved> {
    evidence.advances.iter().copied().find(|moved| moved.meanwhile == Meanwhile::Sleep)
}

/// Handoffs of each pair, so that all rounds together grow with the number of CPUs and not with its square.
fn a_pair(handoffs: u32, cpus: u32) -> u32 {
    (2 * handoffs / cpus.max(1)).clamp(FEW_HANDOFFS, handoffs)
}

/// What was answered; a refusal is written down.
fn noted<T>(question: &str, answer: Answer<T>, evidence: &mut Evidence) -> Answer<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Fault::Refused(why)) => {
            evidence.refusals.entry(question.into()).or_insert(why);
            Ok(None)
        }
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_test_grows_with_the_number_of_cpus() {
        // A handoff takes 1 µs between sockets, a round starts its threads in 50 µs each, a pair of readings 0.3 µs on the wire.
        let seconds = |cpus: u32| {
            let all: Vec<u32> = (0..cpus).collect();
            let count = f64::from(a_pair(Plan::DEFAULT.handoffs, cpus));
            let round =
                |pairs: usize| count * 1e-6 + 2.0 * pairs as f64 * 50e-6 + pairs as f64 * count * 0.3e-6;
            let rounds = rounds(&all, MOST_ROUNDS);
            (rounds.len(), rounds.iter().map(|pairs| round(pairs.len())).sum::<f64>())
        };
        let (rounds, time) = seconds(2);
        assert!(rounds == 1 && time < 0.2, "{rounds} rounds, {time} s");
        let (rounds, time) = seconds(64);
        assert!(rounds == 63 && time < 2.0, "{rounds} rounds, {time} s");
        let (rounds, time) = seconds(512);
        assert!(rounds == 63 && time < 20.0, "{rounds} rounds, {time} s");
    }
}
