//! Tests whether a program implements the agent protocol: asks every question for every timer, and
//! sends many invalid requests.

mod partner;
mod waiting;

use std::time::Duration;

use partner::{Partner, printable, quoted};
use serde_json::{Value, json};
use timermeter::hosts::process::Command;
use timermeter::hosts::protocol::{Hello, Question, Reply, VERSION};
use timermeter::text::from_bytes;

/// The number of intervals with and without work whose medians are compared.
const INTERVALS: u32 = 9;
/// Units of work that take much longer than a read, on every machine and in every language.
const LONG_WORK: u64 = 100_000;
/// How often the work is multiplied by eight if the timer did not move, because steps of 100 ms
/// exist.
const MAX_WORK_INCREASES: u32 = 4;
/// More values than a prober ever requests at once; an agent may refuse so many.
const EXCESSIVE_COUNT: u32 = 100_000;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The agent behaved as the protocol requires.
    Pass,
    /// The agent does not offer the question, which is optional.
    NotOffered,
    /// The agent violated the protocol.
    Fail {
        /// The behaviour of the agent.
        cause: String,
        /// The required behaviour.
        remedy: &'static str,
    },
}

/// A check and its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The question that was sent, or the behaviour that was checked.
    pub question: String,
    /// The result of the check.
    pub verdict: Verdict,
}

/// The remedy if an answer with values is invalid.
const VALUES_REMEDY: &str =
    "answer {\"values\":[…]}: as many 64-bit integers as the question asks for";
/// The remedy if an invalid request is not refused.
const REFUSAL_REMEDY: &str = "answer {\"error\":\"REASON IN ONE LINE\"} and keep running";

/// Runs all checks on a program. Each answer has to arrive within `timeout`.
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
    let Some(hello) = examination.check_hello() else {
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
        examination.check_timer(&timer.id, &reference);
    }
    examination.check_amounts(&reference);
    examination.check_optional_questions(&hello, &reference);
    examination.check_waiters(&hello, &reference);
    examination.check_invalid_requests(&reference);
    examination.check_end();
    examination.findings
}

/// An agent that is checked, and the findings so far.
struct Examination<'a> {
    partner: Partner<'a>,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    fn check_hello(&mut self) -> Option<Hello> {
        let remedy = "answer {\"protocol\":1,\"runtime\":{\"name\":…,\"version\":…},\"timers\":[…],\"ops\":[…]}, one line, flushed";
        let hello = self.hello().and_then(|hello| match hello.objection() {
            Some(why) => Err(why),
            None => Ok(hello),
        });
        let kept = hello.as_ref().ok().cloned();
        self.note("hello", hello.map(|_| ()), remedy);
        let hello = kept?;
        let has_timers = if hello.timers.is_empty() {
            Err("it lists no timer".to_owned())
        } else {
            Ok(())
        };
        self.note("hello: timers", has_timers, "list at least one");
        let one_reference = match hello.timers.iter().filter(|timer| timer.reference).count() {
            1 => Ok(()),
            count => Err(format!("{count} timers are marked as the reference")),
        };
        self.note(
            "hello: a reference",
            one_reference,
            "mark only the finest timer with \"reference\":true",
        );
        let needed = ["intervals", "batches", "readings"];
        let lacking: Vec<&str> = needed
            .into_iter()
            .filter(|op| !hello.ops.iter().any(|offered| offered == op))
            .collect();
        let required_ops = if lacking.is_empty() {
            Ok(())
        } else {
            Err(format!("`ops` lacks {}", lacking.join(", ")))
        };
        self.note(
            "hello: ops",
            required_ops,
            "implement and list intervals, batches and readings",
        );
        Some(hello)
    }

    fn hello(&mut self) -> Result<Hello, String> {
        let line = self
            .partner
            .ask_line(&json!({"op":"hello","protocol":VERSION}).to_string())?;
        let mut hello: Hello =
            from_bytes(&line).map_err(|error| format!("{error} in {}", quoted(&line)))?;
        if let Some(declarations) = &self.partner.command.declarations {
            declarations.complete(&mut hello);
        }
        Ok(hello)
    }

    fn check_timer(&mut self, id: &str, reference: &str) {
        let readings = json!({"op":"readings","timer":id,"count":3});
        let intervals = json!({"op":"intervals","timer":id,"repeat":4,"work":[0, 1, 10]});
        self.check_values(&format!("readings of {id}"), &readings);
        self.check_values(&format!("intervals of {id}"), &intervals);
        for calls in [0, 5] {
            let batches =
                json!({"op":"batches","timer":id,"reference":reference,"calls":calls,"repeat":4});
            self.check_values(
                &format!("batches of {id} by {reference}, {calls} calls"),
                &batches,
            );
        }
    }

    /// Checks requests for no values, for many values, and for increasing work.
    fn check_amounts(&mut self, id: &str) {
        self.check_values("count 0", &json!({"op":"readings","timer":id,"count":0}));
        let none = json!({"op":"intervals","timer":id,"repeat":3,"work":[]});
        self.check_values("no work amounts", &none);
        let request =
            json!({"op":"batches","timer":id,"reference":id,"calls":1,"repeat":EXCESSIVE_COUNT});
        let answer = self.ask_or_refused(&request, |_| Ok(()));
        self.note(
            &format!("{EXCESSIVE_COUNT} values"),
            answer,
            "answer with all values, or refuse: {\"error\":\"too many\"}",
        );
        let answer = self.check_more_work_takes_longer(id);
        self.note(
            "more work takes longer",
            answer,
            "make each unit of work depend on the previous one and use the result, so that the compiler cannot remove it",
        );
    }

    /// Checks that work makes an interval longer. Increases the work while a coarse timer does not
    /// distinguish it from none.
    fn check_more_work_takes_longer(&mut self, id: &str) -> Result<(), String> {
        let mut work = LONG_WORK;
        let mut increases = MAX_WORK_INCREASES;
        loop {
            let request = json!({"op":"intervals","timer":id,"repeat":INTERVALS,"work":[0, work]});
            let growth = check_growth(&self.ask(&request)?, work);
            if growth.is_ok() || increases == 0 {
                return growth;
            }
            work *= 8;
            increases -= 1;
        }
    }

    fn check_optional_questions(&mut self, hello: &Hello, id: &str) {
        let offers = |op: &str| hello.ops.iter().any(|offered| offered == op);
        let order = json!({"op":"order","timer":id,"count":4});
        self.optional_question("order", offers("order"), &order);
        let handoffs = json!({"op":"handoffs","timer":id,"cpus":[],"count":4});
        self.optional_question("handoffs", offers("handoffs"), &handoffs);
        let cpus = timers::allowed_cpus().unwrap_or_default();
        let between = json!({"op":"handoffs","timer":id,"cpus":[cpus.get(..2)],"count":4});
        self.optional_question(
            "handoffs between CPUs",
            offers("handoffs") && cpus.len() > 1,
            &between,
        );
        let adds = json!({"op":"adds","timer":id,"reference":id,"contexts":["latency"],"turns":4,"repeat":3});
        self.optional_question("adds", offers("adds"), &adds);
        let comparisons =
            json!({"op":"comparisons","timers":[id],"reference":id,"work":3,"count":2,"repeat":2});
        self.check_if_offered("comparisons", offers("comparisons"), |this| {
            this.ask_or_refused(&comparisons, |values| {
                let mut all = values.chunks(3);
                match all.find(|readings| readings[2] < readings[0]) {
                    None => Ok(()),
                    Some(_) => Err("the second reading of the reference is below the first".into()),
                }
            })
        });
        for during in ["spin", "sleep", "other-spin"] {
            let advance =
                json!({"op":"advance","timers":[id],"reference":id,"during":during,"ms":2});
            let name = format!("advance during {during}");
            self.optional_question(&name, offers("advance"), &advance);
        }
    }

    fn optional_question(&mut self, name: &str, offers: bool, request: &Value) {
        self.check_if_offered(name, offers, |this| {
            this.ask_or_refused(request, |_| Ok(()))
        });
    }

    /// Runs a check of an optional question if the agent offers it.
    fn check_if_offered(
        &mut self,
        question: &str,
        offers: bool,
        ask: impl FnOnce(&mut Self) -> Result<(), String>,
    ) {
        if !offers {
            return self.record_not_offered(question);
        }
        let answer = ask(self);
        self.note(
            question,
            answer,
            "answer as the protocol requires, or remove the question from `ops`",
        );
    }

    fn record_not_offered(&mut self, question: &str) {
        self.findings.push(Finding {
            question: question.into(),
            verdict: Verdict::NotOffered,
        });
    }

    /// Checks that the agent refuses invalid requests and keeps running.
    fn check_invalid_requests(&mut self, id: &str) {
        let unlikely = "no such timer";
        for (question, line) in [
            (
                "a timer it does not have",
                request_line(&json!({"op":"readings","timer":unlikely,"count":1})),
            ),
            (
                "a reference it does not have",
                request_line(
                    &json!({"op":"batches","timer":id,"reference":unlikely,"calls":1,"repeat":1}),
                ),
            ),
            (
                "an op that does not exist",
                json!({"op":"no such op"}).to_string(),
            ),
            (
                "a request without required keys",
                json!({"op":"readings"}).to_string(),
            ),
            ("a line that is not JSON", "{\"op\":".to_owned()),
            ("JSON that is not an object", "[1]".to_owned()),
        ] {
            self.check_refusal(question, &line, id);
        }
        let two = format!(
            "{}\n{}",
            request_line(&json!({"op":"readings","timer":id,"count":1})),
            request_line(&json!({"op":"readings","timer":id,"count":2}))
        );
        let answers = self.partner.ask_line(&two).and_then(|first| {
            let second = self.partner.receive()?;
            let length = |line: &[u8]| from_bytes::<Reply>(line).map(|reply| reply.values.len());
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

    /// Checks that the agent refuses a request and answers the next one.
    fn check_refusal(&mut self, question: &str, line: &str, id: &str) {
        let refused =
            self.partner
                .ask_line(line)
                .and_then(|answer| match from_bytes::<Reply>(&answer) {
                    Ok(Reply {
                        error: Some(why), ..
                    }) if !why.trim().is_empty() => Ok(()),
                    _ => Err(format!("it answered {}", quoted(&answer))),
                });
        let request = json!({"op":"readings","timer":id,"count":1});
        let refused = refused.and_then(|()| self.ask(&request).map(|_| ()));
        self.note(question, refused, REFUSAL_REMEDY);
    }

    fn check_end(&mut self) {
        let ended = self.partner.end();
        self.note(
            "end of input",
            ended,
            "exit with status 0 when standard input ends",
        );
    }

    /// Records the result of a check.
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

    /// Checks that a question is answered with valid values.
    fn check_values(&mut self, name: &str, request: &Value) {
        let answer = self.ask(request).map(|_| ());
        self.note(name, answer, VALUES_REMEDY);
    }

    /// Asks a question that the agent must answer, and returns the values.
    fn ask(&mut self, request: &Value) -> Result<Vec<i64>, String> {
        self.values(request)?
            .map_err(|why| format!("it refused: {}", printable(why.as_bytes())))
    }

    /// Asks a question that the agent may refuse, and judges the values of an answer.
    fn ask_or_refused(
        &mut self,
        request: &Value,
        judge: impl FnOnce(&[i64]) -> Result<(), String>,
    ) -> Result<(), String> {
        match self.values(request)? {
            Ok(values) => judge(&values),
            Err(_) => Ok(()),
        }
    }

    /// Asks a question. Returns the values, or the reason of a refusal; fails if the answer is
    /// invalid.
    fn values(&mut self, request: &Value) -> Result<Result<Vec<i64>, String>, String> {
        let question: Question =
            serde_json::from_value(request.clone()).map_err(|error| error.to_string())?;
        let line = self.partner.ask_line(&request_line(request))?;
        let reply: Reply =
            from_bytes(&line).map_err(|error| format!("{error} in {}", quoted(&line)))?;
        if let Some(why) = reply.error {
            return Ok(Err(why));
        }
        match question.objection(&reply) {
            Some(why) => Err(why),
            None => Ok(Ok(reply.values)),
        }
    }
}

/// Formats a request with its keys in the order in which the program sends them, because agents may
/// rely on it. A request that is not a question of the protocol keeps its own order.
fn request_line(request: &Value) -> String {
    let question = serde_json::from_value::<Question>(request.clone());
    question
        .and_then(|question| serde_json::to_string(&question))
        .unwrap_or_else(|_| request.to_string())
}

/// Checks that the median of the second half of the values, with work, exceeds that of the first
/// half, without work.
fn check_growth(values: &[i64], work: u64) -> Result<(), String> {
    let median = |row: &[i64]| {
        let mut row = row.to_vec();
        row.sort_unstable();
        row.get(row.len() / 2).copied().unwrap_or_default()
    };
    let (without, with) = values.split_at(values.len() / 2);
    if median(with) > median(without) {
        return Ok(());
    }
    Err(format!(
        "{} ticks without work, {} ticks with {work} units of work",
        median(without),
        median(with)
    ))
}
