//! The reasons why nothing can be chosen, or a clock cannot be used.

/// The reason why no clock, or no timer to wait with, can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChoiceError(pub String);

/// The reason why nothing can be measured with a clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);
