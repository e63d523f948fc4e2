//! How an agent that is written in words introduces itself: what its list of clocks says, and what
//! it says itself.

use super::book::Book;
use crate::hosts::protocol::Question;
use crate::hosts::protocol::questions::{
    Advance, Batches, Comparisons, Intervals, Periods, Readings, Waits,
};
use crate::hosts::protocol::{Hello, Missing, Runtime, VERSION};

/// An introduction: the name of the runtime, its version, and of each timer that there is something
/// to be said of its id with `=` and the nanoseconds that the platform declares as its resolution,
/// `@` and those of its tick where that is not always the same, or `!` and why it cannot be read.
/// Between them are tabs.
pub(super) fn read(text: &str, book: &Book, wanted: &[String]) -> Option<Hello> {
    let mut words = text.split('\t').map(str::trim);
    let runtime = Runtime {
        name: words.next()?.into(),
        version: words.next()?.into(),
    };
    let said: Vec<&str> = words.collect();
    let said_of = |id: &str, sign: char| {
        said.iter()
            .find_map(|said| said.strip_prefix(id)?.strip_prefix(sign))
            .map(str::to_owned)
    };
    let own = [
        book.reference.as_str(),
        timers::FLOOR_ID,
        timers::waits::FLOOR_ID,
    ];
    let is_wanted = |id: &str| {
        wanted.is_empty() || own.contains(&id) || wanted.iter().any(|wanted| wanted == id)
    };
    let missing = |id: &str, label: &str, ops: &[String]| {
        let (reason, remedy) = {
            let said = said_of(id, '!')?;
            let parts = said
                .split_once("; ")
                .map(|(reason, remedy)| (reason.to_owned(), Some(remedy.to_owned())));
            parts.unwrap_or((said, None))
        };
        Some(Missing {
            id: id.into(),
            label: label.into(),
            reason,
            remedy,
            ops: ops.into(),
        })
    };
    let (mut timers, mut waiters, mut unavailable) = (Vec::new(), Vec::new(), Vec::new());
    for timer in book
        .clocks
        .iter()
        .map(|clock| &clock.timer)
        .filter(|timer| is_wanted(&timer.id))
    {
        let declared = said_of(&timer.id, '=').and_then(|ns| ns.parse().ok());
        match missing(&timer.id, &timer.label, &[]) {
            Some(missing) => unavailable.push(missing),
            None => {
                let mut timer = timer.clone();
                timer.resolution_ns = declared.or(timer.resolution_ns);
                let unit = said_of(&timer.id, '@').and_then(|ns| ns.parse().ok());
                timer.ns_per_tick = unit.or(timer.ns_per_tick);
                timers.push(timer);
            }
        }
    }
    for waiter in book
        .waiters
        .iter()
        .map(|waiter| &waiter.waiter)
        .filter(|waiter| is_wanted(&waiter.id))
    {
        match missing(&waiter.id, &waiter.label, &waiter.ops) {
            Some(missing) => unavailable.push(missing),
            None => waiters.push(waiter.clone()),
        }
    }
    let ops = [
        Intervals::OP,
        Batches::OP,
        Readings::OP,
        Comparisons::OP,
        Advance::OP,
    ]
    .map(String::from);
    let of_waiters: &[&str] = if waiters.is_empty() {
        &[]
    } else {
        &[Waits::OP, Periods::OP]
    };
    let ops = ops
        .into_iter()
        .chain(book.ops.iter().filter(|op| *op != "other-spin").cloned());
    let ops = ops
        .chain(of_waiters.iter().map(|op| (*op).to_owned()))
        .collect();
    Some(Hello {
        protocol: VERSION,
        runtime,
        timers,
        ops,
        waiters,
        unavailable,
    })
}
