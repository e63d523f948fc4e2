//! What changed of timers that wait: at each length and under the same conditions.

use std::collections::{HashMap, HashSet};

use super::evidence::{Run, Sides};
use super::family::Candidate;
use super::scatter::Read;
use super::{OneSided, Quantity, State, fate};
use crate::fields::{Kind, Row, rows};
use crate::model::{BackgroundLoad, Interval, Report, Status};
use crate::text::numbers::short_time;

/// The degrees of freedom that intervals of waits are taken to have, as reports do not say: those
/// of five processes. *Judgement*.
const DEGREES: f64 = 4.0;

/// Figures and one-sided rows of timers that wait, what they are called, and whether any is in
/// both.
#[derive(Default)]
pub(super) struct ComparedWaits {
    pub candidates: Vec<Candidate>,
    pub names: Vec<String>,
    pub one_sided: Vec<OneSided>,
    pub common: bool,
}

/// What a row has in common with that of the same timer under the same conditions: id, period,
/// slack, policy, load and CPU.
type Key<'a> = (
    &'a str,
    Option<u64>,
    Option<u64>,
    &'a str,
    BackgroundLoad,
    Option<u32>,
);

/// A row with each figure that is compared, and at what length, if at any.
struct WaitingRow<'a> {
    row: Row<'a>,
    figures: Vec<(Quantity, Option<u64>, Interval)>,
}

impl<'a> WaitingRow<'a> {
    fn new(row: Row<'a>) -> Self {
        let quantities = Quantity::of_rows(row.kind());
        let whole = quantities
            .iter()
            .filter_map(|(quantity, field)| Some((*quantity, None, field.figure(row)?)));
        let mut figures: Vec<_> = whole.collect();
        for at_length in row
            .by_length()
            .into_iter()
            .filter(|row| row.lateness().is_some())
        {
            let of_length = quantities
                .iter()
                .filter(|(_, field)| field.figure(row).is_none());
            figures.extend(of_length.filter_map(|(quantity, field)| {
                Some((*quantity, at_length.request_ns(), field.figure(at_length)?))
            }));
        }
        Self { row, figures }
    }

    /// On which CPU it waited does not matter where each report has one only.
    fn key(&self, cpus_matter: bool) -> Key<'a> {
        let (id, conditions, period_ns) = self.row.identity();
        let asked =
            conditions.map(|asked| (asked.slack_ns, asked.policy.as_str(), asked.load, asked.cpu));
        let (slack_ns, policy, load, cpu) = asked.unwrap_or_default();
        (
            id,
            period_ns,
            slack_ns,
            policy,
            load,
            cpu.filter(|_| cpus_matter),
        )
    }

    fn timer(&self) -> (&'a str, Option<u64>) {
        (self.row.id(), self.row.request_ns())
    }

    /// One that could not be asked was asked under no conditions.
    fn is_unasked(&self) -> bool {
        self.row.conditions().is_none()
    }

    fn state(&self) -> State<'a> {
        (self.row.status(), self.row.reason())
    }
}

/// Compares the timers that wait.
pub(super) fn compared(sides: [&[&Report]; 3]) -> ComparedWaits {
    let [old, new, history]: [Vec<WaitingRow>; 3] =
        sides.map(|side| side.iter().flat_map(|run| rows_of(run)).collect());
    let several = |rows: &[WaitingRow]| {
        rows.iter()
            .any(|row| row.key(true).5 != rows[0].key(true).5)
    };
    let cpus_matter = several(&old) || several(&new);
    let [old_sides, new_sides, kept] = [&old, &new, &history].map(|rows| by_key(rows, cpus_matter));
    // One that could not be asked was asked under no conditions: it is the same timer all the same.
    let same_id = |rows: &[WaitingRow], row: &WaitingRow| {
        let same = |other: &&WaitingRow| other.timer() == row.timer();
        rows.iter()
            .filter(same)
            .any(|other| other.is_unasked() || row.is_unasked())
    };
    let mut waited = ComparedWaits::default();
    for (key, after) in &new_sides {
        let name = name(after[0]);
        let mut before = old_sides
            .iter()
            .find(|(other, _)| other == key)
            .map(|(_, rows)| rows.clone());
        if before.is_none() && same_id(&old, after[0]) {
            let first = old.iter().find(|row| row.timer() == after[0].timer());
            before = first.map(|row| vec![row]);
        }
        waited.one_sided.extend(fate(
            before.as_deref().and_then(state_of),
            state_of(after),
            &name,
        ));
        if let Some(before) = before {
            waited.common = true;
            let kept = kept
                .iter()
                .find(|(other, _)| other == key)
                .map_or(&[][..], |(_, rows)| rows);
            waited
                .candidates
                .extend(candidates([&before, after, kept], &name));
        }
        waited.names.push(name);
    }
    let known: HashSet<&Key> = new_sides.iter().map(|(key, _)| key).collect();
    for (_, before) in old_sides.iter().filter(|(key, _)| !known.contains(key)) {
        let name = name(before[0]);
        if !same_id(&new, before[0]) {
            waited.one_sided.extend(fate(state_of(before), None, &name));
        }
        waited.names.push(name);
    }
    waited
}

/// The rows of each timer under the same conditions, a run each, in their order.
fn by_key<'a, 'b>(
    rows: &'b [WaitingRow<'a>],
    cpus_matter: bool,
) -> Vec<(Key<'a>, Vec<&'b WaitingRow<'a>>)> {
    let mut sides: Vec<(Key, Vec<&WaitingRow>)> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for row in rows {
        let place = *places.entry(row.key(cpus_matter)).or_insert(sides.len());
        match sides.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => sides.push((row.key(cpus_matter), vec![row])),
        }
    }
    sides
}

fn state_of<'a>(rows: &[&WaitingRow<'a>]) -> Option<State<'a>> {
    let well = rows.iter().find(|row| row.state().0 == Status::Ok);
    well.or(rows.first()).map(|row| row.state())
}

/// What can be compared of a timer, at each length that both sides have.
fn candidates(sides: [&[&WaitingRow]; 3], name: &str) -> Vec<Candidate> {
    let mut asked: Vec<(Quantity, Option<u64>)> = Vec::new();
    for (quantity, length, _) in sides[1].iter().flat_map(|row| &row.figures) {
        if !asked.contains(&(*quantity, *length)) {
            asked.push((*quantity, *length));
        }
    }
    let of = |(quantity, length): (Quantity, Option<u64>)| {
        let found = sides.map(|side| -> Vec<&Interval> {
            let figures = side.iter().flat_map(|row| &row.figures);
            figures
                .filter(|(other, at, _)| (*other, *at) == (quantity, length))
                .map(|(_, _, known)| known)
                .collect()
        });
        let runs = found.each_ref().map(|side| {
            side.iter()
                .filter_map(|known| run(known))
                .collect::<Vec<Run>>()
        });
        let single_process = found[..2]
            .iter()
            .flatten()
            .any(|known| known.low().is_none());
        let [old, new, history] = runs;
        if old.is_empty() || new.is_empty() {
            return None;
        }
        let at = length.map_or_else(String::new, |ns| format!(" at {}", short_time(ns as f64)));
        Some(Candidate {
            timer: format!("{name}{at}"),
            quantity,
            read: Read::Waiting,
            ways: vec![Sides {
                unit: None,
                runs: [old, new],
                history,
            }],
            single_process,
        })
    };
    asked.into_iter().filter_map(of).collect()
}

fn rows_of(report: &Report) -> impl Iterator<Item = WaitingRow<'_>> {
    [Kind::Waits, Kind::Periods]
        .into_iter()
        .flat_map(|kind| rows(report, kind))
        .map(WaitingRow::new)
}

fn name(row: &WaitingRow) -> String {
    match row.row.request_ns() {
        Some(ns) => format!("{} every {}", row.row.name(), short_time(ns as f64)),
        None => row.row.name(),
    }
}

fn run(known: &Interval) -> Option<Run> {
    let figure = known.sound()?;
    Some(Run {
        figure,
        degrees: DEGREES,
        shared_core: false,
        spread: 0.5,
    })
}
