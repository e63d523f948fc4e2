//! The questions to timers that wait: few waits, so that they do not take long.

use serde_json::json;
use timermeter::hosts::protocol::answers::{Arms, Periods, Waits};
use timermeter::hosts::protocol::{Hello, HostedWaiter};

use super::{Examination, counted};

const OPS: [&str; 3] = ["waits", "arms", "periods"];
/// None, and one that is no whole number of milliseconds.
const LENGTHS_NS: [u64; 2] = [0, 1_400_000];
const REPEAT: usize = 4;
const PERIOD_NS: u64 = 2_000_000;
const WAKEUPS: usize = 5;
const UNLIKELY: &str = "no such timer";

impl Examination<'_> {
    /// What the introduction says of them, and what each answers.
    pub(super) fn waiting(&mut self, hello: &Hello, reference: &str) {
        for op in OPS {
            if !hello.waiters.iter().any(|waiter| answers(waiter, op)) {
                self.not_offered(op);
            }
        }
        if hello.waiters.is_empty() {
            return;
        }
        let sound = hello
            .waiters
            .iter()
            .find_map(|waiter| misfit(waiter, &hello.ops))
            .map_or(Ok(()), Err);
        self.note(
            "hello: waiters",
            sound,
            "give each of `waiters` the `ops` that it answers, and name all of these in the `ops` of the agent",
        );
        let unit = reference_unit(hello, reference);
        for waiter in &hello.waiters {
            self.waiter(waiter, reference, unit);
        }
        if let Some(waiter) = hello.waiters.iter().find(|waiter| answers(waiter, "waits")) {
            self.endings(&waiter.id, reference);
        }
        for (op, rest) in [
            ("waits", json!({"request_ns":[0],"repeat":1})),
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
                ("a timer it does not have", UNLIKELY, reference),
                ("a clock", reference, reference),
                ("a reference it does not have", waiter.id.as_str(), UNLIKELY),
            ] {
                let mut request = json!({"op":op,"timer":timer,"reference":timed_by});
                request.as_object_mut().into_iter().for_each(|request| {
                    request.extend(rest.as_object().cloned().unwrap_or_default());
                });
                self.refused(&format!("{op} of {what}"), &request.to_string(), reference);
            }
        }
    }

    fn waiter(&mut self, waiter: &HostedWaiter, reference: &str, unit: Option<f64>) {
        let id = &waiter.id;
        if answers(waiter, "waits") {
            let request = json!({"op":"waits","timer":id,"reference":reference,"request_ns":LENGTHS_NS,"repeat":REPEAT,
                "pause_ns":100_000});
            let answer = self.ask::<Waits>(&request).and_then(|answer| {
                counted(answer.waits.len(), LENGTHS_NS.len())?;
                answer
                    .waits
                    .iter()
                    .try_for_each(|row| counted(row.len(), REPEAT))?;
                answer
                    .waits
                    .iter()
                    .flatten()
                    .try_for_each(|wait| sound(wait))?;
                Ok(answer)
            });
            let ends_early = |answer: &Waits| {
                if id == timers::waits::FLOOR_ID {
                    0
                } else {
                    early(answer, unit)
                }
            };
            let early = answer.as_ref().map_or(0, ends_early);
            let question = match early {
                0 => format!("waits of {id}"),
                early => format!(
                    "waits of {id} ({early} of {REPEAT} returned before their time, as some timers do)"
                ),
            };
            self.note(
                &question,
                answer.map(|_| ()),
                "answer {\"waits\":[[[before,after],…],…]}: a row for each length, `repeat` waits in each; CPU time and run-queue delay \
                 may follow, in nanoseconds",
            );
        }
        if answers(waiter, "arms") {
            let request = json!({"op":"arms","timer":id,"reference":reference,"repeat":REPEAT});
            let answer = self.ask::<Arms>(&request).and_then(|answer| {
                counted(answer.arms.len(), REPEAT)?;
                answer.arms.iter().try_for_each(|&took| ordered(0, took))
            });
            self.note(
                &format!("arms of {id}"),
                answer,
                "answer {\"arms\":[…]}: `repeat` integers, second reading minus first",
            );
        }
        if answers(waiter, "periods") {
            let request = json!({"op":"periods","timer":id,"reference":reference,"period_ns":PERIOD_NS,"count":WAKEUPS,
                "stalls":[1]});
            let answer = self.ask::<Periods>(&request).and_then(|answer| {
                counted(answer.periods.len(), WAKEUPS)?;
                answer
                    .periods
                    .windows(2)
                    .try_for_each(|pair| ordered(pair[0][0], pair[1][0]))?;
                match answer
                    .periods
                    .iter()
                    .find(|[_, expirations]| *expirations < 0)
                {
                    Some([_, expirations]) => {
                        Err(format!("a wake-up stands for {expirations} expirations"))
                    }
                    None => Ok(()),
                }
            });
            self.note(
                &format!("periods of {id}"),
                answer,
                "answer {\"periods\":[[t,expirations],…]}: `count` wake-ups, in order, with 1 for expirations that are unknown",
            );
        }
    }

    /// No waits, and those that end with the first that is late.
    fn endings(&mut self, id: &str, reference: &str) {
        let request =
            json!({"op":"waits","timer":id,"reference":reference,"request_ns":[],"repeat":REPEAT});
        let answer = self
            .ask::<Waits>(&request)
            .and_then(|answer| counted(answer.waits.len(), 0));
        self.note("no lengths to wait", answer, "answer with an empty list");
        let request = json!({"op":"waits","timer":id,"reference":reference,"request_ns":LENGTHS_NS,"repeat":REPEAT,
            "break_ns":0});
        let answer = self.ask::<Waits>(&request).and_then(|answer| {
            counted(answer.waits.len(), LENGTHS_NS.len())?;
            match answer.waits.iter().find(|row| row.len() > REPEAT) {
                Some(row) => counted(row.len(), REPEAT),
                None => Ok(()),
            }
        });
        self.note(
            "waits that end with a late one",
            answer,
            "answer all rows, with the waits so far; or ignore `break_ns`",
        );
    }
}

fn answers(waiter: &HostedWaiter, op: &str) -> bool {
    waiter.ops.iter().any(|offered| offered == op)
}

/// What is wrong with one of `waiters`.
fn misfit(waiter: &HostedWaiter, ops: &[String]) -> Option<String> {
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
        .unit_ns
        .filter(|unit| !(unit.is_normal() && *unit > 0.0))?;
    Some(format!("`{id}` has a unit of {unit} ns"))
}

/// Nanoseconds in a tick of the reference.
fn reference_unit(hello: &Hello, reference: &str) -> Option<f64> {
    hello
        .timers
        .iter()
        .find(|timer| timer.id == reference)?
        .ns_per_tick
}

fn sound(wait: &[i64]) -> Result<(), String> {
    match wait {
        [before, after, rest @ ..] if rest.len() <= 2 => {
            ordered(*before, *after)?;
            rest.iter().try_for_each(|&time| ordered(0, time))
        }
        _ => Err(format!("a wait has {} integers, not 2, 3 or 4", wait.len())),
    }
}

fn ordered(first: i64, second: i64) -> Result<(), String> {
    if first <= second {
        Ok(())
    } else {
        Err(format!("{second} comes after {first}, and is less"))
    }
}

/// How many of the longer waits were early.
fn early(answer: &Waits, unit: Option<f64>) -> usize {
    let (Some(unit), [_, longer]) = (unit, &answer.waits[..]) else {
        return 0;
    };
    let took = |wait: &[i64]| wait[1].wrapping_sub(wait[0]) as f64 * unit;
    longer
        .iter()
        .filter(|wait| took(wait) < LENGTHS_NS[1] as f64)
        .count()
}
