//! Prepares the rows of reports for comparison, and matches rows of different runs by name.

use indexmap::IndexMap;

use super::scatter::{self, Costs, Location};
use super::{Fate, OneSided};
use crate::fields::{self, Kind};
use crate::model::{Following, Report, State, Status, TimerRow};

/// The core frequency of a run, in gigahertz; `None` if it is unknown.
pub fn core_ghz(report: &Report) -> Option<f64> {
    let ghz = report.frequency.effective_hz?.value / 1e9;
    ghz.is_finite().then_some(ghz)
}

/// A row of a report.
pub struct RunRow<'a> {
    pub row: fields::Row<'a>,
    /// The core frequency of the run, in gigahertz.
    pub core_ghz: Option<f64>,
    /// The logarithm of the cost of a clock in nanoseconds and in core cycles, as its processes in
    /// each state show it.
    costs: [Costs; 2],
}

/// The rows of one side by kind and name, one row for each run.
type RowsByTimer<'a> = IndexMap<(usize, String), Vec<&'a RunRow<'a>>>;

/// Rows that both sides contain, and timers that only one side contains.
#[derive(Default)]
pub struct Matched<'a> {
    /// The name of each timer, with its old rows and new rows.
    pub pairs: Vec<(String, [Vec<&'a RunRow<'a>>; 2])>,
    pub one_sided: Vec<OneSided>,
    /// The names of all timers of both sides.
    pub names: Vec<String>,
}

impl<'a> RunRow<'a> {
    /// All rows of the report.
    pub fn all_of(report: &'a Report) -> Vec<Self> {
        let rows = Kind::ALL.map(|kind| fields::rows(report, kind));
        let rows: Vec<fields::Row> = rows.into_iter().flatten().collect();
        let clocks: Vec<Option<&TimerRow>> = rows.iter().map(|row| row.clock()).collect();
        let costs = [false, true].map(|in_cycles| scatter::costs(&clocks, in_cycles));
        let core_ghz = core_ghz(report);
        let rows = rows.into_iter().enumerate();
        rows.map(|(at, row)| Self {
            row,
            core_ghz,
            costs: costs.each_ref().map(|all| all[at]),
        })
        .collect()
    }

    /// The clock; `None` for rows of other kinds.
    pub fn clock(&self) -> Option<&'a TimerRow> {
        self.row.clock()
    }

    /// The logarithm of the cost of a clock, in core cycles or in nanoseconds; `None` if the report
    /// does not hold the costs of its processes in this state.
    pub fn cost(&self, in_cycles: bool, state: State) -> Option<Location> {
        self.costs[usize::from(in_cycles)][state as usize]
    }

    /// Whether a device determines what the cost follows.
    pub fn follows_device(&self) -> bool {
        let of_report = || self.clock()?.cost.as_ref()?.follows;
        self.row.device().is_some() || of_report() == Some(Following::Device)
    }

    /// Whether a finding says that the values are of a single process; the absence of intervals is not
    /// sufficient, because published values have none either.
    pub fn is_of_single_process(&self) -> bool {
        let mut findings = self.row.findings().iter();
        findings.any(|finding| finding.code == "single-process")
    }
}

/// Matches the rows of the old runs and the new runs.
pub fn match_rows<'a>(sides: [&'a [RunRow<'a>]; 2]) -> Matched<'a> {
    let [old, new] = sides.map(|side| {
        let mut rows = RowsByTimer::new();
        for row in side {
            rows.entry((row.row.kind() as usize, row.row.name_with_length()))
                .or_default()
                .push(row);
        }
        rows
    });
    let mut matched = Matched::default();
    for key in new
        .keys()
        .chain(old.keys().filter(|key| !new.contains_key(*key)))
    {
        let (before, after) = (old.get(key), new.get(key));
        let name = &key.1;
        matched.one_sided.extend(one_sided(before, after, name));
        matched.names.push(name.clone());
        if let (Some(before), Some(after)) = (before, after) {
            matched
                .pairs
                .push((name.clone(), [before.clone(), after.clone()]));
        }
    }
    matched
}

/// The difference between the sides in a timer that has results on one side only; otherwise `None`.
/// A side has results if any of its runs has.
fn one_sided(
    old: Option<&Vec<&RunRow>>,
    new: Option<&Vec<&RunRow>>,
    name: &str,
) -> Option<OneSided> {
    let [old, new] = [old, new].map(|rows| {
        let rows = rows?;
        let with = |status| rows.iter().find(|row| row.row.status() == status);
        let best = with(Status::Ok).or_else(|| with(Status::Unresolved));
        best.or(rows.first()).copied()
    });
    let status = |row: Option<&RunRow>| row.map(|row| row.row.status());
    let (fate, row) = match (status(old), status(new)) {
        (Some(Status::Ok), Some(Status::Ok)) => return None,
        // A clock of long steps may show none in a short run.
        (Some(Status::Ok), Some(Status::Unresolved)) => (Fate::Unresolved, new),
        (Some(Status::Ok), Some(_)) => (Fate::Lost, new),
        (Some(_), Some(Status::Ok)) => (Fate::Gained, None),
        (Some(Status::Ok), None) => (Fate::Gone, old),
        (None, Some(_)) => (Fate::Added, new),
        _ => return None,
    };
    Some(OneSided {
        timer: name.to_owned(),
        fate,
        reason: row.and_then(|row| row.row.reason()).map(str::to_owned),
    })
}
