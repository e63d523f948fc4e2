//! Finds which quantity a timer counts (wall time, CPU time of its thread or of its process):
//! observes how far it moves while its thread computes, sleeps, and sleeps while another thread
//! computes.

use timers::{Activity, Answer};

use super::{Examined, Session, record_refusal};
use crate::agents::protocol::Op;
use crate::agents::subject::measure_advances;
use crate::campaign::unless_refused;
use estimators::model::Counted;
use estimators::trace::Advance;

/// Longest time that a timer is observed, in milliseconds. Timers whose steps need more time are
/// left out: they are observed with the slow timers (`slow_clocks`).
const LONGEST_OBSERVATION_MS: u32 = 32;
/// Attempts with a busy thread, each twice as long as the one before, because the thread may not
/// run for a while if other programs occupy all CPUs.
const MAX_BUSY_ATTEMPTS: u32 = 3;
/// Shortest time that a timer which stands still during sleep is observed next to a busy thread, in
/// milliseconds: the kernel adds the time of a running thread to its process once a tick, of 10 ms
/// at most (`thread_group_cputime` in its `kernel/sched/cputime.c`).
const MIN_BUSY_MS: u32 = 30;
/// Fewest steps of a timer in the time that it is observed.
const MIN_STEPS: f64 = 6.0;
impl Session<'_> {
    /// Observes how far the timers move while their thread computes, sleeps, and sleeps next to a
    /// busy thread.
    pub(super) fn find_counted_quantity(&self, examined: &mut [Examined]) -> Answer<()> {
        // The time that a timer has to be observed, in milliseconds; `None` if it is too long.
        let observation_ms = |one: &Examined| {
            let steps_ms = (MIN_STEPS * one.step_ns * 1e-6).ceil() as u32;
            Some(self.plan.nature_ms.max(steps_ms)).filter(|ms| *ms <= LONGEST_OBSERVATION_MS)
        };
        let all = 0..examined.len();
        let mut left: Vec<usize> = (all.clone())
            .filter(|&at| observation_ms(&examined[at]).is_some())
            .collect();
        if let Some(ms) = examined.iter().filter_map(observation_ms).max() {
            self.observe(Activity::Spin, ms, examined, &left)?;
            // Timers that were already observed during sleep are not observed again.
            let mut unobserved = left.clone();
            unobserved.retain(|&at| examined[at].moved(Activity::Sleep).is_none());
            self.observe(Activity::Sleep, ms, examined, &unobserved)?;
            let any_stood_still = left
                .iter()
                .any(|&at| examined[at].is_slower(Activity::Sleep));
            let mut busy_ms = if any_stood_still {
                ms.max(MIN_BUSY_MS)
            } else {
                ms
            };
            for _ in 0..MAX_BUSY_ATTEMPTS {
                self.observe(Activity::OtherSpin, busy_ms, examined, &left)?;
                // The observation is repeated for timers that claim to count the CPU time of the
                // process but did not move at its full rate.
                left.retain(|&at| {
                    let one = &examined[at];
                    let claims = one.trace.evidence.claims.counts;
                    one.is_slower(Activity::OtherSpin) && claims == Some(Counted::ProcessCpu)
                });
                if left.is_empty() {
                    break;
                }
                busy_ms *= 2;
            }
        }
        Ok(())
    }

    /// Observes the timers with these indices for `ms` milliseconds and adds the movement of each
    /// to its evidence.
    fn observe(
        &self,
        activity: Activity,
        ms: u32,
        examined: &mut [Examined],
        indices: &[usize],
    ) -> Answer<()> {
        let ids: Vec<&str> = indices.iter().map(|&at| examined[at].id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let all = measure_advances(&self.connection, &ids, &self.reference, activity, ms);
        let all = unless_refused(all)?.unwrap_or_else(|| vec![None; ids.len()]);
        for (&at, answer) in indices.iter().zip(all) {
            let Examined { id, trace, .. } = &mut examined[at];
            let evidence = &mut trace.evidence;
            // The answer for all does not say why a timer refused, so it is asked individually.
            let moved = match answer {
                None => {
                    let answer = self.timer(id).advance(&self.reference, activity, ms);
                    record_refusal(Op::Advance, answer, evidence)?
                        .map(|moved| [moved.timer, moved.reference])
                }
                moved => moved,
            };
            evidence
                .advances
                .extend(moved.map(|[timer, reference]| Advance {
                    activity,
                    timer,
                    reference,
                }));
        }
        Ok(())
    }
}

impl Examined<'_> {
    /// Returns the last movement that was observed under this condition; `None` if there is none.
    fn moved(&self, activity: Activity) -> Option<&Advance> {
        self.trace
            .evidence
            .advances
            .iter()
            .rev()
            .find(|moved| moved.activity == activity)
    }

    /// Returns whether the timer moved at less than half the rate that it had while its thread
    /// computed. `false` if that is unknown.
    fn is_slower(&self, activity: Activity) -> bool {
        let movements = self.moved(activity).zip(self.moved(Activity::Spin));
        movements.is_some_and(|(moved, spun)| moved.rate() < 0.5 * spun.rate())
    }
}
