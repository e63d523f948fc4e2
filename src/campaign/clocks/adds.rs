//! What a read adds to the code around it, asked in processes that time its calls as well.

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

/// How long a row of pieces of work should take with its reads, in nanoseconds: long against the
/// step of any reference, short against interruptions. *Judgement*.
const ROW_NS: f64 = 20_000.0;
/// What a piece of work takes, roughly, in nanoseconds.
/// *Seen*: 16 to 25 ns; a miss takes longer, and its rows with it.
const PIECE_NS: f64 = 20.0;
/// Pieces in a row.
/// *Judgement*.
const TURNS: [f64; 2] = [16.0, 512.0];
/// Pairs of rows a process.
/// *Judgement*: the middle half of nine is without the interruptions that a row may have.
const PAIRS: u32 = 9;
/// Pieces that rows of misses are cut into, each a pair of its own. Some misses take many times as
/// long as others; the middle half of many short rows is without them, where every long row holds
/// some. *Seen*: with 64 ten runs of one machine differed by a third less than with 16, in the same
/// time.
const PIECES: u32 = 64;
/// Misses in such a row.
/// *Judgement*: a row takes a microsecond, which any reference that is not coarse tells.
const MISSES: u32 = 8;

/// What is asked at once of a timer whose reads cost a number of nanoseconds: the code around them,
/// among that which is `wanted`, how many pieces of it are in a row, and how many pairs of rows
/// there are. What one machine cannot do is a question of its own.
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

/// Asks one process about one timer, whose calls it has timed. What a host refuses is left out.
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
        let question = || hosted::adds(connection, timer, reference, contexts, counts);
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

/// How many pieces of work are in a row with reads of a cost in nanoseconds.
fn turns(cost_ns: f64) -> u32 {
    (ROW_NS / (cost_ns.max(0.0) + PIECE_NS)).clamp(TURNS[0], TURNS[1]) as u32
}
