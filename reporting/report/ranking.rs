//! Ranks sleep primitives by lateness and CPU time. One is Pareto-optimal if no other is better in both.

use crate::fields::{Kind, Row, rows};
use crate::model::{Interval, Lateness, Report, USUAL_WAIT_NS, is_better_wait, value_of};

/// Reads a quantile of lateness.
type Quantile = fn(&Lateness) -> Option<Interval>;

/// The quantiles of lateness by which waits are ranked, the highest first.
const QUANTILES: [Quantile; 3] = [|late| late.p99_ns, |late| late.p90_ns, |late| late.p50_ns];

/// The sleep primitives of a report at one length, ranked by lateness.
pub(super) struct RankedWaits<'a> {
    /// The length in nanoseconds.
    pub request_ns: u64,
    /// Pareto-optimal rows first, then the others, each sorted by lateness; the flag marks
    /// Pareto-optimal rows.
    pub rows: Vec<(Row<'a>, bool)>,
}

impl<'a> RankedWaits<'a> {
    /// Ranks all rows with results, at the usual length or the length nearest to it. `None` if
    /// there are no such rows.
    pub fn rank(report: &'a Report) -> Option<Self> {
        let measured = usual_waits(report);
        let request_ns = measured.iter().find_map(Row::request_ns)?;
        let count = |quantile: &Quantile| {
            let late = measured.iter().filter_map(|row| quantile(row.lateness()?));
            late.count()
        };
        // The highest quantile that most rows have.
        let [.., median] = QUANTILES;
        let quantile = QUANTILES
            .into_iter()
            .find(|quantile| 2 * count(quantile) > count(&median));
        let quantile = quantile.unwrap_or(median);
        let late = |row: &Row| value_of(row.lateness().and_then(quantile));
        // The two values of a comparison. Returning early is as inaccurate as returning late.
        let lateness_and_cpu = |row: &Row| Some([late(row)?.abs(), row.lateness()?.cpu_ns?.value]);
        let cpu = |row: &Row| row.conditions().map(|conditions| conditions.cpu);
        let is_optimal = |row: &Row| {
            let rivals = measured.iter().filter(|other| cpu(other) == cpu(row));
            lateness_and_cpu(row).is_some_and(|own| {
                !rivals
                    .filter_map(lateness_and_cpu)
                    .any(|other| is_better_wait(other, own))
            })
        };
        let mut rows: Vec<(Row, bool)> =
            measured.iter().map(|row| (*row, is_optimal(row))).collect();
        let key = |row: &Row| late(row).unwrap_or(f64::INFINITY);
        rows.sort_by(|(a, a_optimal), (b, b_optimal)| {
            b_optimal.cmp(a_optimal).then(key(a).total_cmp(&key(b)))
        });
        Some(Self { request_ns, rows })
    }
}

/// The sleep primitives with results, at the usual length or the length nearest to it.
fn usual_waits(report: &Report) -> Vec<Row<'_>> {
    let all: Vec<Row> = rows(report, Kind::Waits)
        .into_iter()
        .filter(Row::has_figures)
        .collect();
    let lengths: Vec<Row> = all.iter().flat_map(|row| row.by_length()).collect();
    let latenesses = lengths.iter().filter_map(|row| row.lateness());
    let Some(usual) = Lateness::nearest(latenesses, USUAL_WAIT_NS) else {
        return Vec::new();
    };
    let has_usual_length = |row: Row<'_>| row.request_ns() == Some(usual.request_ns);
    all.into_iter()
        .map(|row| {
            row.by_length()
                .into_iter()
                .find(|row| has_usual_length(*row))
                .unwrap_or(row)
        })
        .collect()
}
