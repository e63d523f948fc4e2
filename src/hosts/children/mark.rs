//! The mark of a run: an environment variable that all descendants of this program inherit, including
//! the guard.

const NAME: &str = "TIMERMETER_RUN";

/// Gives the mark, which is unique to this run, to all processes that this program starts. Call this
/// before a second thread starts.
pub(super) fn mark_descendants() {
    let time = timers::kernel_time().unwrap_or(0);
    timers::mark_descendants(NAME, &format!("{}-{time}", std::process::id()));
}

/// The mark of this run as `NAME=value`; `None` if this process has none.
pub(super) fn variable() -> Option<String> {
    Some(format!("{NAME}={}", std::env::var(NAME).ok()?))
}
