//! The head of each row of a report: identity and status.

use super::{Device, Finding};

/// The status of a row.
#[apply(names)]
#[derive(Default)]
pub enum Status {
    /// All results were determined.
    Ok = "ok",
    /// The timer could be read, but its resolution or its cost could not be determined.
    Unresolved = "unresolved",
    /// The machine does not allow reads of the timer.
    #[default]
    Unavailable = "unavailable",
    /// The host of the timer crashed, hung or sent a malformed reply.
    Failed = "failed",
}

impl Status {
    /// Whether a row with this status has figures.
    pub fn has_figures(self) -> bool {
        matches!(self, Self::Ok | Self::Unresolved)
    }
}

/// The fields that all rows of a report have: identity and status.
#[apply(wire, Default)]
pub struct RowHead {
    /// Unique in the report; for sleep primitives and periodic timers it includes the conditions
    /// and the period.
    pub id: String,
    /// The source text of the call.
    pub label: String,
    /// `native`, or the name of the runtime that hosts it, with its version if it has one.
    pub runtime: String,
    /// The device that executes the call; absent if a CPU does.
    #[optional]
    pub device: Option<Device>,
    /// The status of the characterisation.
    pub status: Status,
    /// The reason, if the status is not `ok`.
    pub reason: Option<String>,
    /// The remedy, if the status is not `ok` and there is one.
    pub remedy: Option<String>,
    /// Findings about the timer.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

impl RowHead {
    /// The name of its device; `None` if a CPU executes the call.
    pub fn device_name(&self) -> Option<&str> {
        Some(&self.device.as_ref()?.name)
    }
}

/// Implements `Deref` from a row to its head, so that `row.id` reads `row.head.id`.
macro_rules! deref_to_head {
    ($row:ident) => {
        impl std::ops::Deref for $row {
            type Target = RowHead;

            fn deref(&self) -> &RowHead {
                &self.head
            }
        }

        impl std::ops::DerefMut for $row {
            fn deref_mut(&mut self) -> &mut RowHead {
                &mut self.head
            }
        }
    };
}

pub(super) use deref_to_head;
