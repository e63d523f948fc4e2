//! Judges the costs of clocks: did that of a family, or of a clock within its family, change by more
//! than runs of this machine differ?
//!
//! A process measures several clocks. In each process a family is compared with the instructions, and
//! a clock with the others of its family: what a neighbour, the core frequency or the host does to all
//! of them drops out. The means of both sides over processes are compared with the standard error of
//! their difference (Welch, Biometrika 34, 1947). Nothing is named that is not larger than what the
//! instructions changed by, because a whole run can be in another state. METHODOLOGY.md has the figures.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::{COST, Change, ChangeVerdict, Comparison, FamilyChange, SidesOf};
use estimators::model::{Estimate, Family, ProcessFigures, ReadsBy, TimerRow};
use estimators::statistics::{mean, median, sorted, variance};

/// The family that the others are compared with.
pub const INSTRUCTIONS: &str = "instructions";
/// The standard errors beyond which a family has changed, and a clock within its family. *Seen*: the
/// processes of a run share its state, and a comparison looks at thirty clocks.
const ERRORS: [f64; 2] = [6.0, 8.0];
/// The standard errors within which a change is known. *Computed*: in 95 % of simulated runs it is, because
/// the processes of a run share its state.
const WITHIN_ERRORS: f64 = 3.0;
/// Changes below these shares are not named: of clocks that are read in user mode, and through the
/// kernel. *Seen*: between runs of a quiet machine the kernel's clocks differ by up to 3 %, which no
/// process of a run shows.
const LEAST: [f64; 2] = [0.05, 0.065];
/// Changes below this time are not named, in nanoseconds. *Seen*: reads of a few cycles move by up to
/// one between runs, as the loop around them lies.
const LEAST_NS: f64 = 0.2;
/// What the machine may have changed by if both sides do not have the instructions. *Seen*: a
/// neighbour on the core makes reads up to 1.5 times as expensive.
const UNKNOWN_MACHINE: f64 = 0.7;
/// What a neighbour on the core may have changed reads through the kernel by between two runs, if the
/// width of the cores is unknown; several runs show it. *Seen*: 20 to 30 %, beside unchanged instructions.
const UNKNOWN_CORES: f64 = 0.25;
/// The share of clocks that a process has to have measured, and the least number of other clocks.
/// *Judgement*: their median then stands for the family.
const MEASURED_SHARE: f64 = 0.6;
const MIN_OTHERS: usize = 3;
/// The least figure of a process. *Definition*: that of a step, so that each ratio is a number.
const LEAST_FIGURE: f64 = 1e-9;
/// The least number of processes of a run. *Definition*: their scatter is known.
const MIN_PROCESSES: usize = 3;

/// A clock with its rows in the runs of both sides.
pub struct ClockRows<'a> {
    pub name: &'a str,
    pub sides: SidesOf<&'a TimerRow>,
}

/// The logarithms of a figure of all clocks in each process.
struct Processes {
    /// By side, run and number of the process.
    values: BTreeMap<[usize; 3], BTreeMap<usize, f64>>,
    /// The median of each clock over both sides.
    medians: Vec<f64>,
}

/// A difference of two means of logarithms.
#[derive(Clone, Copy)]
struct Difference {
    by: f64,
    error: f64,
    /// Whether a side has one run.
    is_single: bool,
}

/// Judges the costs of clocks of one machine, or of two if not `is_same_cpu`. The core frequency or
/// the stolen time of the sides differ by the share `differs`.
pub fn judge(comparison: &mut Comparison, clocks: &[ClockRows], differs: f64, is_same_cpu: bool) {
    let mut families: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (at, clock) in clocks.iter().enumerate() {
        families.entry(clock.family()).or_default().push(at);
    }
    let instructions = families.get(INSTRUCTIONS).cloned().unwrap_or_default();
    let all = Processes::new(clocks, |process| Some(process.amortised_ns));
    let widths = Processes::new(clocks, |process| process.width);
    let of_instructions = all.difference(&instructions, &[]);
    // Instructions that changed by more than any neighbour does changed themselves.
    let machine = of_instructions.filter(|it| is_same_cpu && it.by.abs() < UNKNOWN_MACHINE);
    let reference: &[usize] = machine.map_or(&[], |_| &instructions);
    let others = families
        .values()
        .filter(|members| **members != instructions);
    let others = others.filter_map(|members| Some(all.difference(members, &instructions)?.by));
    let moved = match (machine, of_instructions) {
        (Some(machine), _) => machine.by.abs() + in_common(others).min(machine.by.abs() + differs),
        (None, None) if is_same_cpu => UNKNOWN_MACHINE,
        _ => 0.0,
    };
    comparison.machine = machine.map(|it| it.change(it.exceeds(ERRORS[0], LEAST[0]), it.within()));
    let groups = families.iter().flat_map(|(family, members)| {
        // Of few clocks that differ, none is known to be the changed one.
        let is_group = members.len() > MIN_OTHERS;
        let size = if is_group { members.len() } else { 1 };
        let groups = members.chunks(size);
        groups.map(move |group| (*family, is_group, group))
    });
    for (family, is_group, members) in groups {
        let is_machine = machine.is_some() && family == INSTRUCTIONS;
        let reference = if is_machine { &[] } else { reference };
        // Other runtimes are measured in processes of their own.
        let difference = |of: &[usize]| {
            let together = all.difference(of, reference);
            together.or_else(|| all.difference(of, &[]))
        };
        let Some(total) = difference(members) else {
            continue;
        };
        let by_kernel = ![INSTRUCTIONS, "vDSO"].contains(&family);
        // What reads may change by although the clocks did not.
        let moved = match widths.difference(members, &[]) {
            Some(widths) if by_kernel => moved.max(widths.by.abs()),
            None if by_kernel && total.is_single => moved.max(UNKNOWN_CORES),
            _ => moved,
        };
        let least = |of: &[usize]| {
            let ns = median(of.iter().map(|at| all.medians[*at].exp()));
            // The logarithm of the ratio of two costs around `ns` that are so far apart.
            let apart = 2.0 * (0.5 * LEAST_NS / ns.unwrap_or(1.0)).asinh();
            LEAST[usize::from(by_kernel)].max(moved).max(apart)
        };
        let is_changed = !is_machine && total.exceeds(ERRORS[0], least(members));
        let of_family = total.within().max(moved).max(differs);
        let mut within = of_family;
        for at in members {
            let Some(of_clock) = difference(&[*at]) else {
                continue;
            };
            let others: Vec<usize> = members.iter().copied().filter(|one| one != at).collect();
            let own = all.difference(&[*at], &others).filter(|_| is_group);
            let is_own = own.is_some_and(|own| {
                let is_apart = own.exceeds(ERRORS[1], least(&[*at]));
                is_apart
                    && own.by * of_clock.by > 0.0
                    && of_clock.exceeds(WITHIN_ERRORS, least(&[*at]))
            });
            // Nearer to the change of its family than to none.
            let is_with = is_changed && of_clock.by / total.by > 0.5;
            // A clock that has not moved is judged with its family.
            let limit = if of_clock.exceeds(WITHIN_ERRORS, 0.0) {
                of_clock.within().max(of_family)
            } else {
                of_family
            };
            if !is_own {
                within = within.max(limit);
            }
            let change = of_clock.change(is_own || is_with, limit);
            let figures = comparison
                .figures
                .iter_mut()
                .filter(|it| it.quantity == COST);
            let figures = figures.filter(|it| it.timer == clocks[*at].name);
            figures.for_each(|figure| figure.change = Some(change));
        }
        let timers = members.iter().map(|at| clocks[*at].name.to_owned());
        let family = if is_group {
            family
        } else {
            clocks[members[0]].name
        };
        comparison.families.push(FamilyChange {
            family: family.to_owned(),
            timers: timers.collect(),
            change: total.change(is_changed, within),
        });
    }
}

/// What all of several families changed by relative to the instructions: it is a change of these.
fn in_common(changes: impl Iterator<Item = f64>) -> f64 {
    let all = sorted(changes);
    match (all.as_slice(), all.last()) {
        ([least, _, ..], Some(most)) if least * most > 0.0 => least.abs().min(most.abs()),
        _ => 0.0,
    }
}

impl<'a> ClockRows<'a> {
    /// The family: clocks that are read in the same way.
    fn family(&self) -> &'a str {
        let Some((_, row)) = self.sides.iter().flatten().last() else {
            return "";
        };
        let properties = row.properties.clone().unwrap_or_default();
        match (row.runtime.as_str(), properties.family, properties.reads_by) {
            ("native", _, Some(ReadsBy::Instruction)) => INSTRUCTIONS,
            ("native", _, Some(ReadsBy::Vdso)) => "vDSO",
            ("native", Some(Family::CpuTime | Family::PerfEvent), _) => "CPU time",
            // times(2) returns the time, and also sums the CPU time of the process.
            ("native", ..) if row.id == "times" => "CPU time",
            ("native", _, Some(ReadsBy::SystemCall)) => "system calls",
            (runtime, ..) => runtime,
        }
    }
}

impl Processes {
    fn new(clocks: &[ClockRows], figure: fn(&ProcessFigures) -> Option<f64>) -> Self {
        let mut values = BTreeMap::<[usize; 3], BTreeMap<usize, f64>>::new();
        for (at, clock) in clocks.iter().enumerate() {
            for (side, rows) in clock.sides.iter().enumerate() {
                for (run, row) in rows {
                    for (index, process) in row.processes.iter().enumerate() {
                        let number = process.process.map_or(index, |number| number as usize);
                        let figure = figure(process).filter(|it| *it >= LEAST_FIGURE);
                        let logarithm = figure.map(f64::ln);
                        let of_process = values.entry([side, *run, number]).or_default();
                        of_process.extend(logarithm.map(|it| (at, it)));
                    }
                }
            }
        }
        let middle = |at| median(values.values().filter_map(|process| process.get(&at)));
        let medians = (0..clocks.len()).map(|at| middle(at).unwrap_or_default());
        Self {
            medians: medians.collect(),
            values,
        }
    }

    /// The difference between the sides in the clocks `of` relative to the clocks `to`: in each process that
    /// of their medians. `None` if a side has too few processes.
    fn difference(&self, of: &[usize], to: &[usize]) -> Option<Difference> {
        let mut runs = BTreeMap::<[usize; 2], Vec<f64>>::new();
        for ([side, run, _], values) in &self.values {
            let middle = |clocks: &[usize]| {
                let found = clocks
                    .iter()
                    .filter_map(|at| Some(values.get(at)? - self.medians[*at]));
                let found: Vec<f64> = found.collect();
                let is_enough = found.len() as f64 >= MEASURED_SHARE * clocks.len() as f64;
                median(found).filter(|_| is_enough)
            };
            let reference = if to.is_empty() { Some(0.0) } else { middle(to) };
            let relative = middle(of).zip(reference).map(|(of, to)| of - to);
            runs.entry([*side, *run]).or_default().extend(relative);
        }
        runs.retain(|_, values| values.len() >= MIN_PROCESSES);
        let [old, new] = [0, 1].map(|side| {
            let runs: Vec<&Vec<f64>> = runs
                .range([side, 0]..[side + 1, 0])
                .map(|it| it.1)
                .collect();
            let means: Vec<f64> = runs.iter().filter_map(|run| mean(*run)).collect();
            let count = means.len() as f64;
            let of_mean = |run: &&Vec<f64>| Some(variance(run)? / run.len() as f64);
            let within = runs.iter().filter_map(of_mean).sum::<f64>() / count.powi(2);
            let between = variance(&means).map_or(0.0, |between| between / count);
            Some((mean(means)?, within.max(between), runs.len()))
        });
        let (old, new) = (old?, new?);
        Some(Difference {
            by: new.0 - old.0,
            error: (old.1 + new.1).sqrt(),
            is_single: old.2.min(new.2) == 1,
        })
    }
}

impl Difference {
    /// Whether it is larger than a number of standard errors and than `least`.
    fn exceeds(&self, errors: f64, least: f64) -> bool {
        self.by.abs() > (errors * self.error).max(least)
    }

    /// The largest change that is possible.
    fn within(&self) -> f64 {
        self.by.abs() + WITHIN_ERRORS * self.error
    }

    /// The change, whose size is at most `within` if it is none.
    fn change(&self, is_changed: bool, within: f64) -> Change {
        let half = WITHIN_ERRORS * self.error;
        Change {
            percent: Estimate::around(self.by, half).map(in_percent),
            limit_percent: in_percent(within),
            verdict: ChangeVerdict::of(is_changed, self.by > 0.0),
        }
    }
}

/// A change of a logarithm, in percent.
fn in_percent(change: f64) -> f64 {
    100.0 * change.exp_m1()
}
