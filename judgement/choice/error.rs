//! The reasons why nothing can be chosen, or a clock cannot be used.

/// The reason why no clock, or no timer to wait with, can be chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChoiceError {
    /// The operation takes no time or too much; in nanoseconds.
    #[error("a duration of {0} ns cannot be measured: give one above zero and up to a day")]
    Duration(f64),
    /// The operation takes longer than the time until it happens again.
    #[error(
        "an operation of {duration_ns} ns cannot happen {rate} times a second: give a rate above zero, at most {most:.0}/s"
    )]
    Rate {
        /// The duration of the operation in nanoseconds.
        duration_ns: f64,
        /// The rate.
        rate: f64,
        /// The highest possible rate.
        most: f64,
    },
    /// The accepted deviation of a wait is as long as the wait.
    #[error("a wait of {every} that may be off by {within} need not wait: give a shorter --within")]
    Within {
        /// The length of the wait.
        every: String,
        /// The accepted deviation.
        within: String,
    },
    /// The report has no timers of the runtime.
    #[error(
        "the report has no timers of `{runtime}`, but those of: {known} (--runtime NAME); {remedy}"
    )]
    Runtime {
        /// The runtime.
        runtime: String,
        /// The runtimes that the report has.
        known: String,
        /// How to measure others.
        remedy: &'static str,
    },
    /// The report has none of the clocks that may be picked.
    #[error("the report has none of the clocks that code in this language reads: {0}")]
    Clocks(String),
    /// The report has no waits of about this length.
    #[error(
        "the report has no waits of about {0}: measure them with `timermeter wait --durations {compact} -o report.json`",
        compact = .0.replace(' ', "").replace('µ', "u")
    )]
    Waits(String),
}

/// The reason why nothing can be measured with a clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It cannot be read, or its host failed.
    #[error("{what}: {reason}")]
    NotMeasured {
        /// Which of the two.
        what: &'static str,
        /// The reason, with the remedy if there is one.
        reason: String,
    },
    /// It failed a test.
    #[error("{0}")]
    Distrusted(String),
    /// Its readings went back.
    #[error("it went backwards")]
    Backwards,
    /// It has no resolution.
    #[error("neither its resolution nor an upper bound of it could be determined")]
    NoResolution,
    /// It has no cost.
    #[error("the cost of a read could not be determined")]
    NoCost,
}
