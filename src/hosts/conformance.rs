//! Whether a program speaks the agent protocol: its introduction, each question that it offers, and
//! lines that are none.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;
use timers::waits::{WaitRequest, WaitSubject};
use timers::{Answer, During, Fault};

use super::connection::Connection;
use super::hosted::{adds, advances, subject, together};
use super::process::Command;
use super::protocol::{Hello, HostedWaiter};
use super::waits::waiter;
use crate::hosts::protocol::Question;
use crate::hosts::protocol::questions::{
    Adds, Advance, Advances, Arms, Batches, Comparisons, Handoffs, HandoffsBetween, Intervals,
    Order, Periods, Readings, Together, Waits,
};
use crate::model::Context;

/// Questions that every agent answers, to each of its timers.
const MANDATORY: [&str; 3] = [Intervals::OP, Batches::OP, Readings::OP];
/// Questions to timers that wait.
const WAITING: [&str; 3] = [Waits::OP, Arms::OP, Periods::OP];
/// Work that takes long on every machine and in every language, against the cost of a read.
const MUCH_WORK: u64 = 100_000;
/// How often it is made eight times as much where the timer did not move: steps of 100 ms are
/// known.
const COARSER: u32 = 4;
/// No wait, and one that is no whole number of milliseconds.
const LENGTHS_NS: [u64; 2] = [0, 1_400_000];
const PERIOD_NS: u64 = 2_000_000;

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
        examination.clocks(&hello, &reference.id);
        examination.waiters(&hello, &reference.id);
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
    if let Some(op) = MANDATORY.iter().find(|op| !offers(&hello.ops, op)) {
        return Some(format!("`ops` lacks {op}"));
    }
    let lacking = |waiter: &HostedWaiter| {
        let op = waiter.ops.iter().find(|op| !offers(&hello.ops, op))?;
        Some(format!(
            "`{}` answers {op}, which the `ops` of the agent lacks",
            waiter.id
        ))
    };
    hello.waiters.iter().find_map(lacking)
}

fn offers(ops: &[String], op: &str) -> bool {
    ops.iter().any(|offered| offered == op)
}

struct Examination<'a> {
    command: &'a Command,
    timeout: Duration,
    /// Started again where it did not survive the last question.
    agent: Option<Agent>,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    fn clocks(&mut self, hello: &Hello, reference: &str) {
        for timer in &hello.timers {
            let id = &timer.id;
            self.ask(&format!("readings of {id}"), &mut |agent| {
                subject(agent, id).readings(3).map(|_| None)
            });
            self.ask(&format!("intervals of {id}"), &mut |agent| {
                subject(agent, id).intervals(&[0, 10], 4).map(|_| None)
            });
            self.ask(&format!("batches of {id}"), &mut |agent| {
                subject(agent, id).batches(reference, 5, 4).map(|_| None)
            });
        }
        self.ask("more work takes longer", &mut |agent| {
            more_takes_longer(agent, reference)
        });
        self.offered(Order::OP, hello, &mut |agent| {
            subject(agent, reference).order(4).map(|_| None)
        });
        self.offered(Handoffs::OP, hello, &mut |agent| {
            subject(agent, reference).handoffs(4).map(|_| None)
        });
        let cpus = timers::allowed_cpus().unwrap_or_default();
        self.offered(HandoffsBetween::OP, hello, &mut |agent| match cpus[..] {
            [one, other, ..] => subject(agent, reference)
                .handoffs_between(&[[one, other]], 4)
                .map(|_| None),
            _ => Ok(None),
        });
        self.offered(Comparisons::OP, hello, &mut |agent| {
            let all = subject(agent, reference).comparisons(reference, 3, 4)?;
            Ok(all.iter().find_map(|&[first, _, last]| falls(first, last)))
        });
        self.offered(Together::OP, hello, &mut |agent| {
            together(agent, &[reference], reference, [2, 3], 3).map(|_| None)
        });
        self.offered(Adds::OP, hello, &mut |agent| {
            adds(agent, reference, reference, &[Context::Latency], [4, 3]).map(|_| None)
        });
        self.offered(Advance::OP, hello, &mut |agent| {
            for during in [During::Spin, During::Sleep, During::OtherSpin] {
                subject(agent, reference).advance(reference, during, 2)?;
            }
            Ok(None)
        });
        self.offered(Advances::OP, hello, &mut |agent| {
            advances(agent, &[reference], reference, During::Spin, 2).map(|_| None)
        });
    }

    fn waiters(&mut self, hello: &Hello, reference: &str) {
        for op in WAITING.into_iter().filter(|op| !offers(&hello.ops, op)) {
            self.note(op, Verdict::NotOffered);
        }
        for HostedWaiter { id, ops, .. } in &hello.waiters {
            for op in ops {
                self.ask(&format!("{op} of {id}"), &mut |agent| {
                    waits(&mut *waiter(agent, id), op, reference)
                });
            }
        }
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

    /// Asks an optional question; an agent may refuse what its machine does not have.
    fn offered(
        &mut self,
        op: &str,
        hello: &Hello,
        ask: &mut dyn FnMut(&Agent) -> Answer<Contradiction>,
    ) {
        if !offers(&hello.ops, op) {
            return self.note(op, Verdict::NotOffered);
        }
        self.ask(op, &mut |agent| match ask(agent) {
            Err(Fault::Refused(_)) => Ok(None),
            answer => answer,
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
        let agent = Rc::new(RefCell::new(Connection::start(
            self.command,
            None,
            self.timeout,
        )?));
        Ok(Rc::clone(self.agent.insert(agent)))
    }

    fn note(&mut self, question: &str, verdict: Verdict) {
        self.findings.push(Finding {
            question: question.into(),
            verdict,
        });
    }
}

/// Work is made more while the timer, which may be coarse, does not tell it from none.
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

/// Asks a question of a timer that waits.
fn waits(timer: &mut dyn WaitSubject, op: &str, reference: &str) -> Answer<Contradiction> {
    match op {
        Waits::OP => {
            let request = WaitRequest {
                lengths_ns: &LENGTHS_NS,
                repeat: 4,
                pause_ns: 100_000,
                break_ns: None,
            };
            let rows = timer.waits(reference, request)?;
            Ok(rows
                .iter()
                .flatten()
                .find_map(|wait| falls(wait.before, wait.after)))
        }
        Arms::OP => Ok(timer
            .arms(reference, 4)?
            .iter()
            .find_map(|&took| falls(0, took))),
        Periods::OP => {
            let wakeups = timer.periods(reference, PERIOD_NS, 5, &[1])?;
            Ok(wakeups
                .windows(2)
                .find_map(|pair| falls(pair[0].at, pair[1].at)))
        }
        _ => Ok(Some(format!(
            "a timer that waits is asked {}",
            WAITING.join(", ")
        ))),
    }
}

fn falls(first: i64, second: i64) -> Contradiction {
    (second < first).then(|| format!("{second} comes after {first}, and is less"))
}
