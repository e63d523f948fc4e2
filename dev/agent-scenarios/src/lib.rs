//! Whether a program speaks the agent protocol, at length: every question is asked of every timer,
//! and many that are none.

mod partner;
mod waiting;

use std::time::Duration;

use partner::{Partner, printable, quoted};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use timermeter::hosts::process::Command;
use timermeter::hosts::protocol::answers::{
    Adds, Advanced, Batches, Comparisons, Handoffs, HandoffsBetween, Intervals, Ordered, Readings,
};
use timermeter::hosts::protocol::{Hello, Refusal, VERSION};
use timermeter::text::from_bytes;

/// Intervals in a row with much work and with none, of which the medians are compared.
const ROW: u32 = 9;
/// Work that takes long on every machine and in every language, against the cost of a read.
const MUCH_WORK: u64 = 100_000;
/// How often it is made eight times as much where the timer did not move: steps of 100 ms are
/// known.
const COARSER: u32 = 4;
/// More values than a prober ever asks for at once; an agent may refuse so many.
const LARGE: u32 = 100_000;

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As the protocol says.
    Pass,
    /// The agent does not offer the question, and need not.
    NotOffered,
    /// Otherwise.
    Fail {
        /// What it did.
        cause: String,
        /// What it should do.
        remedy: &'static str,
    },
}

/// A check and its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was asked.
    pub question: String,
    /// What became of it.
    pub verdict: Verdict,
}

const ERROR: &str = "answer {\"error\":\"why, in one line\"} and go on";

/// Asks a program everything, each answer within `timeout`.
#[must_use]
pub fn check(command: &Command, timeout: Duration) -> Vec<Finding> {
    let mut examination = Examination {
        partner: Partner {
            command,
            timeout,
            process: None,
        },
        findings: Vec::new(),
    };
    let Some(hello) = examination.introduction() else {
        return examination.findings;
    };
    let reference = hello
        .timers
        .iter()
        .find(|timer| timer.reference)
        .or(hello.timers.first())
        .map(|timer| timer.id.clone());
    let Some(reference) = reference else {
        return examination.findings;
    };
    for timer in &hello.timers {
        examination.timer(&timer.id, &reference);
    }
    examination.amounts(&reference);
    examination.optional(&hello, &reference);
    examination.waiting(&hello, &reference);
    examination.nonsense(&reference);
    examination.end();
    examination.findings
}

struct Examination<'a> {
    partner: Partner<'a>,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    fn introduction(&mut self) -> Option<Hello> {
        let remedy = "answer {\"protocol\":1,\"runtime\":{\"name\":…,\"version\":…},\"timers\":[…],\"ops\":[…]}, one line, flushed";
        let hello = self.ask::<Hello>(&hello_request());
        let hello = hello.and_then(|hello| match hello.objection() {
            Some(why) => Err(why),
            None => Ok(hello),
        });
        let kept = hello.as_ref().ok().cloned();
        self.note("hello", hello.map(|_| ()), remedy);
        let hello = kept?;
        let some = if hello.timers.is_empty() {
            Err("it names no timer".to_owned())
        } else {
            Ok(())
        };
        self.note("hello: timers", some, "name at least one");
        let one = match hello.timers.iter().filter(|timer| timer.reference).count() {
            1 => Ok(()),
            count => Err(format!("{count} timers are marked as the reference")),
        };
        self.note(
            "hello: a reference",
            one,
            "mark the finest timer, and only that, with \"reference\":true",
        );
        let needed = ["intervals", "batches", "readings"];
        let lacking: Vec<&str> = needed
            .into_iter()
            .filter(|op| !hello.ops.iter().any(|offered| offered == op))
            .collect();
        let all = if lacking.is_empty() {
            Ok(())
        } else {
            Err(format!("`ops` lacks {}", lacking.join(", ")))
        };
        self.note(
            "hello: ops",
            all,
            "serve and name intervals, batches and readings",
        );
        Some(hello)
    }

    fn timer(&mut self, id: &str, reference: &str) {
        let request = json!({"op":"readings","timer":id,"count":3});
        let answer = self
            .ask::<Readings>(&request)
            .and_then(|answer| counted(answer.readings.len(), 3));
        self.note(
            &format!("readings of {id}"),
            answer,
            "answer {\"readings\":[…]}: as many 64-bit integers as `count` says",
        );
        let request = json!({"op":"intervals","timer":id,"work":[0, 1, 10],"repeat":4});
        let answer = self.ask::<Intervals>(&request).and_then(|answer| {
            counted(answer.intervals.len(), 3)?;
            answer
                .intervals
                .iter()
                .try_for_each(|row| counted(row.len(), 4))
        });
        self.note(
            &format!("intervals of {id}"),
            answer,
            "answer {\"intervals\":[[…],…]}: a row for each amount of work, `repeat` integers in each",
        );
        for calls in [0, 5] {
            let request =
                json!({"op":"batches","timer":id,"reference":reference,"calls":calls,"repeat":4});
            let answer = self
                .ask::<Batches>(&request)
                .and_then(|answer| counted(answer.batches.len(), 4));
            let question = format!("batches of {id} by {reference}, {calls} calls");
            self.note(
                &question,
                answer,
                "answer {\"batches\":[…]}: `repeat` integers, in ticks of the reference",
            );
        }
    }

    /// None, many, and whether more work takes longer.
    fn amounts(&mut self, id: &str) {
        let request = json!({"op":"readings","timer":id,"count":0});
        let answer = self
            .ask::<Readings>(&request)
            .and_then(|answer| counted(answer.readings.len(), 0));
        self.note("count 0", answer, "answer with an empty list");
        let request = json!({"op":"intervals","timer":id,"work":[],"repeat":3});
        let answer = self
            .ask::<Intervals>(&request)
            .and_then(|answer| counted(answer.intervals.len(), 0));
        self.note("no work amounts", answer, "answer with an empty list");
        let request = json!({"op":"batches","timer":id,"reference":id,"calls":1,"repeat":LARGE});
        let answer = self.ask_or_refused::<Batches>(&request, |answer| {
            counted(answer.batches.len(), LARGE as usize)
        });
        self.note(
            &format!("{LARGE} values"),
            answer,
            "answer with all of them, or refuse: {\"error\":\"too many\"}",
        );
        let answer = self.more_takes_longer(id);
        self.note(
            "more work takes longer",
            answer,
            "let each unit wait for the one before, and keep the result, so that the work cannot be left out",
        );
    }

    /// Work that is made more while the timer, which may be coarse, does not tell it from none.
    fn more_takes_longer(&mut self, id: &str) -> Result<(), String> {
        let mut work = MUCH_WORK;
        let mut coarser = COARSER;
        loop {
            let request = json!({"op":"intervals","timer":id,"work":[0, work],"repeat":ROW});
            let grown = grows(&self.ask::<Intervals>(&request)?.intervals, work);
            if grown.is_ok() || coarser == 0 {
                return grown;
            }
            work *= 8;
            coarser -= 1;
        }
    }

    fn optional(&mut self, hello: &Hello, id: &str) {
        let offers = |op: &str| hello.ops.iter().any(|offered| offered == op);
        self.offered("order", offers("order"), |this| {
            let answer = this.ask::<Ordered>(&json!({"op":"order","timer":id,"count":4}))?;
            answer.contradiction(4).map_or(Ok(()), Err)
        });
        self.offered("handoffs", offers("handoffs"), |this| {
            let answer = this.ask::<Handoffs>(&json!({"op":"handoffs","timer":id,"count":4}))?;
            counted(answer.handoffs.len(), 4)
        });
        let cpus = timers::allowed_cpus().unwrap_or_default();
        self.offered(
            "handoffs-between",
            offers("handoffs-between") && cpus.len() > 1,
            |this| {
                let request =
                    json!({"op":"handoffs-between","timer":id,"cpus":[&cpus[..2]],"count":4});
                this.ask_or_refused::<HandoffsBetween>(&request, |answer| {
                    counted(answer.handoffs.len(), 1)?;
                    answer
                        .handoffs
                        .iter()
                        .try_for_each(|pair| counted(pair.len(), 4))
                })
            },
        );
        self.offered("comparisons", offers("comparisons"), |this| {
            let request = json!({"op":"comparisons","timer":id,"reference":id,"work":3,"count":4});
            this.ask_or_refused::<Comparisons>(&request, |answer| {
                counted(answer.comparisons.len(), 4)?;
                let before = |[first, _, last]: &[i64; 3]| first <= last;
                if answer.comparisons.iter().all(before) {
                    Ok(())
                } else {
                    Err("the second reading of the reference is below the first".into())
                }
            })
        });
        self.offered("adds", offers("adds"), |this| {
            let request =
                json!({"op":"adds","timer":id,"reference":id,"contexts":["latency"],"turns":4,"repeat":3});
            this.ask_or_refused::<Adds>(&request, |answer| {
                counted(answer.adds.len(), 1)?;
                answer.adds.iter().try_for_each(|row| counted(row.len(), 3))
            })
        });
        for during in ["spin", "sleep", "other-spin"] {
            self.offered(
                &format!("advance during {during}"),
                offers("advance"),
                |this| {
                    let request =
                        json!({"op":"advance","timer":id,"reference":id,"during":during,"ms":2});
                    this.ask_or_refused::<Advanced>(&request, |_| Ok(()))
                },
            );
        }
    }

    /// Asks an optional question, where the agent offers it.
    fn offered(
        &mut self,
        question: &str,
        offers: bool,
        ask: impl FnOnce(&mut Self) -> Result<(), String>,
    ) {
        if !offers {
            return self.not_offered(question);
        }
        let answer = ask(self);
        self.note(
            question,
            answer,
            "answer as the protocol says, or take the question out of `ops`",
        );
    }

    fn not_offered(&mut self, question: &str) {
        self.findings.push(Finding {
            question: question.into(),
            verdict: Verdict::NotOffered,
        });
    }

    /// What is no question has to be refused, and must not end the agent.
    fn nonsense(&mut self, id: &str) {
        let unlikely = "no such timer";
        for (question, line) in [
            (
                "a timer it does not have",
                json!({"op":"readings","timer":unlikely,"count":1}).to_string(),
            ),
            (
                "a reference it does not have",
                json!({"op":"batches","timer":id,"reference":unlikely,"calls":1,"repeat":1})
                    .to_string(),
            ),
            (
                "an op that does not exist",
                json!({"op":"no such op"}).to_string(),
            ),
            (
                "a request without its keys",
                json!({"op":"readings"}).to_string(),
            ),
            ("a line that is no JSON", "{\"op\":".to_owned()),
            ("JSON that is no object", "[1]".to_owned()),
        ] {
            self.refused(question, &line, id);
        }
        let two = format!(
            "{}\n{}",
            json!({"op":"readings","timer":id,"count":1}),
            json!({"op":"readings","timer":id,"count":2})
        );
        let answers = self.partner.say(&two).and_then(|first| {
            let second = self.partner.receive()?;
            let length =
                |line: &[u8]| from_bytes::<Readings>(line).map(|answer| answer.readings.len());
            match (length(&first), length(&second)) {
                (Ok(1), Ok(2)) => Ok(()),
                _ => Err(format!(
                    "it answered {} and {}",
                    quoted(&first),
                    quoted(&second)
                )),
            }
        });
        self.note(
            "two requests at once",
            answers,
            "answer one request with one line, in order",
        );
    }

    /// That it refuses this, and goes on.
    fn refused(&mut self, question: &str, line: &str, id: &str) {
        let refused =
            self.partner
                .say(line)
                .and_then(|answer| match from_bytes::<Refusal>(&answer) {
                    Ok(refusal) if !refusal.error.trim().is_empty() => Ok(()),
                    _ => Err(format!("it answered {}", quoted(&answer))),
                });
        let request = json!({"op":"readings","timer":id,"count":1});
        let refused = refused.and_then(|()| self.ask::<Readings>(&request).map(|_| ()));
        self.note(question, refused, ERROR);
    }

    fn end(&mut self) {
        let ended = self.partner.end();
        self.note(
            "end of input",
            ended,
            "exit with status 0 when standard input ends",
        );
    }

    fn note(&mut self, question: &str, answer: Result<(), String>, remedy: &'static str) {
        let verdict = match answer {
            Ok(()) => Verdict::Pass,
            Err(cause) => Verdict::Fail { cause, remedy },
        };
        self.findings.push(Finding {
            question: question.into(),
            verdict,
        });
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &Value) -> Result<T, String> {
        let line = self.partner.say(&request.to_string())?;
        if let Ok(Refusal { error }) = from_bytes(&line) {
            return Err(format!("it refused: {}", printable(error.as_bytes())));
        }
        from_bytes(&line).map_err(|error| {
            format!(
                "{} in {}",
                printable(error.to_string().as_bytes()),
                quoted(&line)
            )
        })
    }

    fn ask_or_refused<T: DeserializeOwned>(
        &mut self,
        request: &Value,
        judge: impl FnOnce(T) -> Result<(), String>,
    ) -> Result<(), String> {
        let line = self.partner.say(&request.to_string())?;
        if from_bytes::<Refusal>(&line).is_ok() {
            return Ok(());
        }
        from_bytes(&line)
            .map_err(|error| format!("{error} in {}", quoted(&line)))
            .and_then(judge)
    }
}

fn hello_request() -> Value {
    json!({"op":"hello","protocol":VERSION})
}

fn counted(found: usize, wanted: usize) -> Result<(), String> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("there are {found} values, not {wanted}"))
    }
}

/// Whether the median of the second row lies above that of the first.
fn grows(rows: &[Vec<i64>], work: u64) -> Result<(), String> {
    let median = |row: &Vec<i64>| {
        let mut row = row.clone();
        row.sort_unstable();
        row.get(row.len() / 2).copied().unwrap_or_default()
    };
    match rows {
        [none, much] if median(much) > median(none) => Ok(()),
        [none, much] => Err(format!(
            "{} ticks with no work, {} ticks with {work} units of it",
            median(none),
            median(much)
        )),
        _ => Err("there are not two rows".into()),
    }
}
