//! What all rows of a report have in common.

use super::Finding;

/// How the characterisation of a timer ended.
#[apply(names)]
#[derive(Default)]
pub enum Status {
    /// All figures were determined.
    Ok = "ok",
    /// It could be read, but its resolution could not be determined.
    Unresolved = "unresolved",
    /// The machine does not let it be read.
    #[default]
    Unavailable = "unavailable",
    /// It crashed, hung or sent a malformed reply.
    Failed = "failed",
}

/// What all rows of a report have: who was measured, and how that ended.
#[apply(wire)]
#[derive(Default)]
pub struct RowHead {
    /// Unique in the report; of sleep primitives and periodic timers together with the conditions
    /// and the period.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// `native`, or the name of the runtime that hosts it.
    pub runtime: String,
    /// How the characterisation ended.
    pub status: Status,
    /// Why, when it is not `ok`.
    pub reason: Option<String>,
    /// What to do about it, when it is not `ok` and something can be done.
    pub remedy: Option<String>,
    /// What the reader should know.
    pub warnings: Vec<Finding>,
}

/// Reads the fields of the head as fields of the row.
macro_rules! headed {
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

pub(super) use headed;
