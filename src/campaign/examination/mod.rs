//! Can the timer be trusted? What is asked of it besides its figures: order, threads, rate, and
//! what it counts.
//!
//! Processes of their own are asked, which live as long as the campaign where the host can compare
//! a timer with its reference: so rates are seen over windows from a millisecond to the whole run.
//! One process tells of all timers of a host that answers for many at once.

mod cpu_migrator;
mod rounds;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use timers::{Answer, Deadline, During, Fault, Ordered, Subject};

use self::cpu_migrator::CpuMigrator;
pub(super) use self::rounds::rounds;
use crate::hosts::calls::is_coarse;
use crate::hosts::connection::Connection;
use crate::hosts::hosted::{advances, subject, together};
use crate::hosts::protocol::Hello;

use crate::campaign::sampling::Plan;
use crate::cost::edges;
use crate::model::Counted;
use crate::rate::tightest;
use crate::trace::{Evidence, Meanwhile, Moved, Order, Pair, Threads, Trace};

/// Rounds of pairs of CPUs at most. Up to 64 CPUs every pair meets.
const MOST_ROUNDS: usize = 63;
/// Handoffs where all threads share one CPU and each one needs a switch.
const FEW_HANDOFFS: u32 = 200;
/// How long the handoffs of a round may take, but for the last answer. The first of them, and how
/// many times as many come next: both even. *Judgement*: beside a busy program a handoff takes
/// milliseconds.
const HANDOFFS_TAKE: Duration = Duration::from_millis(30);
const FIRST_HANDOFFS: u32 = 20;
const MORE_HANDOFFS: u32 = 6;
/// Comparisons of which the tightest counts.
const SPARSE_COMPARISON: u32 = 7;
/// Readings in one answer.
const CHUNK: u32 = 50_000;
/// Answers beyond the plan, where there are too many CPUs and not all were visited by its end.
const MOST_CHUNKS: u32 = 40;
/// Edges that are looked at.
const EDGES: usize = 64;
/// How long edges that lie far apart are looked for, in nanoseconds, and the pieces of work in a
/// step. *Judgement*: forty steps of 100 ms; and a piece is a twentieth of a stretch, of which a
/// quarter decides.
const FAR_EDGES_NS: f64 = 4e9;
const PIECES: f64 = 20.0;
/// Pieces that tell how long one takes, and how often all of them are tried.
const LOOK_AT_PIECES: f64 = 120.0;
const FAR_TRIES: u32 = 3;
const MOST_FAR_EDGES: f64 = 256.0;
/// A step that holds fewer reads does not tell where its edges are.
const LEAST_READS: u32 = 6;
/// Readings of which most clocks show that they are no such.
const FIRST_EDGES: u32 = 2_000;
/// Time between two comparisons of a series, in nanoseconds.
const SPACING_NS: f64 = 1e6;
/// The longest time that a timer is watched for what it counts; slower ones are watched while all
/// slow ones wait.
const LONGEST_NATURE_MS: u32 = 64;
/// How often the busy thread is tried, for twice as long each time: where other programs want all
/// CPUs it may not run for a while.
const BUSY_TRIES: u32 = 3;
/// How long it is watched beside a busy thread where it stands still asleep: the kernel adds what a
/// running thread used up to the time of its process once a tick, of 10 ms at most
/// (`thread_group_cputime` in its `kernel/sched/cputime.c`).
const WITH_BUSY_MS: u32 = 30;
/// Steps of a timer in that time at least.
const NATURE_STEPS: f64 = 6.0;
/// How long both clocks are watched asleep where the host cannot compare them: the shortest time in
/// which what one read after the other may take longer at one end than at the other (`COLD_NS` of
/// `trust/stability/advances.rs`) hides no rate that matters. *Computed*.
const RATE_MS: u32 = 250;

/// The process that is asked about timers: about all of a host that answers for many at once, else
/// about one.
pub struct Session {
    connection: Rc<RefCell<Connection>>,
    timers: Vec<(String, Box<dyn Subject>)>,
    reference: String,
    /// Whether it answers for many at once.
    joint: bool,
}

/// A timer of a session, what is known of it and shapes the questions, and where the answers go.
pub struct Examined<'a> {
    /// Its place among the timers of the session.
    pub place: usize,
    /// What a read costs, in nanoseconds.
    pub cost_ns: f64,
    /// Its step, in nanoseconds, where it is long.
    pub step_ns: f64,
    /// Everything that was observed of it.
    pub trace: &'a mut Trace,
}

/// What holds for all timers of a campaign.
#[derive(Clone, Copy, Debug)]
pub struct CampaignFacts<'a> {
    /// The plan of the campaign.
    pub plan: &'a Plan,
    /// The CPUs that their threads may run on.
    pub cpus: &'a [u32],
}

impl Session {
    /// With a process that was just started and hosts these timers.
    #[must_use]
    pub fn new(connection: Rc<RefCell<Connection>>, timers: &[&str], reference: &str) -> Self {
        let joint = answers_for_many(connection.borrow().hello());
        let timers = timers
            .iter()
            .map(|&id| (id.to_owned(), subject(&connection, id)))
            .collect();
        Self {
            connection,
            timers,
            reference: reference.into(),
            joint,
        }
    }

    fn offers(&self, op: &str) -> bool {
        self.connection.borrow().offers(op)
    }

    /// One comparison with the reference of each of these timers: of several the one that took
    /// least.
    ///
    /// # Errors
    /// As the subjects.
    pub fn compare_sparsely(&mut self, places: &[usize]) -> Answer<Vec<Option<[i64; 3]>>> {
        if self.joint {
            return Ok(self
                .together(places, [SPARSE_COMPARISON, 1], 0)?
                .pop()
                .unwrap_or_default());
        }
        let reference = &self.reference;
        let one = |place: &usize| {
            self.timers[*place]
                .1
                .comparisons(reference, 0, SPARSE_COMPARISON)
                .map(tightest)
        };
        places.iter().map(one).collect()
    }

    fn together(
        &self,
        places: &[usize],
        counts: [u32; 2],
        work: u64,
    ) -> Answer<Vec<Vec<Option<[i64; 3]>>>> {
        let ids: Vec<&str> = places
            .iter()
            .map(|&place| self.timers[place].0.as_str())
            .collect();
        together(&self.connection, &ids, &self.reference, counts, work)
    }

    /// All the other questions. One that is refused is noted, and the next one asked.
    ///
    /// # Errors
    /// When the process is lost; what it answered before stands in the evidence.
    pub fn examine(&mut self, known: &CampaignFacts, examined: &mut [Examined]) -> Answer<()> {
        for one in examined.iter_mut() {
            let order = self.order(known, one);
            one.trace.evidence.order = noted("readings", order, &mut one.trace.evidence)?;
            self.edges(known, one)?;
            let threads = self.threads(known, one.place);
            one.trace.evidence.threads = noted("handoffs", threads, &mut one.trace.evidence)?;
        }
        if self.offers("comparisons") {
            self.series(known, examined)?;
        }
        self.nature(known, examined)
    }

    /// Comparisons that follow each other; of several timers in turn.
    fn series(&mut self, known: &CampaignFacts, examined: &mut [Examined]) -> Answer<()> {
        let work = |trace: &Trace| (SPACING_NS / trace.reference.ns_per_work) as u64;
        let count = known.plan.comparisons;
        if let (true, Some(first)) = (self.joint, examined.first()) {
            let places: Vec<usize> = examined.iter().map(|one| one.place).collect();
            let work = work(first.trace);
            for row in self.together(&places, [1, count], work)? {
                for (one, comparison) in examined.iter_mut().zip(row) {
                    one.trace.evidence.series.extend(comparison);
                }
            }
        }
        // Those that refused tell why when they are asked alone.
        for one in examined
            .iter_mut()
            .filter(|one| one.trace.evidence.series.is_empty())
        {
            let series =
                self.timers[one.place]
                    .1
                    .comparisons(&self.reference, work(one.trace), count);
            one.trace.evidence.series =
                noted("comparisons", series, &mut one.trace.evidence)?.unwrap_or_default();
        }
        Ok(())
    }

    /// What they count: how far they move while the thread computes, sleeps, and sleeps beside a
    /// busy one.
    fn nature(&mut self, known: &CampaignFacts, examined: &mut [Examined]) -> Answer<()> {
        let span = |one: &Examined| {
            known
                .plan
                .nature_ms
                .max((NATURE_STEPS * one.step_ns * 1e-6).ceil() as u32)
        };
        let mut watched: Vec<&mut Examined> = examined
            .iter_mut()
            .filter(|one| span(one) <= LONGEST_NATURE_MS)
            .collect();
        let Some(span) = watched.iter().map(|one| span(one)).max() else {
            return Ok(());
        };
        let spun = self.advance(Meanwhile::Spin, span, &mut watched)?;
        let mut slept: Vec<Option<Moved>> = watched
            .iter()
            .map(|one| asleep(&one.trace.evidence))
            .collect();
        let awake = |slept: &Option<Moved>| slept.is_none();
        let mut unseen: Vec<&mut Examined> = watched
            .iter_mut()
            .zip(&slept)
            .filter(|(_, slept)| awake(slept))
            .map(|(one, _)| &mut **one)
            .collect();
        let mut moved = self
            .advance(Meanwhile::Sleep, span, &mut unseen)?
            .into_iter();
        slept
            .iter_mut()
            .filter(|slept| slept.is_none())
            .for_each(|slept| *slept = moved.next().flatten());
        let slower = |moved: &Option<Moved>, spun: &Option<Moved>| {
            moved
                .zip(*spun)
                .is_some_and(|(moved, spun)| moved.rate() < 0.5 * spun.rate())
        };
        let stood = slept
            .iter()
            .zip(&spun)
            .any(|(slept, spun)| slower(slept, spun));
        let mut busy_ms = if stood { span.max(WITH_BUSY_MS) } else { span };
        let mut left: Vec<(&mut Examined, Option<Moved>)> = watched.into_iter().zip(spun).collect();
        for _ in 0..BUSY_TRIES {
            let mut asked: Vec<&mut Examined> =
                left.iter_mut().map(|(one, _)| &mut **one).collect();
            let moved = self.advance(Meanwhile::OtherSpin, busy_ms, &mut asked)?;
            let still = left.into_iter().zip(moved).filter(|((one, spun), moved)| {
                let claims = one.trace.evidence.claims.counts;
                slower(moved, spun) && claims == Some(Counted::ProcessCpu)
            });
            left = still.map(|(one, _)| one).collect();
            if left.is_empty() {
                break;
            }
            busy_ms *= 2;
        }
        if self.offers("comparisons") {
            return Ok(());
        }
        let wall = |one: &&mut Examined| {
            one.trace
                .evidence
                .claims
                .counts
                .is_none_or(|counts| counts == Counted::Wall)
        };
        let mut wall: Vec<&mut Examined> = examined.iter_mut().filter(wall).collect();
        // Twice, as one answer alone disqualifies no timer.
        for _ in 0..2 {
            self.advance(Meanwhile::Sleep, RATE_MS, &mut wall)?;
        }
        Ok(())
    }

    /// How far each timer moves, added to its evidence.
    fn advance(
        &mut self,
        meanwhile: Meanwhile,
        milliseconds: u32,
        examined: &mut [&mut Examined],
    ) -> Answer<Vec<Option<Moved>>> {
        let during = match meanwhile {
            Meanwhile::Spin => During::Spin,
            Meanwhile::Sleep => During::Sleep,
            Meanwhile::OtherSpin => During::OtherSpin,
        };
        let all = if self.joint && !examined.is_empty() {
            let ids: Vec<&str> = examined
                .iter()
                .map(|one| self.timers[one.place].0.as_str())
                .collect();
            advances(
                &self.connection,
                &ids,
                &self.reference,
                during,
                milliseconds,
            )?
        } else {
            vec![None; examined.len()]
        };
        let mut found = Vec::with_capacity(examined.len());
        for (one, answer) in examined.iter_mut().zip(all) {
            // Those that refused tell why when they are asked alone.
            let moved = match answer {
                Some([timer, reference]) => Some(Moved {
                    meanwhile,
                    timer,
                    reference,
                }),
                None => {
                    let alone =
                        self.timers[one.place]
                            .1
                            .advance(&self.reference, during, milliseconds);
                    noted("advance", alone, &mut one.trace.evidence)?.map(|moved| Moved {
                        meanwhile,
                        timer: moved.timer,
                        reference: moved.reference,
                    })
                }
            };
            one.trace.evidence.advances.extend(moved);
            found.push(moved);
        }
        Ok(found)
    }

    /// Where the edges are of a clock that is read often in each step, as far as that takes no
    /// longer than to find its order. Of one that does not step often enough in that time nothing
    /// would follow.
    fn edges(&mut self, known: &CampaignFacts, one: &mut Examined) -> Answer<()> {
        if is_coarse(&one.trace.reference) && self.offers("comparisons") {
            return self.far_edges(one);
        }
        if edges::FEWEST as f64 * one.step_ns > known.plan.order_ns {
            return Ok(());
        }
        let affordable = (known.plan.order_ns / (one.cost_ns + 5.0)) as u32;
        let (mut left, mut count) = (affordable, FIRST_EDGES);
        let evidence = &mut one.trace.evidence;
        let mut runs = Vec::new();
        while left > 0 && runs.iter().map(Vec::len).sum::<usize>() < EDGES {
            count = count.min(left);
            left -= count;
            let readings = self.timers[one.place].1.readings(count);
            let Some(readings) = noted("readings", readings, evidence)? else {
                return Ok(());
            };
            let edges = readings
                .windows(2)
                .filter(|pair| pair[1] != pair[0])
                .count();
            if edges as u32 > count / LEAST_READS {
                return Ok(());
            }
            runs.extend(edges::stretches(&readings));
            count = CHUNK;
        }
        evidence.edges = runs;
        Ok(())
    }

    /// The same where steps are too long for readings to be read one by one: a reading after each
    /// of equal pieces of work.
    fn far_edges(&mut self, one: &mut Examined) -> Answer<()> {
        // Those that are not slow are the reference itself.
        let step_ns = if one.step_ns > 0.0 {
            one.step_ns
        } else {
            one.trace.reference.uncertainty_ns()
        };
        let step = step_ns / one.trace.reference.ns_per_tick;
        let steps = (FAR_EDGES_NS / step_ns).min(MOST_FAR_EDGES);
        if steps < edges::FEWEST as f64 {
            return Ok(());
        }
        let mut work = step_ns / PIECES / one.trace.reference.ns_per_work;
        let mut pieces = LOOK_AT_PIECES;
        // Compilers of a runtime may be at work meanwhile: how long a piece takes is found by a few
        // of them, and then by all.
        for _ in 0..FAR_TRIES {
            let compared =
                self.timers[one.place]
                    .1
                    .comparisons(&self.reference, work as u64, pieces as u32);
            let evidence = &mut one.trace.evidence;
            let Some(compared) = noted("comparisons", compared, evidence)? else {
                return Ok(());
            };
            let (Some(first), Some(last)) = (compared.first(), compared.last()) else {
                return Ok(());
            };
            let a_step = pieces / (last[0].wrapping_sub(first[0]) as f64 / step).max(1.0);
            if pieces > LOOK_AT_PIECES {
                let readings: Vec<i64> = compared.iter().map(|[_, reading, _]| *reading).collect();
                evidence.edges = edges::stretches(&readings);
            }
            if pieces > LOOK_AT_PIECES && a_step > PIECES / 2.0 {
                break;
            }
            work = (work * a_step / PIECES).max(1.0);
            pieces = steps * PIECES;
        }
        Ok(())
    }

    fn order(&mut self, known: &CampaignFacts, one: &Examined) -> Answer<Order> {
        let affordable = (known.plan.order_ns / (one.cost_ns + 5.0)).max(1_000.0);
        let mut left = known.plan.order_readings.min(affordable as u32);
        let cpu_migrator = CpuMigrator::start(self.connection.borrow().process(), known.cpus);
        let timer = &mut self.timers[one.place].1;
        let mut found = Ordered::default();
        let mut longer = MOST_CHUNKS;
        loop {
            let everywhere = cpu_migrator
                .as_ref()
                .is_none_or(CpuMigrator::has_been_everywhere);
            if left == 0 && (everywhere || longer == 0) {
                break;
            }
            longer -= u32::from(left == 0);
            let count = if left == 0 {
                affordable.min(f64::from(CHUNK)) as u32
            } else {
                left.min(CHUNK)
            };
            left -= count.min(left);
            found = found.and(timer.order(count)?);
        }
        let (moves, cpus) = cpu_migrator.map_or((0, 1), CpuMigrator::stop);
        let Ordered {
            readings,
            backward,
            largest,
            ..
        } = found;
        Ok(Order {
            readings,
            backward,
            largest,
            moves,
            cpus,
        })
    }

    fn threads(&mut self, known: &CampaignFacts, place: usize) -> Answer<Threads> {
        let chooses = self.offers("handoffs-between");
        let timer = self.timers[place].1.as_mut();
        let cpus = known.cpus.len() as u32;
        let possible = cpus * cpus.saturating_sub(1) / 2;
        if !chooses || cpus < 2 {
            let count = if cpus < 2 {
                FEW_HANDOFFS
            } else {
                known.plan.handoffs
            };
            let handoffs = as_time_allows(count, |count| Ok(vec![timer.handoffs(count)?]))?;
            let pairs = handoffs.iter().map(|list| Pair::of(None, list)).collect();
            return Ok(Threads {
                rounds: 1,
                possible,
                pairs,
            });
        }
        let mut threads = Threads {
            possible,
            ..Threads::default()
        };
        for round in rounds(known.cpus, MOST_ROUNDS) {
            let count = a_pair(known.plan.handoffs, cpus);
            let handoffs = as_time_allows(count, |count| timer.handoffs_between(&round, count))?;
            threads.rounds += 1;
            threads.pairs.extend(
                round
                    .iter()
                    .zip(&handoffs)
                    .map(|(&cpus, list)| Pair::of(Some(cpus), list)),
            );
        }
        Ok(threads)
    }
}

/// Whether a host answers for many timers at once.
#[must_use]
pub fn answers_for_many(hello: &Hello) -> bool {
    ["together", "advances"]
        .iter()
        .all(|op| hello.ops.iter().any(|offered| offered == op))
}

/// Lists of `most` handoffs, or of as many as are made in about the time that they may take: a few
/// at first, and then more at a time. Where threads have to wait for a CPU each takes milliseconds.
fn as_time_allows(
    most: u32,
    mut ask: impl FnMut(u32) -> Answer<Vec<Vec<[i64; 2]>>>,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    let over = Deadline::after(HANDOFFS_TAKE);
    let mut count = FIRST_HANDOFFS.min(most);
    let mut all = ask(count)?;
    let mut left = most - count;
    while left > 0 && over.remaining().is_some() {
        // Their number stays even, so that every other one goes the same way.
        count = (MORE_HANDOFFS * count).min(left);
        left -= count;
        all.iter_mut()
            .zip(ask(count)?)
            .for_each(|(list, more)| list.extend(more));
    }
    Ok(all)
}

/// How far a slow timer moved while a process watched it that slept all the time.
fn asleep(evidence: &Evidence) -> Option<Moved> {
    evidence
        .advances
        .iter()
        .copied()
        .find(|moved| moved.meanwhile == Meanwhile::Sleep)
}

/// Handoffs of each pair, so that all rounds together grow with the number of CPUs and not with its
/// square.
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
    fn thread_test_grows_with_cpus() {
        // A handoff takes 1 µs between sockets, a round starts its threads in 50 µs each, a pair of
        // readings 0.3 µs on the wire.
        let seconds = |cpus: u32| {
            let all: Vec<u32> = (0..cpus).collect();
            let count = f64::from(a_pair(Plan::DEFAULT.handoffs, cpus));
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
