//! Defines a small example of each question, with which agents are checked and their loops are
//! warmed up.

use super::{AgentQuestion, Op};

/// A small example of each question, with placeholders for its parameters.
pub const EXAMPLES: [(Op, &str); 11] = [
    (
        Op::Readings,
        r#"{"op":"readings","timer":TIMER,"count":20}"#,
    ),
    (
        Op::Differences,
        r#"{"op":"intervals","timer":TIMER,"repeat":20,"work":[0,AMOUNT]}"#,
    ),
    (
        Op::Batches,
        r#"{"op":"batches","timer":TIMER,"reference":REFERENCE,"calls":AMOUNT,"repeat":20}"#,
    ),
    (Op::Order, r#"{"op":"order","timer":TIMER,"count":4}"#),
    (
        Op::Handoffs,
        r#"{"op":"handoffs","timer":TIMER,"cpus":[],"count":4}"#,
    ),
    (
        Op::Comparisons,
        r#"{"op":"comparisons","timers":[TIMER],"reference":REFERENCE,"work":AMOUNT,"count":3,"repeat":3}"#,
    ),
    (
        Op::Advance,
        r#"{"op":"advance","timers":[TIMER],"reference":REFERENCE,"during":"spin","ms":2}"#,
    ),
    (
        Op::Advance,
        r#"{"op":"advance","timers":[TIMER],"reference":REFERENCE,"during":"other-spin","ms":2}"#,
    ),
    (
        Op::Adds,
        r#"{"op":"adds","timer":TIMER,"reference":REFERENCE,"contexts":["latency"],"turns":4,"repeat":3}"#,
    ),
    (
        Op::Waits,
        r#"{"op":"waits","timer":TIMER,"reference":REFERENCE,"pause_ns":100000,"repeat":4,"request_ns":[0,1400000]}"#,
    ),
    (
        Op::Periods,
        r#"{"op":"periods","timer":TIMER,"reference":REFERENCE,"period_ns":2000000,"count":5}"#,
    ),
];

/// Fills an example in for a timer, a reference, and an amount of work or number of calls.
///
/// # Errors
/// When the result is not a valid question.
pub fn question(
    example: &str,
    timer: &str,
    reference: &str,
    amount: u32,
) -> serde_json::Result<AgentQuestion> {
    let line = example
        .replace("AMOUNT", &amount.to_string())
        .replace("TIMER", &serde_json::to_string(timer)?)
        .replace("REFERENCE", &serde_json::to_string(reference)?);
    serde_json::from_slice(line.as_bytes())
}
