//! A point in time by which something has to be done.

use std::time::{Duration, Instant};

/// A point in time by which something has to be done.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// `None` when it lies farther ahead than the clock can tell.
    at: Option<Instant>,
}

impl Deadline {
    /// The deadline that is `span` ahead.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this crate is where clocks are read")]
    pub fn after(span: Duration) -> Self {
        Self { at: Instant::now().checked_add(span) }
    }

    /// The time that is left; `None` once there is none.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this crate is where clocks are read")]
    pub fn remaining(&self) -> Option<Duration> {
        let Some(at) = self.at else { return Some(Duration::MAX) };
        at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_passes_once_and_for_all() {
        assert_eq!(Deadline::after(Duration::ZERO).remaining(), None);
        let left = Deadline::after(Duration::from_secs(3_600)).remaining().expect("an hour is left");
        assert!(left <= Duration::from_secs(3_600));
        assert!(Deadline::after(Duration::MAX).remaining().is_some());
    }
}
