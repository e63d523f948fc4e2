//! What a command is at, on standard error where that is a terminal. It is drawn when a step begins
//! or ends only: nothing runs beside a measurement.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How much is done of what is known beforehand.
const COUNTED: &str = "{bar:24} {percent:>3} %, {eta} left  {wide_msg}";
/// A line that is gone once the command has an answer.
pub(super) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Of a number of steps. Nothing is shown where it is not wanted, or without a clock.
    pub(super) fn new(steps: usize, quiet: bool) -> Self {
        let is_shown = !quiet && std::io::stderr().is_terminal() && timers::kernel_time().is_some();
        Self(is_shown.then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
            bar.with_style(style(COUNTED))
        }))
    }

    /// What is done now.
    pub(super) fn at(&self, what: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(crate::text::plain(what));
        }
    }

    /// A step is done; returns whether there are steps left.
    pub(super) fn step(&self) -> bool {
        self.0.as_ref().is_none_or(|bar| {
            bar.inc(1);
            bar.length().is_some_and(|steps| bar.position() < steps)
        })
    }

    /// All known steps are done; what follows is meant to be over this many seconds after the
    /// beginning.
    pub(super) fn until(&self, seconds: f64) {
        if let Some(bar) = &self.0 {
            let most = format!("{{elapsed}} of at most {seconds:.0} s  {{wide_msg}}");
            bar.set_style(style(&most));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
