//! Finds where the readings of a clock change, by reading it many times in each step.

use timers::Answer;

use super::{CHUNK, Examined, Session, noted};
use crate::cost::edges;
use crate::hosts::calls::is_coarse;
use crate::hosts::protocol::Op;

/// Edges to find.
const EDGES: usize = 64;
/// Time for which edges of long steps are searched, in nanoseconds, and the pieces of work per
/// step. *Judgement*: forty steps of 100 ms; and a piece is a twentieth of a stretch, of which a
/// quarter decides.
const FAR_EDGES_NS: f64 = 4e9;
const PIECES: f64 = 20.0;
/// Pieces that show how long one piece takes, attempts to measure all pieces, and most steps.
const LOOK_AT_PIECES: f64 = 120.0;
const FAR_TRIES: u32 = 3;
const MOST_FAR_EDGES: f64 = 256.0;
/// Steps with fewer reads than this do not show the position of their edges.
const LEAST_READS: u32 = 6;
/// Readings after which most clocks turn out to step too often.
const FIRST_EDGES: u32 = 2_000;

impl Session {
    /// Finds the edges of a clock that is read many times in each step, within the time that its
    /// order test may take. Skips clocks that do not step often enough in that time, because
    /// nothing could be concluded.
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
            runs.extend(edges::reads_between_edges(&readings));
            count = CHUNK;
        }
        evidence.edges = runs;
        Ok(())
    }

    /// Finds edges of steps too long for single readings: reads the clock after each of many equal
    /// pieces of work.
    fn far_edges(&self, one: &mut Examined) -> Answer<()> {
        // A timer that is not slow is the reference itself here.
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
        // A runtime may be compiling during the measurement. The time of a piece is therefore found
        // from a few pieces first, and then from all.
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
            let pieces_per_step = pieces / (last[0].wrapping_sub(first[0]) as f64 / step).max(1.0);
            if pieces > LOOK_AT_PIECES {
                let readings: Vec<i64> = compared.iter().map(|[_, reading, _]| *reading).collect();
                evidence.edges = edges::reads_between_edges(&readings);
            }
            if pieces > LOOK_AT_PIECES && pieces_per_step > PIECES / 2.0 {
                break;
            }
            work = (work * pieces_per_step / PIECES).max(1.0);
            pieces = steps * PIECES;
        }
        Ok(())
    }
}
