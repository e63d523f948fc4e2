//! Checks whether a program implements the agent protocol: its introduction, every question that it
//! offers, and its handling of invalid lines.

use std::time::Duration;

use serde::Serialize;
use timers::{Answer, Fault};

use super::connection::{Connection, SharedConnection};
use super::hosted::subject;
use super::process::AgentCommand;
use super::protocol::examples::{EXAMPLES, question};
use super::protocol::{Hello, Op};

/// Questions that every agent must answer for each of its timers.
const MANDATORY: [Op; 3] = [Op::Intervals, Op::Batches, Op::Readings];
/// Questions for sleep primitives and periodic timers.
const WAIT_OPS: [Op; 3] = [Op::Waits, Op::Arms, Op::Periods];
/// Units of work that take much longer than a read of the timer, on every machine and in every
/// language.
const INITIAL_WORK: u64 = 100_000;
/// How often the work is multiplied by 8 while the timer does not move: enough for timers with
/// steps of 100 ms.
const MAX_WORK_INCREASES: u32 = 4;

/// Invalid lines: an agent must answer each with an error and continue.
const INVALID_LINES: [(&str, &str); 4] = [
    (
        "a timer it does not have",
        r#"{"op":"readings","timer":"no such timer","count":1}"#,
    ),
    ("an op that does not exist", r#"{"op":"no such op"}"#),
    ("a request without its keys", r#"{"op":"readings"}"#),
    ("a line that is no JSON", r#"{"op":"#),
];

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// The agent behaved as the protocol requires.
    Pass,
    /// The agent does not offer the question, which is optional.
    NotOffered,
    /// The agent violated the protocol: its behaviour, and the behaviour that the protocol
    /// requires.
    Fail(String),
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedQuestion {
    /// The question that was sent, or the behaviour that was checked.
    pub question: String,
    /// The result of the check.
    pub verdict: CheckOutcome,
}

/// The description of a protocol violation; `None` if the answer is valid.
type Violation = Option<String>;

/// Starts the program and sends it each question once; the agent has `timeout` for each answer.
#[must_use]
pub fn check(command: &AgentCommand, timeout: Duration) -> Vec<CheckedQuestion> {
    let mut examination = Examination {
        command,
        timeout,
        agent: None,
        findings: Vec::new(),
    };
    let mut hello = Hello::default();
    examination.run_check("hello", &mut |agent| {
        hello = agent.borrow().hello().clone();
        Ok(check_introduction(&hello))
    });
    let marked = hello.timers.iter().find(|timer| timer.reference);
    if let Some(reference) = marked.or(hello.timers.first()) {
        examination.check_questions(&hello, &reference.id);
        examination.check_invalid_lines(&reference.id);
    }
    examination.findings
}

/// Returns what is missing or wrong in an introduction.
fn check_introduction(hello: &Hello) -> Violation {
    let references = hello.timers.iter().filter(|timer| timer.reference).count();
    if references != 1 {
        return Some(format!(
            "{references} timers are marked with \"reference\":true, but exactly one has to be: the finest"
        ));
    }
    let wait_ops = hello.waiters.iter().flat_map(|waiter| &waiter.ops);
    let known = WAIT_OPS.map(Op::name);
    if let Some(op) = wait_ops.clone().find(|op| !known.contains(&op.as_str())) {
        return Some(format!("`{op}` is not a question for sleep primitives"));
    }
    let mandatory = MANDATORY.map(Op::name);
    let mut needed = mandatory.into_iter().chain(wait_ops.map(String::as_str));
    needed
        .find(|op| !hello.ops.iter().any(|offered| offered == op))
        .map(|op| format!("`ops` lacks {op}"))
}

/// Returns a violation if the reference goes backwards in an answer.
fn find_backward_step(op: Op, values: &[i64]) -> Violation {
    let mut pairs: Box<dyn Iterator<Item = [i64; 2]>> = match op {
        Op::Comparisons => Box::new(values.chunks(3).map(|readings| [readings[0], readings[2]])),
        Op::Waits => Box::new(values.chunks(5).map(|wait| [wait[1], wait[2]])),
        Op::Arms => Box::new(values.iter().map(|&took| [0, took])),
        Op::Periods => Box::new(
            values
                .windows(3)
                .step_by(2)
                .map(|readings| [readings[0], readings[2]]),
        ),
        _ => return None,
    };
    pairs
        .find(|[first, second]| second < first)
        .map(|[first, second]| format!("time goes backwards: {second} follows {first}"))
}

/// An agent that is checked, and the findings so far.
struct Examination<'a> {
    command: &'a AgentCommand,
    timeout: Duration,
    /// `None` before the first check, and after a check that ended the agent.
    agent: Option<SharedConnection>,
    findings: Vec<CheckedQuestion>,
}

impl Examination<'_> {
    /// Sends the example of each question that the agent offers.
    fn check_questions(&mut self, hello: &Hello, reference: &str) {
        let timers = hello.timers.iter().map(|timer| timer.id.as_str());
        for (op, example) in EXAMPLES {
            let waiters = hello.waiters.iter();
            let answering_waiters = waiters.filter(|waiter| waiter.answers(Some(op)));
            let checked_timers: Vec<&str> = if MANDATORY.contains(&op) {
                timers.clone().collect()
            } else if WAIT_OPS.contains(&op) {
                answering_waiters.map(|waiter| waiter.id.as_str()).collect()
            } else {
                vec![reference]
            };
            if hello.offers(op) {
                for timer in checked_timers {
                    self.check_question((op, example), timer, reference);
                }
            } else {
                self.record(op.name(), CheckOutcome::NotOffered);
            }
        }
        self.run_check("more work takes longer", &mut |agent| {
            check_work_scaling(agent, reference)
        });
    }

    fn check_question(&mut self, (op, example): (Op, &str), timer: &str, reference: &str) {
        self.run_check(&format!("{} of {timer}", op.name()), &mut |agent| {
            let question = question(example, timer, reference, 10)
                .map_err(|error| Fault::Refused(error.to_string()))?;
            match agent.borrow_mut().ask(&question) {
                // An agent may refuse an optional question that its machine cannot answer.
                Err(Fault::Refused(_)) if !MANDATORY.contains(&op) && !WAIT_OPS.contains(&op) => {
                    Ok(None)
                }
                answer => answer.map(|reply| find_backward_step(op, &reply.values)),
            }
        });
    }

    /// Sends invalid lines, a valid question after each, and at last the end of the input.
    fn check_invalid_lines(&mut self, reference: &str) {
        for (what, line) in INVALID_LINES {
            self.run_check(what, &mut |agent| {
                agent.borrow_mut().send_invalid_line(line)?;
                subject(agent, reference).readings(1).map(|_| None)
            });
        }
        self.run_check("end of input", &mut |agent| {
            agent.borrow_mut().dismiss().map(|()| None)
        });
    }

    /// Runs a check with the agent, which is started if necessary, and records its result.
    fn run_check(
        &mut self,
        question: &str,
        ask: &mut dyn FnMut(&SharedConnection) -> Answer<Violation>,
    ) {
        let answer = self.start_agent().and_then(|agent| ask(&agent));
        let verdict = match answer {
            Ok(None) => CheckOutcome::Pass,
            Ok(Some(violation)) => CheckOutcome::Fail(violation),
            Err(Fault::Refused(why)) => CheckOutcome::Fail(format!("it refused: {why}")),
            Err(fault) => {
                self.agent = None;
                CheckOutcome::Fail(fault.to_string())
            }
        };
        self.record(question, verdict);
    }

    /// Returns the running agent, with its whole timeout, or starts it.
    fn start_agent(&mut self) -> Answer<SharedConnection> {
        if let Some(agent) = &self.agent {
            agent.borrow_mut().reset_timeout();
            return Ok(agent.clone());
        }
        let agent = Connection::start(self.command, None, self.timeout)?.share();
        Ok(self.agent.insert(agent).clone())
    }

    fn record(&mut self, question: &str, verdict: CheckOutcome) {
        self.findings.push(CheckedQuestion {
            question: question.into(),
            verdict,
        });
    }
}

/// Increases the work until an interval with work is longer than an interval without work: a coarse
/// timer may not move during less work.
fn check_work_scaling(agent: &SharedConnection, id: &str) -> Answer<Violation> {
    let mut work = INITIAL_WORK;
    for _ in 0..=MAX_WORK_INCREASES {
        let mut rows = subject(agent, id).intervals(&[0, work], 9)?;
        rows.iter_mut().for_each(|row| row.sort_unstable());
        if rows[1][4] > rows[0][4] {
            return Ok(None);
        }
        work *= 8;
    }
    Ok(Some(
        "no interval with work was longer than one without: let each unit of work wait for the one before, and keep the result"
            .into(),
    ))
}
