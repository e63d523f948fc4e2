//! How many of so many.

use serde::Serialize;

/// How many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Those that are.
    pub are: u64,
    /// Of how many.
    pub of: u64,
}

impl Share {
    /// Counts one more.
    pub fn add(&mut self, is: bool) {
        self.are += u64::from(is);
        self.of += 1;
    }

    /// From 0 to 1; nothing of none.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.are as f64 / self.of as f64)
    }
}
