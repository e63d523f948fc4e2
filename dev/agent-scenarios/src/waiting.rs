//! Checks the questions for sleep primitives and periodic timers, with few and short waits.

use serde_json::json;
use timermeter::hosts::protocol::{Hello, HostedTimer};

use super::{Examination, VALUES_REMEDY, request_line};

const OPS: [&str; 3] = ["waits", "arms", "periods"];
/// Lengths of the waits in nanoseconds: zero, and one that is not a whole number of milliseconds.
const LENGTHS_NS: [u64; 2] = [0, 1_400_000];
const REPEAT: u32 = 4;
const PERIOD_NS: u64 = 2_000_000;
const WAKEUPS: u32 = 5;
const UNKNOWN_ID: &str = "no such timer";

impl Examination<'_> {
    /// Checks the introductions and the answers of the sleep primitives and periodic timers.
    pub(super) fn check_waiters(&mut self, hello: &Hello, reference: &str) {
        for op in OPS {
            if !hello.waiters.iter().any(|waiter| answers(waiter, op)) {
                self.record_not_offered(op);
            }
        }
        if hello.waiters.is_empty() {
            return;
        }
        let consistent = hello
            .waiters
            .iter()
            .find_map(|waiter| find_inconsistency(waiter, &hello.ops))
            .map_or(Ok(()), Err);
        self.note(
            "hello: waiters",
            consistent,
            "list in each of `waiters` the `ops` that it answers, and all of these in the `ops` of the agent",
        );
        let unit = reference_unit(hello, reference);
        for waiter in &hello.waiters {
            self.check_waiter(waiter, reference, unit);
        }
        if let Some(waiter) = hello.waiters.iter().find(|waiter| answers(waiter, "waits")) {
            self.check_early_end(&waiter.id, reference);
        }
        for (op, rest) in [
            (
                "waits",
                json!({"break_ns":-1,"pause_ns":0,"repeat":1,"request_ns":[0]}),
            ),
            ("arms", json!({"repeat":1})),
            (
                "periods",
                json!({"period_ns":PERIOD_NS,"count":1,"stalls":[]}),
            ),
        ] {
            let Some(waiter) = hello.waiters.iter().find(|waiter| answers(waiter, op)) else {
                continue;
            };
            for (what, timer, timed_by) in [
                ("a timer it does not have", UNKNOWN_ID, reference),
                ("a clock", reference, reference),
                (
                    "a reference it does not have",
                    waiter.id.as_str(),
                    UNKNOWN_ID,
                ),
            ] {
                let mut request = json!({"op":op,"timer":timer,"reference":timed_by});
                request.as_object_mut().into_iter().for_each(|request| {
                    request.extend(rest.as_object().cloned().unwrap_or_default());
                });
                self.check_refusal(
                    &format!("{op} of {what}"),
                    &request_line(&request),
                    reference,
                );
            }
        }
    }

    fn check_waiter(&mut self, waiter: &HostedTimer, reference: &str, unit: Option<f64>) {
        let id = &waiter.id;
        if answers(waiter, "waits") {
            let request = json!({"op":"waits","timer":id,"reference":reference,"break_ns":-1,"pause_ns":100_000,
                "repeat":REPEAT,"request_ns":LENGTHS_NS});
            let answer = self.ask(&request).and_then(|values| {
                values.chunks(5).try_for_each(|wait| {
                    check_ordered(wait[1], wait[2])?;
                    check_ordered(-1, wait[3])?;
                    check_ordered(-1, wait[4])
                })?;
                Ok(values)
            });
            let count_early = |values: &Vec<i64>| {
                if id == timers::waits::FLOOR_ID {
                    0
                } else {
                    count_early_waits(values, unit)
                }
            };
            let early = answer.as_ref().map_or(0, count_early);
            let question = match early {
                0 => format!("waits of {id}"),
                early => {
                    format!("waits of {id} ({early} of {REPEAT} returned early, which is allowed)")
                }
            };
            self.note(&question, answer.map(|_| ()), VALUES_REMEDY);
        }
        if answers(waiter, "arms") {
            let request = json!({"op":"arms","timer":id,"reference":reference,"repeat":REPEAT});
            let answer = self
                .ask(&request)
                .and_then(|values| values.iter().try_for_each(|&took| check_ordered(0, took)));
            self.note(&format!("arms of {id}"), answer, VALUES_REMEDY);
        }
        if answers(waiter, "periods") {
            let request = json!({"op":"periods","timer":id,"reference":reference,"period_ns":PERIOD_NS,"count":WAKEUPS,
                "stalls":[1]});
            let answer = self.ask(&request).and_then(|values| {
                let mut pairs = values.windows(3).step_by(2);
                pairs.try_for_each(|pair| check_ordered(pair[0], pair[2]))
            });
            self.note(&format!("periods of {id}"), answer, VALUES_REMEDY);
        }
    }

    /// Checks a request without waits, and one that ends after the first late wait.
    fn check_early_end(&mut self, id: &str, reference: &str) {
        let none = json!({"op":"waits","timer":id,"reference":reference,"break_ns":-1,"pause_ns":0,"repeat":REPEAT,
            "request_ns":[]});
        self.check_values("no lengths to wait", &none);
        let late = json!({"op":"waits","timer":id,"reference":reference,"break_ns":0,"pause_ns":0,"repeat":REPEAT,
            "request_ns":LENGTHS_NS});
        self.check_values("waits that end with a late one", &late);
    }
}

fn answers(waiter: &HostedTimer, op: &str) -> bool {
    waiter.ops.iter().any(|offered| offered == op)
}

/// Describes an error in the declaration of a sleep primitive or periodic timer; `None` if there is
/// none.
fn find_inconsistency(waiter: &HostedTimer, ops: &[String]) -> Option<String> {
    let id = &waiter.id;
    if !OPS.iter().any(|op| answers(waiter, op)) {
        return Some(format!("`{id}` answers none of {}", OPS.join(", ")));
    }
    if let Some(op) = OPS
        .iter()
        .find(|op| answers(waiter, op) && !ops.iter().any(|offered| offered == *op))
    {
        return Some(format!(
            "`{id}` answers {op}, which the `ops` of the agent lacks"
        ));
    }
    let unit = waiter
        .ns_per_tick
        .filter(|unit| !(unit.is_normal() && *unit > 0.0))?;
    Some(format!("`{id}` has a unit of {unit} ns"))
}

/// Returns the nanoseconds per tick of the reference, if declared.
fn reference_unit(hello: &Hello, reference: &str) -> Option<f64> {
    hello
        .timers
        .iter()
        .find(|timer| timer.id == reference)?
        .ns_per_tick
}

/// Checks that the second value is not smaller than the first.
fn check_ordered(first: i64, second: i64) -> Result<(), String> {
    if first <= second {
        Ok(())
    } else {
        Err(format!("{second} follows {first}, but is smaller"))
    }
}

/// Returns the number of the longer waits that returned early.
fn count_early_waits(values: &[i64], unit: Option<f64>) -> usize {
    let Some(unit) = unit else {
        return 0;
    };
    let took = |wait: &[i64]| wait[2].wrapping_sub(wait[1]) as f64 * unit;
    values
        .chunks(5)
        .filter(|wait| wait[0] == 1 && took(wait) < LENGTHS_NS[1] as f64)
        .count()
}
