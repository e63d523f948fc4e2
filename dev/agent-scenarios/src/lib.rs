//! Whether a program speaks the agent protocol, at length: every question is asked of every timer,
//! and many that are none.

mod partner;
mod waiting;

use std::time::Duration;

use partner::{Partner, printable, quoted};
use serde_json::{Value, json};
use timermeter::hosts::process::Command;
use timermeter::hosts::protocol::{Hello, Question, Reply, VERSION};
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

const VALUES: &str = "answer {\"values\":[…]}: as many 64-bit integers as the question asks for";
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
        let hello = self.hello().and_then(|hello| match hello.objection() {
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

    fn hello(&mut self) -> Result<Hello, String> {
        let line = self
            .partner
            .say(&json!({"op":"hello","protocol":VERSION}).to_string())?;
        let mut hello: Hello =
            from_bytes(&line).map_err(|error| format!("{error} in {}", quoted(&line)))?;
        if let Some(book) = &self.partner.command.book {
            book.complete(&mut hello);
        }
        Ok(hello)
    }

    fn timer(&mut self, id: &str, reference: &str) {
        let readings = json!({"op":"readings","timer":id,"count":3});
        let intervals = json!({"op":"intervals","timer":id,"repeat":4,"work":[0, 1, 10]});
        self.asked(&format!("readings of {id}"), &readings);
        self.asked(&format!("intervals of {id}"), &intervals);
        for calls in [0, 5] {
            let batches =
                json!({"op":"batches","timer":id,"reference":reference,"calls":calls,"repeat":4});
            self.asked(
                &format!("batches of {id} by {reference}, {calls} calls"),
                &batches,
            );
        }
    }

    /// None, many, and whether more work takes longer.
    fn amounts(&mut self, id: &str) {
        self.asked("count 0", &json!({"op":"readings","timer":id,"count":0}));
        let none = json!({"op":"intervals","timer":id,"repeat":3,"work":[]});
        self.asked("no work amounts", &none);
        let request = json!({"op":"batches","timer":id,"reference":id,"calls":1,"repeat":LARGE});
        let answer = self.ask_or_refused(&request, |_| Ok(()));
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
            let request = json!({"op":"intervals","timer":id,"repeat":ROW,"work":[0, work]});
            let growth = grows(&self.ask(&request)?, work);
            if growth.is_ok() || coarser == 0 {
                return growth;
            }
            work *= 8;
            coarser -= 1;
        }
    }

    fn optional(&mut self, hello: &Hello, id: &str) {
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
        self.offered("comparisons", offers("comparisons"), |this| {
            this.ask_or_refused(&comparisons, |values| {
                let mut all = values.chunks(3);
                match all.find(|one| one[2] < one[0]) {
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
        self.offered(name, offers, |this| {
            this.ask_or_refused(request, |_| Ok(()))
        });
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

    /// That it refuses this, and goes on.
    fn refused(&mut self, question: &str, line: &str, id: &str) {
        let refused =
            self.partner
                .say(line)
                .and_then(|answer| match from_bytes::<Reply>(&answer) {
                    Ok(Reply {
                        error: Some(why), ..
                    }) if !why.trim().is_empty() => Ok(()),
                    _ => Err(format!("it answered {}", quoted(&answer))),
                });
        let request = json!({"op":"readings","timer":id,"count":1});
        let refused = refused.and_then(|()| self.ask(&request).map(|_| ()));
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

    /// Asks a question that has to be answered.
    fn asked(&mut self, name: &str, request: &Value) {
        let answer = self.ask(request).map(|_| ());
        self.note(name, answer, VALUES);
    }

    fn ask(&mut self, request: &Value) -> Result<Vec<i64>, String> {
        self.values(request)?
            .map_err(|why| format!("it refused: {}", printable(why.as_bytes())))
    }

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

    /// What a question is answered; or why it is refused.
    fn values(&mut self, request: &Value) -> Result<Result<Vec<i64>, String>, String> {
        let question: Question =
            serde_json::from_value(request.clone()).map_err(|error| error.to_string())?;
        let line = self.partner.say(&request.to_string())?;
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

/// Whether the median of the second row lies above that of the first.
fn grows(values: &[i64], work: u64) -> Result<(), String> {
    let median = |row: &[i64]| {
        let mut row = row.to_vec();
        row.sort_unstable();
        row.get(row.len() / 2).copied().unwrap_or_default()
    };
    let (none, much) = values.split_at(values.len() / 2);
    if median(much) > median(none) {
        return Ok(());
    }
    Err(format!(
        "{} ticks with no work, {} ticks with {work} units of it",
        median(none),
        median(much)
    ))
}
