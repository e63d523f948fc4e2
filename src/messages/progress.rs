//! Shows the progress of a command as a line on standard error, if that is a terminal. The line is
//! drawn only when a step begins or ends, because a thread that draws would disturb the
//! measurement.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use reporting::text::clipped;

use super::{in_locale, is_quiet};

/// A progress line, which is removed when it is dropped.
pub struct Progress {
    is_shown: bool,
    steps: usize,
    done: AtomicUsize,
    /// The name of the current step.
    step: Mutex<String>,
    /// The time limit in seconds; none while the number of steps is known.
    limit: OnceLock<f64>,
}

impl Progress {
    /// Starts a line for this number of steps. Nothing is shown with --quiet, or if standard error is no
    /// terminal.
    pub fn new(steps: usize) -> Self {
        Self {
            is_shown: !is_quiet() && stderr().is_terminal(),
            steps,
            done: AtomicUsize::default(),
            step: Mutex::default(),
            limit: OnceLock::default(),
        }
    }

    /// Shows the name of the current step.
    pub fn show_step(&self, name: &str) {
        name.clone_into(&mut self.step.lock().unwrap_or_else(PoisonError::into_inner));
        self.draw();
    }

    /// Marks a step as done. Returns `true` if there are steps left.
    pub fn finish_step(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.draw();
        done < self.steps
    }

    /// Shows this time limit in seconds instead of the steps, because all planned steps are done and
    /// the number of further steps is unknown.
    pub fn show_limit(&self, seconds: f64) {
        let _ = self.limit.set(seconds);
    }

    /// Draws the line over the one before. Write errors are ignored, because the line is no result.
    fn draw(&self) {
        if self.is_shown {
            let done = match self.limit.get() {
                Some(limit) => format!("at most {limit:.0} s"),
                None => format!("{} of {}", self.done.load(Ordering::Relaxed), self.steps),
            };
            let step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
            let width = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| width.0);
            let text = clipped(&format!("{done}  {step}"), usize::from(width) - 1);
            let _ = write!(stderr(), "{CLEARED}{}", in_locale(text));
        }
    }
}

/// What goes to the beginning of the line and clears it.
const CLEARED: &str = "\r\x1b[K";

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(stderr(), "{CLEARED}");
        }
    }
}
