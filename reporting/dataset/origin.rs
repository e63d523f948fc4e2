//! Which report it is: where it was found, when it was made.

use std::sync::Arc;

use super::identity::Identity;

/// Where a report was found, and what it is told apart by.
#[derive(Clone, Debug)]
pub struct Origin {
    pub(super) id: Identity,
    pub(super) file: Arc<str>,
    pub(super) host: Option<Arc<str>>,
    pub(super) platform: Arc<str>,
    /// In microseconds since 1970; `None` where the report says no time.
    pub(super) created: Option<i64>,
    /// As in `2026-11-20`; `None` where the report says no time.
    pub(super) date: Option<Arc<str>>,
}
