//! The agent under examination: lines to it, lines from it, and its end.

use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use timermeter::hosts::children;
use timermeter::hosts::process::{Command, Output, Process, exit_description};
use timermeter::text::clipped;
use timers::Deadline;

/// As much of an answer is quoted.
const EXCERPT: usize = 100;
/// No answer to what is asked here is as long as this.
const LONGEST_ANSWER: u64 = 16 << 20;

/// A program that is started as often as it dies.
pub(super) struct Partner<'a> {
    pub command: &'a Command,
    pub timeout: Duration,
    pub process: Option<Process>,
}

impl Partner<'_> {
    /// A line to the agent, and the line that it answers. One that did not survive the last
    /// question is started again.
    pub(super) fn say(&mut self, line: &str) -> Result<Vec<u8>, String> {
        self.ready()?;
        let process = self.process.as_ref().ok_or("it is gone")?;
        if let Some(Output::Line(line)) = process.pending() {
            return Err(format!(
                "it wrote something without being asked: {}",
                quoted(&line)
            ));
        }
        process.send(format!("{line}\n").into_bytes(), LONGEST_ANSWER);
        self.receive()
    }

    fn ready(&mut self) -> Result<(), String> {
        if self
            .process
            .as_ref()
            .is_some_and(|process| !process.has_exited())
        {
            return Ok(());
        }
        self.process = Some(Process::start(self.command, None).map_err(|fault| fault.to_string())?);
        Ok(())
    }

    pub(super) fn receive(&mut self) -> Result<Vec<u8>, String> {
        const SLICE: Duration = Duration::from_millis(100);
        let process = self.process.as_mut().ok_or("it is gone")?;
        let deadline = Deadline::after(self.timeout);
        let why = loop {
            let left = deadline.remaining().filter(|_| !children::interrupted());
            let Some(left) = left else {
                break format!("no answer within {} s", self.timeout.as_secs_f64());
            };
            match process.next(left.min(SLICE)) {
                Ok(Output::Line(line)) => return Ok(line),
                Ok(Output::TooLong) => break "its answer is too long".into(),
                Err(RecvTimeoutError::Timeout) if !process.has_exited() => {}
                Err(_) => break self.obituary(),
            }
        };
        self.process = None;
        Err(why)
    }

    fn obituary(&mut self) -> String {
        let Some(process) = self.process.as_mut() else {
            return "it is gone".into();
        };
        let deadline = Deadline::after(Duration::from_millis(500));
        while !process.has_exited() && deadline.remaining().is_some() {
            thread::sleep(Duration::from_millis(2));
        }
        let by_itself = process.has_exited();
        let ended = process
            .end()
            .filter(|_| by_itself)
            .map_or_else(|| "closed its output".into(), exit_description);
        let words = process
            .last_error_output()
            .map_or_else(String::new, |words| {
                format!("; its last error output: {words}")
            });
        format!("it {ended} instead of answering{words}")
    }

    /// Ends its input, after which it has to end itself.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.ready()
            .map(|()| self.process.take())
            .and_then(|process| {
                let mut process = process.ok_or("it is gone")?;
                process.close();
                let deadline = Deadline::after(self.timeout);
                while !process.has_exited()
                    && deadline.remaining().is_some()
                    && !children::interrupted()
                {
                    thread::sleep(Duration::from_millis(5));
                }
                if !process.has_exited() {
                    return Err(format!(
                        "it still runs {} s later",
                        self.timeout.as_secs_f64()
                    ));
                }
                match process.end() {
                    Some(status) if status.success() => Ok(()),
                    Some(status) => Err(format!("it {}", exit_description(status))),
                    None => Err("how it ended is not known".into()),
                }
            })
    }
}

/// A line as messages quote it.
pub(super) fn quoted(line: &[u8]) -> String {
    format!("`{}`", printable(line))
}

/// What an agent wrote, fit to stand in a message.
pub(super) fn printable(bytes: &[u8]) -> String {
    clipped(&String::from_utf8_lossy(bytes), EXCERPT)
}
