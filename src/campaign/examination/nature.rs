//! Finds what a timer counts: how far it moves while its thread computes, sleeps, or sleeps while
//! another thread computes.

use timers::{Answer, During};

use super::{Examined, Session, noted};
use crate::hosts::hosted::measure_advances;
use crate::hosts::protocol::Op;
use crate::model::Counted;
use crate::trace::{Meanwhile, Moved};

/// Longest time that a timer is watched here, in milliseconds. Slower timers are watched while all
/// slow timers wait.
const LONGEST_NATURE_MS: u32 = 64;
/// Attempts with a busy thread, each twice as long as the one before: if other programs occupy all
/// CPUs, the thread may not run for a while.
const BUSY_TRIES: u32 = 3;
/// Time that a timer is watched next to a busy thread if it stands still during sleep, in
/// milliseconds: the kernel adds the time of a running thread to its process once a tick, of 10 ms
/// at most (`thread_group_cputime` in its `kernel/sched/cputime.c`).
const WITH_BUSY_MS: u32 = 30;
/// Fewest steps of a timer in the time that it is watched.
const NATURE_STEPS: f64 = 6.0;
/// Time that timer and reference are watched during sleep if the host cannot compare them, in
/// milliseconds. The two reads follow each other, and their delay may differ between both ends
/// (`COLD_NS` of `trust/stability/advances.rs`); this is the shortest time in which that difference
/// hides no rate that matters. *Computed*.
const RATE_MS: u32 = 250;

impl Session {
    /// Finds what the timers count: how far they move while the thread computes, sleeps, and sleeps
    /// next to a busy thread.
    pub(super) fn nature(&self, examined: &mut [Examined]) -> Answer<()> {
        let span = |one: &Examined| {
            let steps_ms = (NATURE_STEPS * one.step_ns * 1e-6).ceil() as u32;
            Some(self.plan.nature_ms.max(steps_ms)).filter(|span| *span <= LONGEST_NATURE_MS)
        };
        let all = 0..examined.len();
        let mut left: Vec<usize> = (all.clone())
            .filter(|&at| span(&examined[at]).is_some())
            .collect();
        if let Some(span) = examined.iter().filter_map(span).max() {
            self.advance(Meanwhile::Spin, span, examined, &left)?;
            // Timers that were already watched during sleep are not measured again.
            let mut unknown = left.clone();
            unknown.retain(|&at| examined[at].moved(Meanwhile::Sleep).is_none());
            self.advance(Meanwhile::Sleep, span, examined, &unknown)?;
            let stood = left
                .iter()
                .any(|&at| examined[at].is_slower(Meanwhile::Sleep));
            let mut busy_ms = if stood { span.max(WITH_BUSY_MS) } else { span };
            for _ in 0..BUSY_TRIES {
                self.advance(Meanwhile::OtherSpin, busy_ms, examined, &left)?;
                // Repeat for timers that should have moved.
                left.retain(|&at| {
                    let one = &examined[at];
                    let claims = one.trace.evidence.claims.counts;
                    one.is_slower(Meanwhile::OtherSpin) && claims == Some(Counted::ProcessCpu)
                });
                if left.is_empty() {
                    break;
                }
                busy_ms *= 2;
            }
        } else {
            return Ok(());
        }
        if self.offers(Op::Comparisons) {
            return Ok(());
        }
        let counts = |at: usize| examined[at].trace.evidence.claims.counts;
        let wall: Vec<usize> = all
            .filter(|&at| matches!(counts(at), None | Some(Counted::Wall)))
            .collect();
        // Twice, because one answer alone disqualifies no timer.
        for _ in 0..2 {
            self.advance(Meanwhile::Sleep, RATE_MS, examined, &wall)?;
        }
        Ok(())
    }

    /// Adds the movement of each timer in `which` to its evidence.
    fn advance(
        &self,
        meanwhile: Meanwhile,
        ms: u32,
        examined: &mut [Examined],
        which: &[usize],
    ) -> Answer<()> {
        let during = match meanwhile {
            Meanwhile::Spin => During::Spin,
            Meanwhile::Sleep => During::Sleep,
            Meanwhile::OtherSpin => During::OtherSpin,
        };
        let ids: Vec<&str> = which.iter().map(|&at| examined[at].id).collect();
        let all = if self.joint && !ids.is_empty() {
            measure_advances(&self.connection, &ids, &self.reference, during, ms)?
        } else {
            vec![None; ids.len()]
        };
        for (&at, answer) in which.iter().zip(all) {
            let Examined { id, trace, .. } = &mut examined[at];
            let evidence = &mut trace.evidence;
            let moved = match answer {
                Some(moved) => Some(moved),
                // Timers that refused are asked individually, which returns the reason.
                None => {
                    let alone = self.timer(id).advance(&self.reference, during, ms);
                    noted(Op::Advance, alone, evidence)?.map(|moved| [moved.timer, moved.reference])
                }
            };
            let moved = moved.map(|[timer, reference]| Moved {
                meanwhile,
                timer,
                reference,
            });
            evidence.advances.extend(moved);
        }
        Ok(())
    }
}

impl Examined<'_> {
    /// Returns the last movement observed under this condition.
    fn moved(&self, meanwhile: Meanwhile) -> Option<&Moved> {
        let mut advances = self.trace.evidence.advances.iter().rev();
        advances.find(|moved| moved.meanwhile == meanwhile)
    }

    /// Returns whether the timer moved at less than half the rate it had while its thread computed.
    fn is_slower(&self, meanwhile: Meanwhile) -> bool {
        let rates = self.moved(meanwhile).zip(self.moved(Meanwhile::Spin));
        rates.is_some_and(|(moved, spun)| moved.rate() < 0.5 * spun.rate())
    }
}
