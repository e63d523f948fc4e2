//! Order: whether successive readings ever go backwards.

/// How often and how far successive readings stepped backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backward {
    /// Number of steps backwards.
    pub steps: u64,
    /// The largest, in ticks.
    pub largest: u64,
}

impl Backward {
    /// Counts the negative ones among differences of successive readings.
    #[must_use]
    pub fn among(deltas: impl IntoIterator<Item = i64>) -> Self {
        deltas.into_iter().filter(|&delta| delta < 0).fold(Self::default(), |so_far, delta| Self {
            steps: so_far.steps + 1,
            largest: so_far.largest.max(delta.unsigned_abs()),
        })
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { steps: self.steps + other.steps, largest: self.largest.max(other.largest) }
    }
}
