//! Measures the time that a read adds to the code around it, its cost in context. A row is a
//! sequence of pieces of work that is timed with and without a read in each piece. The contexts
//! are kinds of work.

use estimators::model::Context;
use estimators::trace::InContext;
use timers::Answer;

use crate::agents::connection::SharedConnection;
use crate::agents::protocol::Op;
use crate::agents::subject;
use crate::campaign::disturbances::ProcessWatch;
use crate::campaign::unless_refused;

/// The kinds of work: one that hides a read as far as it can be hidden, and one that waits for reads that
/// order instructions.
const CONTEXTS: [Context; 2] = [Context::Latency, Context::Ahead];

/// Returns the question for a timer whose reads cost `cost_ns` nanoseconds: the contexts, the number of
/// pieces in a row, and the number of pairs of rows.
pub fn context_question(cost_ns: f64) -> (&'static [Context], [u32; 2]) {
    /// Target time of a row with its reads, in nanoseconds: long relative to the step of any reference,
    /// short relative to the time between interruptions. *Judgement*.
    const ROW_NS: f64 = 20_000.0;
    /// Approximate time of a piece of work, in nanoseconds.
    /// *Seen*: 16 to 25 ns.
    const PIECE_NS: f64 = 20.0;
    /// Smallest and largest number of pieces in a row.
    /// *Judgement*.
    const PIECES_PER_ROW: [f64; 2] = [16.0, 512.0];
    /// Pairs of rows, with and without reads, in a process.
    /// *Judgement*: the middle half of nine pairs excludes the rows that were interrupted.
    const PAIRS: u32 = 9;
    let [min, max] = PIECES_PER_ROW;
    let pieces = (ROW_NS / (cost_ns.max(0.0) + PIECE_NS)).clamp(min, max);
    (&CONTEXTS, [pieces as u32, PAIRS])
}

/// Measures the cost of one timer in context, in a process that has timed its calls. `watch` repeats
/// disturbed windows; without it, they are kept. Returns no rows if the agent refuses.
///
/// # Errors
/// When the process is lost or the run is interrupted.
pub(super) fn measure_contexts(
    connection: &SharedConnection,
    watch: Option<&mut ProcessWatch>,
    [timer, reference]: [&str; 2],
    cost_ns: f64,
) -> Answer<Vec<InContext>> {
    if !connection.borrow().hello().offers(Op::Adds) {
        return Ok(Vec::new());
    }
    let (contexts, counts) = context_question(cost_ns);
    let question = || subject::measure_added_time(connection, timer, reference, contexts, counts);
    let answer = match watch {
        Some(watch) => watch
            .gather(1, |_| question().map(|rows| vec![rows]))
            .map(|(rows, _)| rows.concat()),
        None => question(),
    };
    Ok(unless_refused(answer)?.unwrap_or_default())
}
