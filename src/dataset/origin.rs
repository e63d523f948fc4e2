//! Which report it is: where it was found, when it was made.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

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

/// Microseconds since 1970 of a time such as `2026-11-20T12:00:00Z`; times from elsewhere may be anything.
pub fn time(created: &str) -> Option<i64> {
    let since = humantime::parse_rfc3339(created).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok()
}

/// Its day, in days since 1970.
pub fn day(created: &str) -> Option<i32> {
    const MICROSECONDS: i64 = 86_400_000_000;
    i32::try_from(time(created)? / MICROSECONDS).ok()
}
