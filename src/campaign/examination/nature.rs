//! Finds what a timer counts: how far it moves while its thread computes, sleeps, or sleeps while
//! another thread computes.

use timers::{Answer, During};

use super::{Examined, Session, noted};
use crate::hosts::hosted::advances;
use crate::hosts::protocol::Op;
use crate::model::Counted;
use crate::trace::{Evidence, Meanwhile, Moved};

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

impl Session {
    /// What they count: how far they move while the thread computes, sleeps, and sleeps beside a
    /// busy one.
    pub(super) fn nature(&self, examined: &mut [Examined]) -> Answer<()> {
        let span = |one: &Examined| {
            self.plan
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
        let slept = self.asleep(span, &mut watched)?;
        let stood = slept
            .iter()
            .zip(&spun)
            .any(|(slept, spun)| slower(slept, spun));
        let busy_ms = if stood { span.max(WITH_BUSY_MS) } else { span };
        self.with_busy_thread(busy_ms, watched.into_iter().zip(spun).collect())?;
        if self.offers(Op::Comparisons) {
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

    /// How far each moves while its thread sleeps; those that a process watched asleep are not asked
    /// again.
    fn asleep(&self, span: u32, watched: &mut [&mut Examined]) -> Answer<Vec<Option<Moved>>> {
        let mut slept: Vec<Option<Moved>> = watched
            .iter()
            .map(|one| asleep(&one.trace.evidence))
            .collect();
        let mut unknown: Vec<&mut Examined> = watched
            .iter_mut()
            .zip(&slept)
            .filter(|(_, slept)| slept.is_none())
            .map(|(one, _)| &mut **one)
            .collect();
        let mut moved = self
            .advance(Meanwhile::Sleep, span, &mut unknown)?
            .into_iter();
        slept
            .iter_mut()
            .filter(|slept| slept.is_none())
            .for_each(|slept| *slept = moved.next().flatten());
        Ok(slept)
    }

    /// Watches them while another thread computes; those again that should move then and do not.
    fn with_busy_thread(
        &self,
        mut busy_ms: u32,
        mut left: Vec<(&mut Examined, Option<Moved>)>,
    ) -> Answer<()> {
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
        Ok(())
    }

    /// How far each timer moves, added to its evidence.
    fn advance(
        &self,
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
            let ids: Vec<&str> = examined.iter().map(|one| one.id).collect();
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
                Some(moved) => Some(moved),
                None => {
                    let alone = self
                        .timer(one.id)
                        .advance(&self.reference, during, milliseconds);
                    noted(Op::Advance, alone, &mut one.trace.evidence)?
                        .map(|moved| [moved.timer, moved.reference])
                }
            }
            .map(|[timer, reference]| Moved {
                meanwhile,
                timer,
                reference,
            });
            one.trace.evidence.advances.extend(moved);
            found.push(moved);
        }
        Ok(found)
    }
}

/// How far a slow timer moved while a process watched it that slept all the time.
fn asleep(evidence: &Evidence) -> Option<Moved> {
    evidence
        .advances
        .iter()
        .copied()
        .find(|moved| moved.meanwhile == Meanwhile::Sleep)
}

/// Whether it moved at less than half the rate at which it moved while its thread computed.
fn slower(moved: &Option<Moved>, spun: &Option<Moved>) -> bool {
    moved
        .zip(*spun)
        .is_some_and(|(moved, spun)| moved.rate() < 0.5 * spun.rate())
}
