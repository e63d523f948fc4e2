//! Judges `compare` on simulated runs: how often it names a change between runs of an unchanged
//! machine, and which planted changes it finds.

mod machine;
mod neighbours;
mod variation;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use estimators::model::Report;
use reporting::comparison::{COST, ChangeVerdict, Comparison};
use reporting::parallel;
use timermeter::commands::CommandError;

use self::machine::{Conditions, Machine, Moment, platforms};
use self::variation::ClockFamily;
use crate::FoundFigure;
use crate::figure::Unit;
use crate::tally::{Among, Bound, Judged, Question, Requirement};

/// A use of `compare` on an unchanged machine.
#[derive(Clone, Copy, Debug)]
struct Cell {
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
const CELLS: [Cell; 12] = [
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

    /// Compares runs of an unchanged machine.
    fn judge(&self, platforms: &[Report], seed: u64) -> Judged {
        let machine = Machine::new(platforms, seed);
        let comparison = self.compare(&machine, &vec![0.0; machine.clocks().count()]);
        let figures = comparison.figures.iter();
        let figures = figures.filter(|figure| figure.is_changed());
        let families = comparison.families.iter();
        let families = families.filter(|family| family.change.verdict.is_change());
        let quantities: Vec<&str> = figures
            .map(|figure| figure.quantity)
            .chain(families.map(|_| COST))
            .collect();
        let is_named = !quantities.is_empty() || !comparison.answers.is_empty();
        Judged {
            kinds: vec![format!("{}, {} a side", self.name, self.side)],
            answers: vec![
                (NAMED, is_named),
                ("cost named", quantities.contains(&COST)),
            ],
            wrong: is_named.then(|| format!("{seed}: {}", comparison.sentences.join(" "))),
            ..Judged::default()
        }
    }
}

/// What is required of comparisons of unchanged machines.
pub const REQUIRED: [Requirement; 1] = [Requirement(
    Question::Answer(NAMED),
    Among::EachKind,
    Bound::AtMost(0.01),
)];
/// A change is named although nothing changed.
const NAMED: &str = "named";
/// The number of pairs of unchanged runs for each pair with a planted change. *Judgement*.
const PAIRS_PER_CHANGE: usize = 5;

/// Judges `count` comparisons of unchanged machines of each kind, and some with planted changes.
///
/// # Errors
/// If a kept report cannot be read.
pub fn judge(count: usize, seed: u64) -> Result<Vec<Judged>, CommandError> {
    let platforms = platforms()?;
    // No two seeds up to a billion share a machine.
    let seeds = (0..count as u64).map(|pair| seed.wrapping_mul(1_000_000_007).wrapping_add(pair));
    let seeds: Vec<u64> = seeds.collect();
    let unchanged = CELLS.iter();
    let unchanged = unchanged.map(|cell| parallel::map(&seeds, |it| cell.judge(&platforms, *it)));
    let some = &seeds[..count.div_ceil(PAIRS_PER_CHANGE)];
    let changed = CHANGES.iter();
    let changed = changed.map(|change| parallel::map(some, |it| change.judge(&platforms, *it)));
    Ok(unchanged.chain(changed).flatten().collect())
}

/// A change that is planted between runs of a quiet machine, one a side.
#[derive(Clone, Copy, Debug)]
struct PlantedChange {
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
const CHANGES: [PlantedChange; 6] = {
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

    /// Plants the change between two runs of a machine. It is found if more than half of the changed
    /// clocks of a family are named with the right sign.
    fn judge(&self, platforms: &[Report], seed: u64) -> Judged {
        let machine = Machine::new(platforms, seed);
        let shares = self.shares(&machine, &mut StdRng::seed_from_u64(seed));
        let comparison = Cell::new(self.name, 1, QUIET, 0.0).compare(&machine, &shares);
        let (mut wrong, mut others, mut figures) = (false, false, Vec::new());
        // The changed clocks of each family, and those that are named with the right sign.
        let mut families = [[0; 2]; ClockFamily::ALL.len()];
        for ((id, family, _), share) in machine.clocks().zip(&shares) {
            let mut found = comparison.figures.iter();
            let cost = found.find(|figure| figure.timer == id && figure.quantity == COST);
            let Some(cost) = cost else {
                continue;
            };
            if *share == 0.0 {
                others |= cost.is_changed();
                continue;
            }
            let [changed, right] = &mut families[family as usize];
            *changed += 1;
            let Some(change) = cost.change else {
                continue;
            };
            let is_right = change.verdict
                == match *share > 0.0 {
                    true => ChangeVerdict::Worse,
                    false => ChangeVerdict::Better,
                };
            *right += u32::from(is_right);
            wrong |= !is_right && cost.is_changed();
            let figure = FoundFigure::new(Some(100.0 * share), Some(change.percent));
            figures.push(("change, points", figure, Unit::Of(1.0)));
        }
        let mostly = |[changed, right]: [u32; 2]| 2 * right > changed;
        Judged {
            kinds: vec![self.name.into()],
            answers: vec![
                ("found", families.into_iter().any(mostly)),
                ("wrong sign", wrong),
                ("another clock", others),
            ],
            figures,
            wrong: None,
        }
    }
}
