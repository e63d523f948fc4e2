//! Shows the progress of a command as a line on standard error, if that is a terminal. The line is
//! drawn only when a step begins or ends, because a thread that draws would disturb the
//! measurement.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{has_ascii_locale, in_locale, is_quiet};

/// Template of the line while the number of steps is known.
const STEPS_TEMPLATE: &str = "{bar:24} {percent:>3} %, {eta} left  {wide_msg}";

/// A progress line, which is removed when it is dropped; `None` if nothing is shown.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// Starts a line for this number of steps. Nothing is shown with --quiet, if standard error is no
    /// terminal, or if the kernel has no clock, which the line needs.
    pub fn new(steps: usize) -> Self {
        let is_shown =
            !is_quiet() && std::io::stderr().is_terminal() && timers::kernel_time().is_some();
        Self(is_shown.then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
            bar.with_style(style(STEPS_TEMPLATE))
        }))
    }

    /// Shows the name of the current step.
    pub fn show_step(&self, name: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(in_locale(reporting::text::plain(name)));
        }
    }

    /// Marks a step as done. Returns `true` if there are steps left.
    pub fn finish_step(&self) -> bool {
        self.0.as_ref().is_none_or(|bar| {
            bar.inc(1);
            bar.length().is_some_and(|steps| bar.position() < steps)
        })
    }

    /// Shows the elapsed time and this time limit in seconds instead of the steps, because all
    /// planned steps are done and the number of further steps is unknown.
    pub fn show_limit(&self, seconds: f64) {
        if let Some(bar) = &self.0 {
            let template = format!("{{elapsed}} of at most {seconds:.0} s  {{wide_msg}}");
            bar.set_style(style(&template));
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

/// The style with this template.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    if has_ascii_locale() {
        style.progress_chars("#-")
    } else {
        style
    }
}
