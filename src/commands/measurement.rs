//! What `measure` found out.

use serde::Serialize;

use crate::measure::worker::Row;

/// One operation at one size, measured in one way.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measurement {
    pub operation: String,
    /// Null where the operation has no size.
    pub size: Option<u64>,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub(super) enum Outcome {
    Measured(Box<Row>),
    Allocated { instances: f64, bytes: f64 },
    Failed { reason: String },
}
