//! The reasons why nothing can be chosen, or a clock cannot be used.

/// The reason why no clock, or no timer to wait with, can be chosen.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ChoiceError(pub String);

/// The reason why nothing can be measured with a clock.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);
