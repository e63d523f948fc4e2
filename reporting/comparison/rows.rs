//! Prepares the rows of reports for comparison, and matches rows of different runs by id and
//! conditions. Clocks, waits and periodic timers are treated the same way.

use indexmap::IndexMap;

use super::scatter::{self, Costs, Location, family_of};
use super::{Fate, OneSided, Quantity};
use crate::fields::{self, Kind};
use crate::model::{Following, Interval, Report, State, Status, TimerRow, WaitConditions};
use crate::text::numbers::short_time;

/// The core frequency of a run, in gigahertz; `None` if it is unknown.
pub fn core_ghz(report: &Report) -> Option<f64> {
    let ghz = report.frequency.effective_hz?.value / 1e9;
    ghz.is_finite().then_some(ghz)
}

/// Identifies the same timer in different runs. `conditions` are those under which waits were
/// measured; clocks and timers that could not be measured have none.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TimerKey<'a> {
    is_clock: bool,
    id: &'a str,
    period_ns: Option<u64>,
    conditions: Option<WaitConditions>,
}

/// A row of a report with its values.
pub struct RunRow<'a> {
    row: fields::Row<'a>,
    /// The number of the run among those of its side.
    pub run: usize,
    /// The core frequency of the run, in gigahertz.
    pub core_ghz: Option<f64>,
    /// The logarithm of the cost of a clock in nanoseconds and in core cycles, as its processes in
    /// each state show it.
    costs: [Costs; 2],
    /// Each value, with the quantity and the length of the wait in nanoseconds.
    pub figures: Vec<(Quantity, Option<u64>, Interval)>,
}

/// The rows of one side by timer, one row for each run.
type RowsByTimer<'a> = IndexMap<TimerKey<'a>, Vec<&'a RunRow<'a>>>;

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
    /// All rows of the report with this number.
    pub fn all_of(run: usize, report: &'a Report) -> Vec<Self> {
        let rows: Vec<fields::Row> = Kind::ALL
            .map(|kind| fields::rows(report, kind))
            .into_iter()
            .flatten()
            .collect();
        let clocks: Vec<Option<&TimerRow>> = rows.iter().map(|row| row.clock()).collect();
        let costs = [false, true].map(|in_cycles| scatter::costs(&clocks, in_cycles));
        let core_ghz = core_ghz(report);
        rows.iter()
            .enumerate()
            .map(|(at, row)| Self::new(run, *row, core_ghz, costs.each_ref().map(|all| all[at])))
            .collect()
    }

    fn new(run: usize, row: fields::Row<'a>, core_ghz: Option<f64>, costs: [Costs; 2]) -> Self {
        let quantities = Quantity::fields_of(row.kind());
        let mut figures = Vec::new();
        let mut of_length = Vec::new();
        for quantity in quantities {
            match quantity.figure(row) {
                Some(figure) => figures.push((quantity, None, figure)),
                None => of_length.push(quantity),
            }
        }
        let lengths = row.wait().map(|_| row.by_length()).unwrap_or_default();
        for part in lengths {
            let found = of_length.iter().filter_map(|quantity| {
                Some((*quantity, part.request_ns(), quantity.figure(part)?))
            });
            figures.extend(found);
        }
        Self {
            row,
            run,
            core_ghz,
            costs,
            figures,
        }
    }

    fn key(&self) -> TimerKey<'a> {
        TimerKey {
            is_clock: self.clock().is_some(),
            id: self.row.id(),
            period_ns: self.row.request_ns(),
            conditions: self.row.conditions().cloned(),
        }
    }

    /// The id with the conditions that differ within its report.
    fn name(&self) -> String {
        match self.row.request_ns() {
            Some(ns) => format!("{} every {}", self.row.name(), short_time(ns as f64)),
            None => self.row.name(),
        }
    }

    /// The clock; `None` for rows of other kinds.
    pub fn clock(&self) -> Option<&'a TimerRow> {
        self.row.clock()
    }

    /// The name of the family of timers that change together.
    pub fn family(&self) -> &'a str {
        match self.row.kind() {
            Kind::Clocks => self.clock().map_or("", family_of),
            kind => kind.in_words(),
        }
    }

    /// A value of the row; `length` is the length of the wait in nanoseconds, if each length has
    /// its own value.
    pub fn figure(&self, quantity: Quantity, length: Option<u64>) -> Option<Interval> {
        self.figures
            .iter()
            .find(|(other, at, _)| (*other, *at) == (quantity, length))
            .map(|(_, _, figure)| *figure)
    }

    /// The logarithm of the cost of a clock, in core cycles or in nanoseconds; `None` if the report
    /// does not hold the costs of its processes in this state.
    pub fn cost(&self, in_cycles: bool, state: State) -> Option<Location> {
        self.costs[usize::from(in_cycles)][state as usize]
    }

    /// What the cost follows: its device, or else according to the report.
    pub fn follows(&self) -> Option<Following> {
        match self.row.device() {
            Some(_) => Some(Following::Device),
            None => self.clock()?.cost.as_ref()?.follows,
        }
    }

    /// Whether the value depends on a single process. Clocks have a finding in that case; the
    /// absence of an interval is not sufficient, because published values have none either.
    pub fn is_of_single_process(&self, figure: Interval) -> bool {
        match self.clock() {
            Some(_) => self
                .row
                .findings()
                .iter()
                .any(|finding| finding.code == "single-process"),
            None => !figure.is_bounded(),
        }
    }
}

impl TimerKey<'_> {
    fn without_conditions(&self) -> Self {
        Self {
            conditions: None,
            ..self.clone()
        }
    }
}

/// Matches the rows of the old runs and the new runs.
pub fn match_rows<'a>(sides: [&'a [RunRow<'a>]; 2]) -> Matched<'a> {
    // The CPU of a wait is ignored if no side measured on several CPUs.
    let has_several_cpus = |rows: &[RunRow]| {
        let mut cpus = rows
            .iter()
            .filter_map(|row| Some(row.row.conditions()?.cpu));
        let first = cpus.next();
        cpus.any(|cpu| Some(cpu) != first)
    };
    let by_cpu = has_several_cpus(sides[0]) || has_several_cpus(sides[1]);
    let [old, new] = sides.map(|side| group_rows(side, by_cpu));
    let mut matched = Matched::default();
    let of_new = new
        .iter()
        .map(|(key, after)| (after, counterpart(&old, key), Some(after)));
    let of_old = old
        .iter()
        .filter(|(key, _)| counterpart(&new, key).is_none())
        .map(|(_, before)| (before, Some(before), None));
    for (rows, before, after) in of_new.chain(of_old) {
        let name = rows[0].name();
        matched.one_sided.extend(one_sided(before, after, &name));
        matched.names.push(name.clone());
        if let (Some(before), Some(after)) = (before, after) {
            matched.pairs.push((name, [before.clone(), after.clone()]));
        }
    }
    matched
}

/// RowsByTimer the rows of one side by timer. The CPU is a part of the conditions only if `by_cpu`.
fn group_rows<'a>(rows: &'a [RunRow<'a>], by_cpu: bool) -> RowsByTimer<'a> {
    let mut groups = RowsByTimer::new();
    for row in rows {
        let mut key = row.key();
        if let Some(conditions) = &mut key.conditions {
            conditions.cpu = conditions.cpu.filter(|_| by_cpu);
        }
        groups.entry(key).or_default().push(row);
    }
    groups
}

/// Finds the rows of the same timer under the same conditions on the other side. A timer that could
/// not be measured has no conditions, and matches by its id.
fn counterpart<'g, 'a>(
    side: &'g RowsByTimer<'a>,
    key: &TimerKey<'a>,
) -> Option<&'g Vec<&'a RunRow<'a>>> {
    let bare = key.without_conditions();
    side.get(key).or_else(|| side.get(&bare)).or_else(|| {
        let is_unmeasured_wait = key.conditions.is_none() && !key.is_clock;
        side.iter()
            .filter(|_| is_unmeasured_wait)
            .find(|(other, _)| other.without_conditions() == bare)
            .map(|(_, rows)| rows)
    })
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
        (Some(_), Some(Status::Ok)) => (Fate::Gained, old),
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
