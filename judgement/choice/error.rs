//! The reasons why nothing can be chosen.

/// The reason why no clock, or no timer to wait with, can be chosen or used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ChoiceError(pub String);
