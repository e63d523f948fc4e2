//! Finds the edges of a clock, where its readings change, by reading it many times in each step.
//! The number of reads from edge to edge shows whether the edges are evenly spaced.

use timers::Answer;

use super::{Examined, LOOP_NS, MAX_READINGS_PER_ANSWER, Session, record_refusal};
use crate::agents::protocol::Op;
use estimators::cost::edges;
use probe::prober::is_coarse;

/// Number of edges after which the search ends.
const SUFFICIENT_EDGES: usize = 64;
/// Time for which edges of long steps are searched, in nanoseconds.
/// *Judgement*: forty steps of 100 ms.
const LONG_STEPS_NS: f64 = 4e9;
/// Pieces of work, with a read after each, per long step.
/// *Judgement*: a distance between edges that is off by a quarter is irregular, which is five
/// pieces.
const PIECES_PER_STEP: f64 = 20.0;
/// Pieces of work in the first question, which shows how long a piece takes.
const TRIAL_PIECES: f64 = 120.0;
/// Largest number of questions for the edges of long steps.
const MAX_LONG_STEP_QUESTIONS: u32 = 3;
/// Largest number of long steps in a question.
const MAX_LONG_STEPS: f64 = 256.0;
/// Fewest reads in a step that show where the edges are.
const MIN_READS_PER_STEP: u32 = 6;
/// Number of readings in the first question, which are enough to reject clocks that step too often.
const FIRST_READINGS: u32 = 2_000;

impl Session<'_> {
    /// Finds the edges of a clock that can be read at least `MIN_READS_PER_STEP` times in a step,
    /// within the time that its order test may take. Skips clocks that do not step often enough in
    /// that time: few edges show nothing.
    pub(super) fn find_edges(&self, examined: &mut Examined) -> Answer<()> {
        // The steps of such a reference, and of the clocks that it can time, take too many successive readings.
        if is_coarse(&examined.trace.reference) && self.offers(Op::Comparisons) {
            return self.find_edges_of_long_steps(examined);
        }
        if edges::MIN_INTERVALS as f64 * examined.step_ns > self.plan.order_ns {
            return Ok(());
        }
        let affordable_readings = (self.plan.order_ns / (examined.cost_ns + LOOP_NS)) as u32;
        let (mut readings_left, mut count) = (affordable_readings, FIRST_READINGS);
        let evidence = &mut examined.trace.evidence;
        // A list for each answer, whose readings follow one another.
        let mut reads_between_edges = Vec::new();
        while readings_left > 0
            && reads_between_edges.iter().map(Vec::len).sum::<usize>() < SUFFICIENT_EDGES
        {
            count = count.min(readings_left);
            readings_left -= count;
            let readings = self.timer(examined.id).readings(count);
            let Some(readings) = record_refusal(Op::Readings, readings, evidence)? else {
                return Ok(());
            };
            let edges = readings
                .windows(2)
                .filter(|pair| pair[1] != pair[0])
                .count();
            if edges as u32 > count / MIN_READS_PER_STEP {
                return Ok(());
            }
            reads_between_edges.extend(edges::reads_between_edges(&readings));
            count = MAX_READINGS_PER_ANSWER;
        }
        evidence.edges = reads_between_edges;
        Ok(())
    }

    /// Finds the edges of steps that are too long for successive readings: reads the clock after
    /// each of many equal pieces of work.
    fn find_edges_of_long_steps(&self, examined: &mut Examined) -> Answer<()> {
        // `step_ns` is 0 unless the timer is slow. If it is not known to be long, the timer is the reference itself, which is coarse.
        let step_ns = if examined.step_ns > 0.0 {
            examined.step_ns
        } else {
            examined.trace.reference.uncertainty_ns()
        };
        let step_ticks = step_ns / examined.trace.reference.ns_per_tick;
        let steps = (LONG_STEPS_NS / step_ns).min(MAX_LONG_STEPS);
        if steps < edges::MIN_INTERVALS as f64 {
            return Ok(());
        }
        let mut work = step_ns / PIECES_PER_STEP / examined.trace.reference.ns_per_work;
        let mut pieces = TRIAL_PIECES;
        // The time of a piece is found from a few pieces first. It may change while a runtime
        // compiles its loops, so it is then found again from all pieces.
        for _ in 0..MAX_LONG_STEP_QUESTIONS {
            let compared =
                self.timer(examined.id)
                    .comparisons(&self.reference, work as u64, pieces as u32);
            let evidence = &mut examined.trace.evidence;
            let Some(compared) = record_refusal(Op::Comparisons, compared, evidence)? else {
                return Ok(());
            };
            // Each comparison: the reference, the timer, the reference again.
            let (Some(first), Some(last)) = (compared.first(), compared.last()) else {
                return Ok(());
            };
            let pieces_per_step =
                pieces / (last[0].wrapping_sub(first[0]) as f64 / step_ticks).max(1.0);
            if pieces > TRIAL_PIECES {
                let readings: Vec<i64> = compared.iter().map(|[_, reading, _]| *reading).collect();
                evidence.edges = edges::reads_between_edges(&readings);
            }
            if pieces > TRIAL_PIECES && pieces_per_step > PIECES_PER_STEP / 2.0 {
                break;
            }
            work = (work * pieces_per_step / PIECES_PER_STEP).max(1.0);
            pieces = steps * PIECES_PER_STEP;
        }
        Ok(())
    }
}
