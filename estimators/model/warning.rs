//! What the reader of a report should know.

use serde::{Deserialize, Serialize};

/// Something the reader should know, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Stable name of the warning, as in `read-dearer-than-step`.
    pub code: String,
    /// Cause.
    pub message: String,
    /// Advice.
    pub advice: String,
}
