//! Judges `compare`: counts the changes that it names between runs of unchanged machines, checks
//! them against the requirement, and counts the planted changes that it finds.

use std::io::Write;

use reporting::format::{Format, Render, Style};
use reporting::parallel;
use reporting::table::CellValue;
use reporting::text::hang;
use serde::Serialize;
use simulate::comparing::machine::platforms;
use simulate::comparing::{CELLS, CHANGES, Cell, FalseChange, FoundChanges};
use timermeter::commands::{CommandError, terminal_style};

use super::{Args, print, progress, table};

/// The largest share of comparisons of unchanged machines that may name a change.
/// *Definition*: the aim that was set.
const MAX_FALSE: f64 = 0.01;
/// The number of pairs of unchanged runs for each pair with a planted change. *Judgement*.
const PAIRS_PER_CHANGE: u32 = 5;

/// Comparisons of unchanged machines.
#[derive(Serialize)]
struct Unchanged {
    conditions: &'static str,
    side: u32,
    /// Comparisons that name a change.
    named: u32,
    /// Comparisons that name a changed cost.
    costs: u32,
    /// What these comparisons say.
    false_changes: Vec<FalseChange>,
}

#[derive(Serialize)]
struct Planted {
    change: &'static str,
    #[serde(flatten)]
    found: FoundChanges,
}

#[derive(Serialize)]
struct Outcome {
    seed: u64,
    pairs: u32,
    unchanged: Vec<Unchanged>,
    planted: Vec<Planted>,
    max_false: f64,
    passed: bool,
    /// A sentence for each kind of comparison that names changes too often.
    failures: Vec<String>,
}

/// Judges `compare` and prints the outcome.
///
/// # Errors
/// If comparisons of unchanged machines name changes too often.
pub fn run(args: &Args, output: &mut dyn Write) -> Result<(), CommandError> {
    let platforms = platforms()?;
    let pairs = u64::from(args.pairs);
    // No two seeds up to a billion share a machine.
    let seeds: Vec<u64> = (0..pairs)
        .map(|pair| args.seed.wrapping_mul(1_000_000_007).wrapping_add(pair))
        .collect();
    let progress = progress(CELLS.len() + CHANGES.len());
    let of_cell = |cell: &Cell| {
        let found = parallel::map(&seeds, |seed| cell.false_change(&platforms, *seed));
        progress.inc(1);
        let false_changes: Vec<FalseChange> = found.into_iter().flatten().collect();
        let of_costs = false_changes.iter().filter(|change| change.of_cost);
        Unchanged {
            conditions: cell.name,
            side: cell.side,
            named: false_changes.len() as u32,
            costs: of_costs.count() as u32,
            false_changes,
        }
    };
    let unchanged: Vec<Unchanged> = CELLS.iter().map(of_cell).collect();
    let some = &seeds[..args.pairs.div_ceil(PAIRS_PER_CHANGE) as usize];
    let planted = CHANGES.iter().map(|change| {
        let found = parallel::map(some, |seed| change.find(&platforms, *seed));
        progress.inc(1);
        Planted {
            change: change.name,
            found: found.into_iter().sum(),
        }
    });
    let planted = planted.collect();
    progress.finish_and_clear();
    let allowed = f64::from(args.pairs) * MAX_FALSE;
    let failures: Vec<String> = unchanged
        .iter()
        .filter(|cell| f64::from(cell.named) > allowed)
        .map(|cell| {
            format!(
                "{}: {} of {} comparisons of unchanged machines name a change; {allowed:.0} are allowed",
                cell.heading(),
                cell.named,
                args.pairs
            )
        })
        .collect();
    let outcome = Outcome {
        seed: args.seed,
        pairs: args.pairs,
        unchanged,
        planted,
        max_false: MAX_FALSE,
        passed: failures.is_empty(),
        failures,
    };
    print((&outcome, &outcome.failures), args.format, as_table, output)
}

impl Unchanged {
    fn heading(&self) -> String {
        format!("{}, {} a side", self.conditions, self.side)
    }
}

fn percent(part: u32, all: u32) -> CellValue {
    let share = 100.0 * f64::from(part) / f64::from(all.max(1));
    format!("{share:.1}").into()
}

fn as_table(outcome: &Outcome, output: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(
        output,
        "simulated comparisons, seed {}, {} pairs each\n",
        outcome.seed, outcome.pairs
    )?;
    let mut unchanged = table(&["nothing changed", "a side", "named %", "cost %"]);
    for cell in &outcome.unchanged {
        unchanged.push(vec![
            cell.conditions.into(),
            cell.side.to_string().into(),
            percent(cell.named, outcome.pairs),
            percent(cell.costs, outcome.pairs),
        ]);
    }
    writeln!(
        output,
        "{}",
        unchanged.rendered(Format::Table, Style::default())
    )?;
    let mut planted = table(&["changed", "found %", "wrong %", "others %", "covered %"]);
    for Planted { change, found } in &outcome.planted {
        planted.push(vec![
            (*change).into(),
            percent(found.found, found.pairs),
            percent(found.wrong_sign, found.pairs),
            percent(found.others, found.pairs),
            percent(found.covered, found.intervals),
        ]);
    }
    write!(
        output,
        "{}",
        planted.rendered(Format::Table, Style::default())
    )?;
    let mut legend = String::new();
    for line in LEGEND.lines() {
        hang(&mut legend, "", "  ", line, terminal_style().columns());
    }
    write!(output, "\n{legend}")?;
    Ok(())
}

const LEGEND: &str = "named: comparisons that name a change although nothing changed; cost: that name a changed cost; \
kernel ±: standard deviation between runs of what the kernel's clocks have in common
found: comparisons that name more than half of the changed clocks of a family with the right sign; wrong: that name one with the wrong sign; \
others: that name an unchanged clock; covered: 95 % intervals of changed clocks that contain the change";
