//! Checks whether a program speaks the agent protocol: its introduction, each question that it
//! offers, and lines that are none.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;
use timers::{Answer, Fault};

use super::connection::Connection;
use super::hosted::subject;
use super::process::Command;
use super::protocol::examples::{EXAMPLES, question};
use super::protocol::{Hello, Op};

/// Questions that every agent answers, to each of its timers.
const MANDATORY: [Op; 3] = [Op::Intervals, Op::Batches, Op::Readings];
/// Questions to sleep primitives and periodic timers.
const OF_WAITERS: [Op; 3] = [Op::Waits, Op::Arms, Op::Periods];
/// Work that takes long on every machine and in every language, against the cost of a read.
const MUCH_WORK: u64 = 100_000;
/// How often it is made eight times as much where the timer did not move: steps of 100 ms are
/// known.
const COARSER: u32 = 4;

/// Lines that an agent refuses, and goes on.
const REFUSED: [(&str, &str); 4] = [
    (
        "a timer it does not have",
        r#"{"op":"readings","timer":"no such timer","count":1}"#,
    ),
    ("an op that does not exist", r#"{"op":"no such op"}"#),
    ("a request without its keys", r#"{"op":"readings"}"#),
    ("a line that is no JSON", r#"{"op":"#),
];

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As the protocol says.
    Pass,
    /// The agent does not offer the question, and need not.
    NotOffered,
    /// Otherwise: what it did, and what was expected.
    Fail(String),
}

/// A check and its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was asked.
    pub question: String,
    /// What became of it.
    pub verdict: Verdict,
}

type Agent = Rc<RefCell<Connection>>;
/// What contradicts itself in an answer, if anything.
type Contradiction = Option<String>;

/// Asks a program each question once, each answer within `timeout`.
#[must_use]
pub fn check(command: &Command, timeout: Duration) -> Vec<Finding> {
    let mut examination = Examination {
        command,
        timeout,
        agent: None,
        findings: Vec::new(),
    };
    let mut hello = Hello::default();
    examination.ask("hello", &mut |agent| {
        hello = agent.borrow().hello().clone();
        Ok(introduction(&hello))
    });
    let marked = hello.timers.iter().find(|timer| timer.reference);
    if let Some(reference) = marked.or(hello.timers.first()) {
        examination.questions(&hello, &reference.id);
        examination.lines(&reference.id);
    }
    examination.findings
}

/// What is missing in an introduction.
fn introduction(hello: &Hello) -> Contradiction {
    let references = hello.timers.iter().filter(|timer| timer.reference).count();
    if references != 1 {
        return Some(format!(
            "{references} timers are marked with \"reference\":true, not the finest one"
        ));
    }
    let of_waiters = hello.waiters.iter().flat_map(|waiter| &waiter.ops);
    let known = OF_WAITERS.map(Op::name);
    if let Some(op) = of_waiters.clone().find(|op| !known.contains(&op.as_str())) {
        return Some(format!("a sleep primitive cannot be asked {op}"));
    }
    let mandatory = MANDATORY.map(Op::name);
    let mut needed = mandatory.into_iter().chain(of_waiters.map(String::as_str));
    needed
        .find(|op| !hello.ops.iter().any(|offered| offered == op))
        .map(|op| format!("`ops` lacks {op}"))
}

/// Time that goes backwards in an answer.
fn contradiction(op: Op, values: &[i64]) -> Contradiction {
    let mut pairs: Box<dyn Iterator<Item = [i64; 2]>> = match op {
        Op::Comparisons => Box::new(values.chunks(3).map(|one| [one[0], one[2]])),
        Op::Waits => Box::new(values.chunks(5).map(|one| [one[1], one[2]])),
        Op::Arms => Box::new(values.iter().map(|&took| [0, took])),
        Op::Periods => Box::new(values.windows(3).step_by(2).map(|one| [one[0], one[2]])),
        _ => return None,
    };
    pairs
        .find(|[first, second]| second < first)
        .map(|[first, second]| format!("{second} comes after {first}, and is less"))
}

struct Examination<'a> {
    command: &'a Command,
    timeout: Duration,
    /// Started again where it did not survive the last question.
    agent: Option<Agent>,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    fn questions(&mut self, hello: &Hello, reference: &str) {
        let timers = hello.timers.iter().map(|timer| timer.id.as_str());
        for (op, example) in EXAMPLES {
            let waiters = hello.waiters.iter();
            let answering =
                waiters.filter(|waiter| waiter.ops.iter().any(|offered| offered == op.name()));
            let asked: Vec<&str> = if MANDATORY.contains(&op) {
                timers.clone().collect()
            } else if OF_WAITERS.contains(&op) {
                answering.map(|waiter| waiter.id.as_str()).collect()
            } else {
                vec![reference]
            };
            if hello.offers(op) {
                for timer in asked {
                    self.question((op, example), timer, reference);
                }
            } else {
                self.note(op.name(), Verdict::NotOffered);
            }
        }
        self.ask("more work takes longer", &mut |agent| {
            more_takes_longer(agent, reference)
        });
    }

    fn question(&mut self, (op, example): (Op, &str), timer: &str, reference: &str) {
        self.ask(&format!("{} of {timer}", op.name()), &mut |agent| {
            let question = question(example, timer, reference, 10)
                .map_err(|error| Fault::Refused(error.to_string()))?;
            match agent.borrow_mut().ask(&question) {
                // An agent may refuse what its machine does not have.
                Err(Fault::Refused(_)) if !MANDATORY.contains(&op) && !OF_WAITERS.contains(&op) => {
                    Ok(None)
                }
                answer => answer.map(|reply| contradiction(op, &reply.values)),
            }
        });
    }

    fn lines(&mut self, reference: &str) {
        for (what, line) in REFUSED {
            self.ask(what, &mut |agent| {
                agent.borrow_mut().provoke(line)?;
                subject(agent, reference).readings(1).map(|_| None)
            });
        }
        self.ask("end of input", &mut |agent| {
            agent.borrow_mut().dismiss().map(|()| None)
        });
    }

    fn ask(&mut self, question: &str, ask: &mut dyn FnMut(&Agent) -> Answer<Contradiction>) {
        let answer = self.started().and_then(|agent| ask(&agent));
        let verdict = match answer {
            Ok(None) => Verdict::Pass,
            Ok(Some(contradiction)) => Verdict::Fail(contradiction),
            Err(Fault::Refused(why)) => Verdict::Fail(format!("it refused: {why}")),
            Err(fault) => {
                self.agent = None;
                Verdict::Fail(fault.to_string())
            }
        };
        self.note(question, verdict);
    }

    fn started(&mut self) -> Answer<Agent> {
        if let Some(agent) = &self.agent {
            agent.borrow_mut().allow_anew();
            return Ok(Rc::clone(agent));
        }
        let connection = Connection::start(self.command, None, self.timeout)?;
        let agent = Rc::new(RefCell::new(connection));
        Ok(Rc::clone(self.agent.insert(agent)))
    }

    fn note(&mut self, question: &str, verdict: Verdict) {
        self.findings.push(Finding {
            question: question.into(),
            verdict,
        });
    }
}

/// Work is made more while the timer, which may be coarse, does not move.
fn more_takes_longer(agent: &Agent, id: &str) -> Answer<Contradiction> {
    let mut work = MUCH_WORK;
    for _ in 0..=COARSER {
        let mut rows = subject(agent, id).intervals(&[0, work], 9)?;
        rows.iter_mut().for_each(|row| row.sort_unstable());
        if rows[1][4] > rows[0][4] {
            return Ok(None);
        }
        work *= 8;
    }
    Ok(Some(
        "it does not: let each unit of work wait for the one before, and keep the result".into(),
    ))
}
