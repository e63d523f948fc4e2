//! Whether a report can be true: what contradicts itself or what a run of this program cannot have written, and whether it is what its
//! trace analyses to. Pure: the time at which it is asked is an argument.

mod figures;
mod origin;
mod trace;

use std::time::SystemTime;

use serde::Serialize;

use crate::model::{ProvenanceKind, Report};

pub use trace::against;

/// Something in a report that cannot be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flaw {
    /// Where, as in `timers[3] ('monotonic')`.
    pub place: String,
    /// What, and why it cannot be.
    pub what: String,
}

impl Flaw {
    fn of(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// All flaws of a report that could be read, at the time `now`. A report that is scaled throughout has none: its trace tells.
#[must_use]
pub fn flaws(report: &Report, now: SystemTime) -> Vec<Flaw> {
    match report.provenance.kind {
        ProvenanceKind::Published => origin::flaw(report).into_iter().collect(),
        ProvenanceKind::Measured => {
            origin::flaws(report, now).into_iter().chain(figures::flaws(report)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::origin::{digest, flaw};
    use crate::report::read;

    #[test]
    fn published_reports_are_those_that_are_kept() {
        for name in ["mbp53", "mbp62", "samsa", "samsb"] {
            let path =
                format!("{}/reports/icpe2011-{name}/2011-03-14/report.json", env!("CARGO_MANIFEST_DIR"));
            let report = read(Path::new(&path)).unwrap();
            assert!(flaw(&report).is_none(), "{name}: {}", digest(&report));
        }
    }
}
