//! What changed of timers that wait: at each length and under the same conditions.

use std::collections::{HashMap, HashSet};

use super::{Compared, Difference, Figure, OneSided, Quantity, State, fate};
use crate::model::{BackgroundLoad, Granularity, Known, PeriodRow, Status, WaitConditions, WaitRow};
use crate::report::waits::named;
use crate::text::numbers::short_time;

/// Figures and one-sided rows of timers that wait, and whether any is in both.
pub(super) struct Waited {
    pub figures: Vec<Compared>,
    pub one_sided: Vec<OneSided>,
    pub common: bool,
}

/// A row as it is compared.
struct Row<'a> {
    id: &'a str,
    conditions: &'a WaitConditions,
    /// The period, where it has one.
    period_ns: Option<u64>,
    state: State<'a>,
    /// Each figure, at what length, if at any.
    figures: Vec<(Quantity, Option<u64>, Known)>,
}

/// What a row has in common with that of the same timer under the same conditions: id, period, slack, policy, load and CPU.
type Key<'a> = (&'a str, Option<u64>, Option<u64>, &'a str, BackgroundLoad, Option<u32>);

impl<'a> Row<'a> {
    fn of_wait<H, P>(row: &'a WaitRow<H, P>) -> Self {
        let mut figures = Vec::new();
        let mut add = |quantity, length, known: Option<Known>| {
            figures.extend(known.map(|known| (quantity, length, known)))
        };
        if let Some(found) = &row.figures {
            add(Quantity::Granularity, None, found.granularities().find_map(Granularity::step));
            add(Quantity::Floor, None, found.floor_ns);
            for late in found.by_length() {
                let length = Some(late.request_ns);
                add(Quantity::Lateness, length, late.p50_ns);
                add(Quantity::Tail, length, late.p99_ns);
                add(Quantity::Cpu, length, late.cpu_ns);
            }
        }
        let state = (row.status, row.reason.as_deref());
        Self { id: &row.id, conditions: &row.conditions, period_ns: None, state, figures }
    }

    fn of_period(row: &'a PeriodRow) -> Self {
        let mut figures = Vec::new();
        let mut add =
            |quantity, known: Option<Known>| figures.extend(known.map(|known| (quantity, None, known)));
        if let Some(found) = &row.figures {
            add(Quantity::Rate, found.rate_error_ppm);
            add(Quantity::Lateness, found.lateness_p50_ns);
            add(Quantity::Tail, found.lateness_p99_ns);
        }
        let state = (row.status, row.reason.as_deref());
        Self { id: &row.id, conditions: &row.conditions, period_ns: Some(row.period_ns), state, figures }
    }

    /// On which CPU it waited does not matter where each report has one only.
    fn key(&self, cpus_matter: bool) -> Key<'a> {
        let WaitConditions { slack_ns, policy, load, cpu } = self.conditions;
        (self.id, self.period_ns, *slack_ns, policy, *load, cpu.filter(|_| cpus_matter))
    }

    /// One that could not be asked was asked under no conditions.
    fn is_unasked(&self) -> bool {
        self.conditions.policy.is_empty()
    }

    fn name(&self, among: &[&WaitConditions]) -> String {
        let every = self.period_ns.map_or_else(String::new, |ns| format!(" every {}", short_time(ns as f64)));
        named(&format!("{}{every}", self.id), self.conditions, among)
    }
}

/// Compares the timers that wait.
pub(super) fn compared<H, P>(
    [old_waits, new_waits]: [&[WaitRow<H, P>]; 2],
    [old_periods, new_periods]: [&[PeriodRow]; 2],
) -> Waited {
    let (old, new) = (rows_of(old_waits, old_periods), rows_of(new_waits, new_periods));
    let several = |rows: &[Row]| rows.iter().any(|row| row.conditions.cpu != rows[0].conditions.cpu);
    let cpus_matter = several(&old) || several(&new);
    let among = measured(&new);
    let known: HashMap<Key, &Row> = old.iter().rev().map(|row| (row.key(cpus_matter), row)).collect();
    let by_id: HashMap<(&str, Option<u64>), &Row> =
        old.iter().rev().map(|row| ((row.id, row.period_ns), row)).collect();
    let mut waited = Waited { figures: Vec::new(), one_sided: Vec::new(), common: false };
    for row in &new {
        let same_id =
            || by_id.get(&(row.id, row.period_ns)).filter(|old| old.is_unasked() || row.is_unasked());
        let before = known.get(&row.key(cpus_matter)).or_else(same_id).copied();
        waited.common |= before.is_some();
        let name = row.name(&among);
        waited.one_sided.extend(fate(before.map(|row| row.state), Some(row.state), &name));
        for (quantity, length, known) in &row.figures {
            let same = before.and_then(|before| {
                before.figures.iter().find(|(other, at, _)| (other, at) == (quantity, length))
            });
            let Some((_, _, earlier)) = same else { continue };
            let at = length.map_or_else(String::new, |ns| format!(" at {}", short_time(ns as f64)));
            let timer = format!("{name}{at}");
            let both = figure(earlier).zip(figure(known));
            waited.figures.extend(both.map(|(old, new)| {
                quantity.judged(
                    timer,
                    Difference::between(old, new, quantity.is_relative()),
                    earlier.low.is_none() || known.low.is_none(),
                )
            }));
        }
    }
    let among = measured(&old);
    let still: HashSet<Key> = new.iter().map(|row| row.key(cpus_matter)).collect();
    let ids: HashMap<(&str, Option<u64>), bool> =
        new.iter().map(|row| ((row.id, row.period_ns), row.is_unasked())).collect();
    let same_id =
        |row: &Row| ids.get(&(row.id, row.period_ns)).is_some_and(|unasked| *unasked || row.is_unasked());
    for row in old.iter().filter(|row| !still.contains(&row.key(cpus_matter)) && !same_id(row)) {
        waited.one_sided.extend(fate(Some(row.state), None, &row.name(&among)));
    }
    waited
}

/// The conditions of those that have figures: others have none.
fn measured<'a>(rows: &[Row<'a>]) -> Vec<&'a WaitConditions> {
    rows.iter().filter(|row| row.state.0 == Status::Ok).map(|row| row.conditions).collect()
}

fn rows_of<'a, H, P>(waits: &'a [WaitRow<H, P>], periods: &'a [PeriodRow]) -> Vec<Row<'a>> {
    waits.iter().map(Row::of_wait).chain(periods.iter().map(Row::of_period)).collect()
}

fn figure(known: &Known) -> Option<Figure> {
    Figure::new(known.value, known.low, known.high)
}
