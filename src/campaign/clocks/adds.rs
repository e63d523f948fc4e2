//! Measures the time that a read adds to the code around it, in processes that also time the calls
//! of the timer.

use std::cell::RefCell;
use std::rc::Rc;

use timers::Answer;

use crate::campaign::sampling::Plan;
use crate::campaign::unless_refused;
use crate::campaign::watch::ProcessWatch;
use crate::hosts::connection::Connection;
use crate::hosts::hosted;
use crate::hosts::protocol::Op;
use crate::model::Context;
use crate::trace::InContext;

/// Target time of a row of pieces of work including its reads, in nanoseconds: long relative to the
/// step of any reference, short relative to the time between interruptions. *Judgement*.
const ROW_NS: f64 = 20_000.0;
/// Approximate time of a piece of work, in nanoseconds.
/// *Seen*: 16 to 25 ns; a cache miss takes longer, and so do its rows.
const PIECE_NS: f64 = 20.0;
/// Fewest and most pieces in a row.
/// *Judgement*.
const TURNS: [f64; 2] = [16.0, 512.0];
/// Pairs of rows in a process.
/// *Judgement*: the middle half of nine pairs excludes the rows that were interrupted.
const PAIRS: u32 = 9;
/// Pieces that rows of cache misses are cut into, each measured as a separate pair. Some misses
/// take many times as long as the others: the middle half of many short rows excludes these misses,
/// while every long row contains some. *Seen*: with 64 pieces, ten runs of one machine differed by
/// a third less than with 16, in the same time.
const PIECES: u32 = 64;
/// Misses in such a row.
/// *Judgement*: a row takes a microsecond, which any reference that is not coarse resolves.
const MISSES: u32 = 8;

/// Returns the questions for a timer whose reads cost `cost_ns` nanoseconds: the contexts of each
/// question, restricted to those `wanted`, the number of pieces in a row, and the number of pairs
/// of rows. Contexts that some machines do not support are separate questions.
pub fn questions(
    cost_ns: f64,
    wanted: &[Context],
) -> impl Iterator<Item = (&'static [Context], [u32; 2])> + '_ {
    let turns = turns(cost_ns);
    let pieces = (turns / MISSES).clamp(1, PIECES);
    let all: [(&[Context], [u32; 2]); 4] = [
        (
            &[Context::Latency, Context::Throughput, Context::Ahead],
            [turns, PAIRS],
        ),
        (&[Context::Memory], [turns / pieces, PAIRS * pieces]),
        (&[Context::Cold], [turns, PAIRS]),
        (&[Context::Contended], [turns, PAIRS]),
    ];
    all.into_iter()
        .filter(|(contexts, _)| contexts.iter().all(|one| wanted.contains(one)))
}

/// Measures the contexts of one timer in a process that has timed its calls. Questions that the
/// host refuses are left out.
///
/// # Errors
/// When the process is lost.
pub(super) fn adds(
    connection: &Rc<RefCell<Connection>>,
    mut window: Option<&mut ProcessWatch>,
    [timer, reference]: [&str; 2],
    cost_ns: f64,
    plan: &Plan,
) -> Answer<Vec<InContext>> {
    if !connection.borrow().hello().offers(Op::Adds) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (contexts, counts) in questions(cost_ns, plan.contexts) {
        let question =
            || hosted::measure_added_time(connection, timer, reference, contexts, counts);
        let answer = match &mut window {
            Some(window) => window
                .gather(1, |_| question().map(|rows| vec![rows]))
                .map(|(rows, _)| rows.concat()),
            None => question(),
        };
        found.extend(unless_refused(answer)?.unwrap_or_default());
    }
    Ok(found)
}

/// Returns the number of pieces of work in a row for reads that cost `cost_ns` nanoseconds.
fn turns(cost_ns: f64) -> u32 {
    (ROW_NS / (cost_ns.max(0.0) + PIECE_NS)).clamp(TURNS[0], TURNS[1]) as u32
}
