//! Reports in the repository that tests read.

#![allow(dead_code, reason = "not all test programs use all of it")]

/// A report of a machine without clock problems.
pub const XEON: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/xeon-2026-11-21.json"
);
/// A report of another machine.
pub const EPYC: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/epyc-2026-11-21.json"
);
/// A report of published figures of another CPU than that of any machine that runs tests.
pub const MBP53: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/icpe2011-mbp53/2011-03-14/report.json"
);
