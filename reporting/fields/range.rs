//! What a figure can be.

/// What a figure can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    least: f64,
    most: f64,
    /// Whether it is more than the least.
    more: bool,
    /// In words.
    pub name: &'static str,
}

impl Range {
    /// A share.
    pub const SHARE: Self = Self { least: 0.0, most: 1.0, more: false, name: "0 to 1" };
    /// A time in nanoseconds, up to thirty years, or in cycles or ticks as many.
    pub const LENGTH: Self = Self { least: 0.0, most: 1e18, more: false, name: "0 to 1e18" };
    /// The same where 0 is none.
    pub const STEP: Self = Self { more: true, name: "more than 0, up to 1e18", ..Self::LENGTH };
    /// Events in a second.
    pub const RATE: Self = Self { least: 0.0, most: 1e12, more: true, name: "more than 0, up to 1e12" };
    /// A time that may be below zero, as that of a wait which returned early and the ends of intervals, or a number of ppm.
    pub const EITHER: Self = Self { least: -1e18, name: "-1e18 to 1e18", ..Self::LENGTH };

    /// Whether it can be that.
    #[must_use]
    pub fn holds(&self, figure: f64) -> bool {
        (self.least..=self.most).contains(&figure) && !(self.more && figure <= self.least)
    }
}
