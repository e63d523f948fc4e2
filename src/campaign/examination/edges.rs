//! Finds where the readings of a clock change, by reading it often in each step.

use timers::Answer;

use super::{CHUNK, Examined, Session, noted};
use crate::cost::edges;
use crate::hosts::calls::is_coarse;
use crate::hosts::protocol::Op;

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

impl Session {
    /// Where the edges are of a clock that is read often in each step, as far as that takes no
    /// longer than to find its order. Of one that does not step often enough in that time nothing
    /// would follow.
    pub(super) fn edges(&self, one: &mut Examined) -> Answer<()> {
        if is_coarse(&one.trace.reference) && self.offers(Op::Comparisons) {
            return self.far_edges(one);
        }
        if edges::FEWEST as f64 * one.step_ns > self.plan.order_ns {
            return Ok(());
        }
        let affordable = (self.plan.order_ns / (one.cost_ns + 5.0)) as u32;
        let (mut left, mut count) = (affordable, FIRST_EDGES);
        let evidence = &mut one.trace.evidence;
        let mut runs = Vec::new();
        while left > 0 && runs.iter().map(Vec::len).sum::<usize>() < EDGES {
            count = count.min(left);
            left -= count;
            let readings = self.timer(one.id).readings(count);
            let Some(readings) = noted(Op::Readings, readings, evidence)? else {
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
    fn far_edges(&self, one: &mut Examined) -> Answer<()> {
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
                self.timer(one.id)
                    .comparisons(&self.reference, work as u64, pieces as u32);
            let evidence = &mut one.trace.evidence;
            let Some(compared) = noted(Op::Comparisons, compared, evidence)? else {
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
}
