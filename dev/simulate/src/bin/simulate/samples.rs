//! Judges `samples` by made-up files of durations, and checks the counts against the requirements.

use std::collections::BTreeMap;
use std::io::Write;

use reporting::format::{Format, Render, Style};
use reporting::table::CellValue;
use serde::Serialize;
use simulate::samples::{Counts, score};
use timermeter::commands::CommandError;

use super::{Args, print, short_percent, table};

/// The default number of files of each kind.
const DEFAULT_COUNT: u32 = 50;

/// The largest share of wrong steps and limits, and the least share of steps that are found among
/// those that can be.
const REQUIRED: [f64; 2] = [0.01, 0.95];

#[derive(Serialize)]
struct SamplesOutcome {
    seed: u64,
    kinds: BTreeMap<&'static str, Counts>,
    all: Counts,
    failures: Vec<String>,
}

/// Judges what is found in made-up files, and prints the outcome.
///
/// # Errors
/// If a requirement is not met.
pub fn run(args: &Args, output: &mut dyn Write) -> Result<(), CommandError> {
    let kinds = score(args.seed, args.count.unwrap_or(DEFAULT_COUNT));
    let mut all = Counts::default();
    for counts in kinds.values() {
        all.files += counts.files;
        all.found += counts.found;
        all.limited += counts.limited;
        all.wrong += counts.wrong;
        all.clear += counts.clear;
        all.clear_found += counts.clear_found;
    }
    let share = |part: u32, of: u32| f64::from(part) / f64::from(of.max(1));
    let mut failures = Vec::new();
    if share(all.wrong, all.files) > REQUIRED[0] {
        failures.push(format!("{} of {} answers are wrong", all.wrong, all.files));
    }
    if share(all.clear_found, all.clear) < REQUIRED[1] {
        failures.push(format!(
            "{} of {} clear steps are found",
            all.clear_found, all.clear
        ));
    }
    let outcome = SamplesOutcome {
        seed: args.seed,
        kinds,
        all,
        failures,
    };
    print((&outcome, &outcome.failures), args.format, as_table, output)
}

fn as_table(outcome: &SamplesOutcome, output: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(
        output,
        "made-up files of durations, seed {}\n",
        outcome.seed
    )?;
    let mut table = table(&[
        "files", "number", "found", "limit", "wrong", "clear", "found %",
    ]);
    for (kind, counts) in outcome.kinds.iter().chain([(&"all", &outcome.all)]) {
        let numbers = [
            counts.files,
            counts.found,
            counts.limited,
            counts.wrong,
            counts.clear,
        ];
        let found =
            (counts.clear > 0).then(|| f64::from(counts.clear_found) / f64::from(counts.clear));
        let cells = numbers.map(|number| CellValue::from(number.to_string()));
        let first = [CellValue::from(*kind)];
        let last = [short_percent(found).into()];
        table.push(first.into_iter().chain(cells).chain(last).collect());
    }
    write!(
        output,
        "{}",
        table.rendered(Format::Table, Style::default())
    )?;
    Ok(())
}
