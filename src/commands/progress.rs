//! Shows the progress of a command on standard error, if that is a terminal. The line is drawn only
//! when a step begins or ends, so that no thread runs during a measurement.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Template of the line if the number of steps is known.
const COUNTED: &str = "{bar:24} {percent:>3} %, {eta} left  {wide_msg}";
/// A progress line that is removed when the command has a result.
pub(super) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Starts a line for this number of steps. Nothing is shown with `quiet`, or if the system has
    /// no clock.
    pub(super) fn new(steps: usize, quiet: bool) -> Self {
        let is_shown = !quiet && std::io::stderr().is_terminal() && timers::kernel_time().is_some();
        Self(is_shown.then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
            bar.with_style(style(COUNTED))
        }))
    }

    /// Shows the name of the current step.
    pub(super) fn at(&self, what: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(crate::text::plain(what));
        }
    }

    /// Marks a step as done. Returns `true` if there are steps left.
    pub(super) fn step(&self) -> bool {
        self.0.as_ref().is_none_or(|bar| {
            bar.inc(1);
            bar.length().is_some_and(|steps| bar.position() < steps)
        })
    }

    /// Continues after the last known step with a time limit, in seconds after the start.
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
