//! Judges `compare` on simulated runs: how often it names a change between runs of an unchanged
//! machine, and which planted changes it finds.

pub mod machine;
mod neighbours;
mod variation;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

use estimators::model::Report;
use reporting::comparison::{COST, ChangeVerdict, Comparison};

use self::machine::{Conditions, Machine, Moment};
use self::variation::ClockFamily;

/// A use of `compare` on an unchanged machine.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// What the runs are like.
    pub name: &'static str,
    /// The number of runs a side.
    pub side: u32,
    /// What varies between the runs.
    pub conditions: Conditions,
    /// Whether all old runs come first, then all new ones; otherwise they alternate.
    pub in_blocks: bool,
}

/// The standard deviation between blocks with which two blocks differ by one of 1 %.
/// *Computed*.
const BETWEEN_BLOCKS: f64 = 0.01 * std::f64::consts::FRAC_1_SQRT_2;
/// The shares of the time in which another thread uses the core of a quiet machine. *Judgement*:
/// with more than a tenth no run of a machine whose states last minutes would be quiet.
const QUIET: [f64; 2] = [0.0, 0.1];
/// The same of a busy host, and of one whose core is never free. *Seen*: Zen 3 and Emerald Rapids.
const BUSY: [f64; 2] = [0.2, 0.95];
const ALWAYS: [f64; 2] = [1.0, 1.0];

/// The uses of `compare` that are judged. *Judgement*.
pub const CELLS: [Cell; 12] = [
    Cell::new("kernel ±0.5 %", 1, QUIET, 0.005),
    Cell::new("kernel ±1 %", 1, QUIET, 0.01),
    Cell::new("kernel ±1.5 %", 1, QUIET, 0.015),
    Cell::new("kernel ±3 %", 3, QUIET, 0.03),
    Cell::new("kernel ±5 %", 5, QUIET, 0.05),
    Cell::new("next to neighbours", 1, BUSY, 0.0),
    Cell::new("next to neighbours", 2, BUSY, 0.0),
    Cell::new("next to neighbours", 3, BUSY, 0.0),
    Cell::new("never alone", 1, ALWAYS, 0.0),
    Cell::new("never alone", 3, ALWAYS, 0.0),
    Cell::in_blocks("blocks 1 % apart", 3),
    Cell::in_blocks("blocks 1 % apart", 5),
];

impl Cell {
    /// Runs in alternation. `common` is the standard deviation of what the kernel's clocks have in
    /// common.
    const fn new(name: &'static str, side: u32, neighbours: [f64; 2], common: f64) -> Self {
        let conditions = Conditions {
            neighbours,
            common,
            between_blocks: 0.0,
        };
        Self {
            name,
            side,
            conditions,
            in_blocks: false,
        }
    }

    const fn in_blocks(name: &'static str, side: u32) -> Self {
        let mut cell = Self::new(name, side, QUIET, 0.0);
        cell.conditions.between_blocks = BETWEEN_BLOCKS;
        cell.in_blocks = true;
        cell
    }

    /// Compares runs of a machine; between the sides the cost of each clock changes by the share in
    /// `changes`.
    fn compare(&self, machine: &Machine, changes: &[f64]) -> Comparison {
        let unchanged = vec![0.0; changes.len()];
        let run = |number: u32, block: u64, changes: &[f64]| {
            machine.run(Moment { number, block }, self.conditions, changes)
        };
        let [old, new] = [(0, &unchanged[..]), (1, changes)].map(|(block, changes)| {
            let number = |at: u32| match self.in_blocks {
                true => block * self.side + at,
                false => 2 * at + block,
            };
            let runs = (0..self.side).map(|at| run(number(at), block.into(), changes));
            runs.collect::<Vec<Report>>()
        });
        let [old, new] = [&old, &new].map(|side| side.iter().collect::<Vec<_>>());
        Comparison::between(&old, &new).unwrap_or_default()
    }

    /// Compares runs of an unchanged machine. Returns the change that the comparison names, if any.
    #[must_use]
    pub fn false_change(&self, platforms: &[Report], seed: u64) -> Option<FalseChange> {
        let machine = Machine::new(platforms, seed);
        let comparison = self.compare(&machine, &vec![0.0; machine.clocks().count()]);
        let figures = comparison
            .figures
            .iter()
            .filter(|figure| figure.is_changed());
        let families = comparison.families.iter();
        let families = families.filter(|family| family.change.verdict.is_change());
        let quantities: Vec<&str> = figures
            .map(|figure| figure.quantity)
            .chain(families.map(|_| COST))
            .collect();
        let is_changed = !quantities.is_empty() || !comparison.answers.is_empty();
        is_changed.then(|| FalseChange {
            seed,
            of_cost: quantities.contains(&COST),
            sentence: comparison.sentences.join(" "),
        })
    }
}

/// A change that was named although nothing changed.
#[derive(Clone, Debug, Serialize)]
pub struct FalseChange {
    /// The seed of the machine.
    pub seed: u64,
    /// Whether a cost is said to have changed.
    pub of_cost: bool,
    /// The summary of the comparison.
    pub sentence: String,
}

/// A change that is planted between runs of a quiet machine, one a side.
#[derive(Clone, Copy, Debug)]
pub struct PlantedChange {
    /// What changes.
    pub name: &'static str,
    families: &'static [ClockFamily],
    /// Whether one clock of the families changes; otherwise all do.
    one: bool,
    size: Size,
}

/// The size of a change.
#[derive(Clone, Copy, Debug)]
enum Size {
    /// A share of the cost, up or down.
    Share(f64),
    /// Nanoseconds that are added.
    Added(f64),
}

/// The changes that are planted. *Definition*: the aims that were set.
pub const CHANGES: [PlantedChange; 6] = {
    use ClockFamily::{CpuTime, SystemCalls, Vdso};
    [
        PlantedChange::of_one("5 % in one vDSO clock", &[Vdso], 0.05),
        PlantedChange::of_one("7 % in one system call", &[SystemCalls], 0.07),
        PlantedChange::of_all("8 % in all vDSO clocks", &[Vdso], Size::Share(0.08)),
        PlantedChange::of_all("8 % in all system calls", &[SystemCalls], Size::Share(0.08)),
        PlantedChange::of_all("8 % in all CPU-time clocks", &[CpuTime], Size::Share(0.08)),
        PlantedChange::of_all(
            "40 ns at the kernel's entry",
            &[SystemCalls, CpuTime],
            Size::Added(40.0),
        ),
    ]
};
/// The smallest cost in nanoseconds of a clock of which a single change is planted: 20 cycles.
/// *Definition*: the aim that was set.
const MIN_CHANGED_NS: f64 = 7.0;

/// What `compare` found of planted changes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct FoundChanges {
    /// The number of pairs of runs.
    pub pairs: u32,
    /// Pairs in which more than half of the changed clocks of a family were named with the right
    /// sign.
    pub found: u32,
    /// Pairs in which a changed clock was named with the wrong sign.
    pub wrong_sign: u32,
    /// Pairs in which an unchanged clock was named.
    pub others: u32,
    /// The number of changed clocks with an interval.
    pub intervals: u32,
    /// Intervals that contain the planted change.
    pub covered: u32,
}

impl PlantedChange {
    const fn of_one(name: &'static str, families: &'static [ClockFamily], share: f64) -> Self {
        Self {
            name,
            families,
            one: true,
            size: Size::Share(share),
        }
    }

    const fn of_all(name: &'static str, families: &'static [ClockFamily], size: Size) -> Self {
        Self {
            name,
            families,
            one: false,
            size,
        }
    }

    /// Draws the share by which the cost of each clock changes.
    fn shares(&self, machine: &Machine, random: &mut StdRng) -> Vec<f64> {
        let sign = if random.random() { 1.0 } else { -1.0 };
        let mut shares = vec![0.0; machine.clocks().count()];
        let mut changed: Vec<(usize, f64)> = machine
            .clocks()
            .enumerate()
            .filter(|(_, (_, family, ns))| {
                self.families.contains(family) && (!self.one || *ns >= MIN_CHANGED_NS)
            })
            .map(|(at, (_, _, ns))| (at, ns))
            .collect();
        if self.one {
            changed = vec![changed[random.random_range(0..changed.len())]];
        }
        for (at, ns) in changed {
            shares[at] = match self.size {
                Size::Share(share) => sign * share,
                Size::Added(added) => added / ns,
            };
        }
        shares
    }

    /// Plants the change between two runs of a machine.
    #[must_use]
    pub fn find(&self, platforms: &[Report], seed: u64) -> FoundChanges {
        let machine = Machine::new(platforms, seed);
        let shares = self.shares(&machine, &mut StdRng::seed_from_u64(seed));
        let comparison = Cell::new(self.name, 1, QUIET, 0.0).compare(&machine, &shares);
        let (mut wrong, mut others) = (0, 0);
        // The changed clocks of each family, and those that are named with the right sign.
        let mut families = [[0; 2]; ClockFamily::ALL.len()];
        let mut found = FoundChanges {
            pairs: 1,
            ..FoundChanges::default()
        };
        for ((id, family, _), share) in machine.clocks().zip(&shares) {
            let mut figures = comparison.figures.iter();
            let cost = figures.find(|figure| figure.timer == id && figure.quantity == COST);
            let Some(cost) = cost else {
                continue;
            };
            if *share == 0.0 {
                others += u32::from(cost.is_changed());
                continue;
            }
            let expected = if *share > 0.0 {
                ChangeVerdict::Worse
            } else {
                ChangeVerdict::Better
            };
            let [changed, right] = &mut families[family as usize];
            *changed += 1;
            let Some(change) = cost.change else {
                continue;
            };
            if change.verdict == expected {
                *right += 1;
            } else if cost.is_changed() {
                wrong += 1;
            }
            if let Some((low, high)) = change.percent.ends() {
                found.intervals += 1;
                found.covered += u32::from((low..=high).contains(&(100.0 * share)));
            }
        }
        let mostly = |[changed, right]: [u32; 2]| 2 * right > changed;
        found.found = u32::from(families.into_iter().any(mostly));
        found.wrong_sign = u32::from(wrong > 0);
        found.others = u32::from(others > 0);
        found
    }
}

impl std::iter::Sum for FoundChanges {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            pairs: sum.pairs + one.pairs,
            found: sum.found + one.found,
            wrong_sign: sum.wrong_sign + one.wrong_sign,
            others: sum.others + one.others,
            intervals: sum.intervals + one.intervals,
            covered: sum.covered + one.covered,
        })
    }
}
