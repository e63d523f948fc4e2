//! Measures the time that a read adds to the code around it, its cost in context. A row is a
//! sequence of pieces of work that is timed with and without a read after each piece. The contexts
//! are kinds of work, such as cache misses.

use timers::Answer;

use crate::agents::connection::SharedConnection;
use crate::agents::protocol::Op;
use crate::agents::subject;
use crate::campaign::disturbances::ProcessWatch;
use crate::campaign::plan::Plan;
use crate::campaign::unless_refused;
use estimators::model::Context;
use estimators::trace::InContext;

/// Target time of a row with its reads, in nanoseconds: long relative to the step of any reference,
/// short relative to the time between interruptions. *Judgement*.
const ROW_NS: f64 = 20_000.0;
/// Approximate time of a piece of work, in nanoseconds.
/// *Seen*: 16 to 25 ns; a cache miss takes longer, and so do rows of cache misses.
const PIECE_NS: f64 = 20.0;
/// Smallest and largest number of pieces in a row.
/// *Judgement*.
const PIECES_PER_ROW: [f64; 2] = [16.0, 512.0];
/// Pairs of rows, with and without reads, in a process.
/// *Judgement*: the middle half of nine pairs excludes the rows that were interrupted.
const PAIRS: u32 = 9;
/// Cache misses in each of the short rows that a row of cache misses is divided into. Some misses
/// take many times as long as the others: the middle half of many short rows excludes these misses,
/// while every long row contains some.
/// *Judgement*: a row takes a microsecond, which any reference that is not coarse resolves.
const MISSES_PER_ROW: u32 = 8;

/// Returns the questions for a timer whose reads cost `cost_ns` nanoseconds, if all their contexts
/// are `wanted`: the contexts, the number of pieces in a row, and the number of pairs of rows.
/// Contexts that some machines do not support are separate questions.
pub fn context_questions(
    cost_ns: f64,
    wanted: &[Context],
) -> impl Iterator<Item = (&'static [Context], [u32; 2])> + '_ {
    let [min, max] = PIECES_PER_ROW;
    let pieces = (ROW_NS / (cost_ns.max(0.0) + PIECE_NS)).clamp(min, max) as u32;
    let short_rows = (pieces / MISSES_PER_ROW).max(1);
    let all: [(&[Context], [u32; 2]); 4] = [
        (
            &[Context::Latency, Context::Throughput, Context::Ahead],
            [pieces, PAIRS],
        ),
        (
            &[Context::Memory],
            [pieces / short_rows, PAIRS * short_rows],
        ),
        (&[Context::Cold], [pieces, PAIRS]),
        (&[Context::Contended], [pieces, PAIRS]),
    ];
    all.into_iter()
        .filter(|(contexts, _)| contexts.iter().all(|context| wanted.contains(context)))
}

/// Measures the cost of one timer in the contexts of the plan, in a process that has timed its
/// calls. `watch` repeats disturbed windows; without it, they are kept. Questions that the agent
/// refuses are left out.
///
/// # Errors
/// When the process is lost or the run is interrupted.
pub(super) fn measure_contexts(
    connection: &SharedConnection,
    mut watch: Option<&mut ProcessWatch>,
    [timer, reference]: [&str; 2],
    cost_ns: f64,
    plan: &Plan,
) -> Answer<Vec<InContext>> {
    if !connection.borrow().hello().offers(Op::Adds) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (contexts, counts) in context_questions(cost_ns, plan.contexts) {
        let question =
            || subject::measure_added_time(connection, timer, reference, contexts, counts);
        let answer = match &mut watch {
            Some(watch) => watch
                .gather(1, |_| question().map(|rows| vec![rows]))
                .map(|(rows, _)| rows.concat()),
            None => question(),
        };
        found.extend(unless_refused(answer)?.unwrap_or_default());
    }
    Ok(found)
}
