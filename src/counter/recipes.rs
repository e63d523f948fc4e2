//! What programs that start find the rate of the counter to be, and by how much each is off.

use serde::Serialize;

use crate::analysis::statistics::{quantile, sorted};

/// What one fresh process found: nanoseconds a tick, or why it would do without the counter.
pub type Outcome = Result<f64, String>;

/// A recipe over many processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecipeRow {
    /// Its name.
    pub id: &'static str,
    /// What it does, and whose it is.
    pub label: &'static str,
    /// Fresh processes that tried it.
    pub processes: u32,
    /// Those that would do without the counter, or would not start.
    pub without: u32,
    /// Why, the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How much longer than true a second by it is, in ppm: in the middle of all processes.
    pub median_ppm: Option<f64>,
    /// The one that is farthest off.
    pub worst_ppm: Option<f64>,
    /// What the true rate is known to, in ppm: errors below that mean nothing.
    pub known_to_ppm: f64,
}

impl RecipeRow {
    /// Sums up what processes found; `truth` is nanoseconds a tick by the clock that the recipes hold the counter against, and what
    /// that is known to as a share.
    #[must_use]
    pub fn of(id: &'static str, label: &'static str, outcomes: &[Outcome], truth: (f64, f64)) -> Self {
        let error = |ns: &f64| 1e6 * (ns / truth.0 - 1.0);
        let errors: Vec<f64> = outcomes.iter().flatten().map(error).filter(|ppm| ppm.is_finite()).collect();
        let why = outcomes.iter().find_map(|outcome| outcome.as_ref().err());
        Self {
            id,
            label,
            processes: outcomes.len() as u32,
            without: outcomes.iter().filter(|outcome| outcome.is_err()).count() as u32,
            why: why.cloned(),
            median_ppm: quantile(&sorted(&errors), 0.5),
            worst_ppm: errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())),
            known_to_ppm: 1e6 * truth.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_worst() {
        let outcomes = [Ok(0.5), Ok(0.500_01), Err("no".to_owned()), Ok(0.499_95)];
        let row = RecipeRow::of("quanta", "", &outcomes, (0.5, 1e-8));
        assert_eq!((row.processes, row.without, row.why.as_deref()), (4, 1, Some("no")));
        assert!(row.median_ppm.unwrap().abs() < 1e-6);
        assert!((row.worst_ppm.unwrap() + 100.0).abs() < 1e-6);
        let none = RecipeRow::of("quanta", "", &[], (0.5, 0.0));
        assert_eq!((none.median_ppm, none.worst_ppm), (None, None));
    }
}
