//! What comparisons know a field by.

/// A figure that is compared.
#[derive(Debug, PartialEq)]
pub struct Comparable {
    /// Its name, in sentences and in conditions.
    pub name: &'static str,
    /// In what it is told, and when it is better.
    pub measure: Measure,
    /// What runs of an unchanged machine differ by.
    pub scatter: Scatter,
    /// Whether it is of clocks, or of timers that wait.
    pub of_clocks: bool,
}

/// In what a figure is told, and when it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// In percent, differences in points; more is better.
    Points,
    /// As a share; more is better.
    Share,
    /// In nanoseconds, differences in percent too; less is better.
    Time,
    /// In ppm; what is nearer to 0 is better.
    Ppm,
}

/// What runs of an unchanged machine differ by, beyond what processes of one run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// As costs of such reads do.
    Cost,
    /// As spreads do.
    Spread,
    /// As cost and spread together make of it.
    Quality,
    /// By how the kernel slews its clock.
    Slew,
    /// As latenesses do.
    Lateness,
    /// By nothing.
    None,
}

macro_rules! compared {
    ($($(#[$about:meta])* $id:ident = $name:literal, $measure:ident, $scatter:ident, $of_clocks:literal;)*) => {
        impl Comparable {
            $($(#[$about])* pub const $id: &'static Self = &Self {
                name: $name, measure: Measure::$measure, scatter: Scatter::$scatter, of_clocks: $of_clocks,
            };)*

            /// All of them, Quality first, those of timers that wait last.
            pub const ALL: &'static [&'static Self] = &[$(Self::$id),*];
        }
    };
}

compared! {
    /// Formula (1).
    QUALITY = "Quality", Points, Quality, true;
    /// What a call costs alone.
    COST = "cost", Time, Cost, true;
    /// One step.
    ACCURACY = "accuracy", Time, Slew, true;
    /// The share of calls within a step of the median cost.
    SPREAD = "spread", Share, Spread, true;
    /// How much faster than its reference a clock runs.
    DRIFT = "drift", Ppm, Slew, true;
    /// The step of lengths or wake-ups.
    GRANULARITY = "granularity", Time, Slew, false;
    /// The shortest wait.
    FLOOR = "floor", Time, Lateness, false;
    /// Median lateness.
    LATENESS = "lateness", Time, Lateness, false;
    /// The 99th percentile of that.
    TAIL = "p99", Time, Lateness, false;
    /// CPU time a wait.
    CPU = "cpu", Time, Lateness, false;
    /// By how much a period is too long.
    RATE = "rate", Ppm, None, false;
}

impl Comparable {
    /// How many are of clocks.
    pub const OF_CLOCKS: usize = {
        let (mut count, mut at) = (0, 0);
        while at < Self::ALL.len() {
            count += Self::ALL[at].of_clocks as usize;
            at += 1;
        }
        count
    };
}
