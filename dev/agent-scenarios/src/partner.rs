//! Runs the agent under test: sends lines, receives lines, and ends the process.

use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use timermeter::hosts::children;
use timermeter::hosts::process::{Command, Output, Process, exit_description};
use timermeter::text::clipped;
use timers::Deadline;

/// The largest number of characters of an answer that a message quotes.
const MAX_QUOTED_CHARS: usize = 100;
/// The largest answer in bytes.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// The agent under test, which is restarted whenever it has exited.
pub(super) struct Partner<'a> {
    pub command: &'a Command,
    pub timeout: Duration,
    pub process: Option<Process>,
}

impl Partner<'_> {
    /// Sends a line to the agent and returns its answer. Restarts an agent that has exited.
    pub(super) fn ask_line(&mut self, line: &str) -> Result<Vec<u8>, String> {
        self.start_if_exited()?;
        let process = self.process.as_ref().ok_or("it has exited")?;
        if let Some(Output::Line(line)) = process.pending() {
            return Err(format!(
                "it wrote a line before a request: {}",
                quoted(&line)
            ));
        }
        process.send(format!("{line}\n").into_bytes(), MAX_ANSWER_BYTES);
        self.receive()
    }

    /// Starts the agent if it has not been started or has exited.
    fn start_if_exited(&mut self) -> Result<(), String> {
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

    /// Waits for the next line of the agent. Ends an agent that sends none within the timeout.
    pub(super) fn receive(&mut self) -> Result<Vec<u8>, String> {
        const CHECK_INTERVAL: Duration = Duration::from_millis(100);
        let process = self.process.as_mut().ok_or("it has exited")?;
        let deadline = Deadline::after(self.timeout);
        let why = loop {
            let left = deadline.remaining().filter(|_| !children::interrupted());
            let Some(left) = left else {
                break format!("no answer within {} s", self.timeout.as_secs_f64());
            };
            match process.next(left.min(CHECK_INTERVAL)) {
                Ok(Output::Line(line)) => return Ok(line),
                Ok(Output::TooLong) => break "its answer is too long".into(),
                Err(RecvTimeoutError::Timeout) if !process.has_exited() => {}
                Err(_) => break self.describe_exit(),
            }
        };
        self.process = None;
        Err(why)
    }

    /// Describes how the agent ended instead of answering.
    fn describe_exit(&mut self) -> String {
        let Some(process) = self.process.as_mut() else {
            return "it has exited".into();
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

    /// Closes the input of the agent, after which it has to exit with status 0.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.start_if_exited()
            .map(|()| self.process.take())
            .and_then(|process| {
                let mut process = process.ok_or("it has exited")?;
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
                    None => Err("its exit status is unknown".into()),
                }
            })
    }
}

/// Quotes a line for a message.
pub(super) fn quoted(line: &[u8]) -> String {
    format!("`{}`", printable(line))
}

/// Converts the output of an agent to printable text of limited length.
pub(super) fn printable(bytes: &[u8]) -> String {
    clipped(&String::from_utf8_lossy(bytes), MAX_QUOTED_CHARS)
}
