//! docs/constants.md against the doc comments of the constants; and, run on demand, how far the
//! figures of `simulate` move when each is halved and doubled, which docs/constants-varied.md
//! holds:
//!
//! ```text
//! TIMERMETER_UPDATE=1 cargo test --test constants
//! TIMERMETER_UPDATE=1 cargo test --test constants -- --ignored --nocapture
//! ```

mod documented;
#[path = "../skipping/mod.rs"]
mod skipping;
mod variable;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Lengths of arrays, kinds of things, what stands for something that is unknown: no judgements.
const STRUCTURE: [&str; 1] = ["MODEL_COUNT"];

/// What hangs on each constant, found by a run of the long test below.
const VARIED: &str = "docs/constants-varied.md";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(&path))
        .unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

/// Names of constants with their files, as `documented` lists them.
fn listed() -> Vec<(String, String)> {
    documented::constants()
        .into_iter()
        .map(|constant| (constant.name, constant.file))
        .collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| {
        if path.is_dir() {
            files_below(&path)
        } else {
            vec![path]
        }
    };
    entries
        .flat_map(of)
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect()
}

#[test]
fn estimator_constants_state_their_reasons() {
    let silent = documented::all().into_iter().filter(|constant| {
        let plots = constant.file == "profile/plot_data.rs";
        let estimates = variable::is_estimator(&constant.file) && !plots;
        estimates && constant.rests_on.is_none() && !STRUCTURE.contains(&constant.name.as_str())
    });
    assert_eq!(
        silent
            .map(|constant| (constant.name, constant.file))
            .collect::<Vec<_>>(),
        []
    );
}

#[test]
fn constants_page_is_current() {
    let written = documented::page();
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(root().join("docs/constants.md"), &written).unwrap();
    }
    assert!(
        text("docs/constants.md").replace("\r\n", "\n") == written,
        "docs/constants.md is not up to date: TIMERMETER_UPDATE=1 cargo test --test constants"
    );
}

/// A constant is called the default of a search only where the run below found that nothing moves
/// with it.
#[test]
fn defaults_were_found_to_move_nothing() {
    let varied = text(VARIED);
    let unmoved = varied
        .split("Nothing moves with")
        .nth(1)
        .expect("it ends with what nothing moves with");
    let unmoved = |name: &str, file: &str| {
        let end = unmoved.find(&format!("(`{file}`)"));
        let of_file = end
            .map(|end| &unmoved[..end])
            .and_then(|before| before.rsplit(';').next());
        of_file.is_some_and(|names| names.contains(&format!("`{name}`")))
    };
    let wrong = documented::constants().into_iter().filter(|constant| {
        let default = constant
            .rests_on
            .as_deref()
            .is_some_and(|why| why.starts_with("*Default*"));
        default && !unmoved(&constant.name, &constant.file)
    });
    assert_eq!(
        wrong
            .map(|constant| (constant.name, constant.file))
            .collect::<Vec<_>>(),
        []
    );
}

/// What `program` finds with one constant multiplied; `None` where the program failed.
fn simulate(program: &Path, population: Option<&str>, varied: &str, by: &str) -> Option<Value> {
    let count = std::env::var("TIMERMETER_CONSTANTS_COUNT").unwrap_or_else(|_| "150".into());
    let args = [
        "--quick", "--seed", "20", "--format", "json", "--count", &count,
    ];
    let output = Command::new(program)
        .args(args)
        .args(population)
        .env("VARIED", format!("{varied}={by}"))
        .stderr(Stdio::null())
        .output();
    serde_json::from_slice(&output.expect("it starts").stdout).ok()
}

/// The simulated population that a file of the estimators is about: clocks, or waits.
fn population(file: &str) -> Option<&'static str> {
    let waits = ["waits/", "periods/", "statistics/quantiles.rs"];
    waits
        .iter()
        .any(|of| file.starts_with(of))
        .then_some("--waits")
}

/// The figures of a simulation, by name: shares, and widths as they are.
fn figures(outcome: &Value) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for judged in outcome["references"].as_array().into_iter().flatten() {
        let reference = judged["reference"].as_str().unwrap_or_default();
        for figure in ["resolution", "cost", "spread", "quality"] {
            for (key, name) in [
                ("right", "right"),
                ("covered", "covered"),
                ("half_width", "width"),
            ] {
                let value = judged["all"][figure][key].as_f64().unwrap_or(f64::NAN);
                found.insert(format!("{name} {figure} {reference}"), value);
            }
        }
        found.insert(
            format!("missed {reference}"),
            judged["all"]["misses"].as_f64().unwrap_or(f64::NAN),
        );
    }
    if let Some(numbers) = outcome["numbers_for_irregular"].as_f64() {
        found.insert("numbers".into(), numbers);
    }
    for figure in ["granularity", "missed_expirations"] {
        let kinds = || {
            outcome[figure]
                .as_object()
                .into_iter()
                .flat_map(|kinds| kinds.values())
        };
        let sum = |of: &str| kinds().filter_map(|kind| kind[of].as_f64()).sum::<f64>();
        found.insert(
            format!("right {figure}"),
            sum("right") / sum("timers").max(1.0),
        );
    }
    for (name, judged) in outcome["figures"].as_object().into_iter().flatten() {
        for (key, figure) in [
            ("right", "right"),
            ("covered", "covered"),
            ("half_width", "width"),
        ] {
            found.insert(
                format!("{figure} {name}"),
                judged[key].as_f64().unwrap_or(f64::NAN),
            );
        }
    }
    found
}

/// The largest change of any figure whose name begins with `kind`: in points, or of a width as a
/// percentage.
fn moved(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>, kind: &str) -> f64 {
    let changes = before
        .iter()
        .filter(|(name, _)| name.starts_with(kind))
        .map(|(name, before)| {
            let after = after.get(name).copied().unwrap_or(f64::NAN);
            let change = if kind == "width" && after != *before {
                after / before - 1.0
            } else {
                after - before
            };
            100.0 * change
        });
    changes
        .filter(|change| !change.is_nan())
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))
        .unwrap_or(0.0)
}

/// The long test below is run seldom; that constants can still be figure from the rest of the
/// estimators is seen more often.
#[test]
#[ignore = "compiles a copy of the estimators"]
fn constants_can_be_varied() {
    if skipping::emulated("no compiler runs") {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("constants-checked");
    variable::check(&folder, root(), &listed());
}

#[test]
#[ignore = "forty minutes: each constant of the estimators is halved and doubled"]
fn sensitivity_to_each_constant() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("constants");
    let program = variable::build(&folder, root(), &listed());
    let as_they_are = [None, Some("--waits")].map(|population| {
        (
            population,
            figures(&simulate(&program, population, "", "1").expect("it runs as it is")),
        )
    });
    let (mut table, mut unmoved) = (String::new(), BTreeMap::<String, Vec<String>>::new());
    for (name, file) in listed()
        .into_iter()
        .filter(|(name, file)| variable::is_varied(name, file))
    {
        let population = population(&file);
        let (_, as_it_is) = as_they_are
            .iter()
            .find(|(of, _)| *of == population)
            .expect("both ran");
        let with = |by: &str| simulate(&program, population, &format!("{file}:{name}"), by);
        let cells: Vec<String> = ["0.5", "2"]
            .iter()
            .map(|by| row(as_it_is, with(by).as_ref().map(figures).as_ref()))
            .collect();
        if cells.iter().all(String::is_empty) {
            unmoved.entry(file).or_default().push(format!("`{name}`"));
            continue;
        }
        let cells = cells
            .iter()
            .map(|cell| if cell.is_empty() { "nothing" } else { cell });
        let line = format!(
            "| `{name}` | `{file}` | {} |",
            cells.collect::<Vec<_>>().join(" | ")
        );
        println!("{line}");
        writeln!(table, "{line}").unwrap();
    }
    let unmoved: Vec<_> = unmoved
        .iter()
        .map(|(file, names)| format!("{} (`{file}`)", names.join(", ")))
        .collect();
    let found = format!(
        "| name | file | halved | doubled |\n|---|---|---|---|\n{table}\nNothing moves with {}.\n",
        unmoved.join("; ")
    );
    println!("\n{found}");
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        let page = text(VARIED);
        let above = page.split("| name |").next().unwrap();
        fs::write(root().join(VARIED), format!("{above}{found}")).unwrap();
    }
}

/// What moves, in short; empty where nothing does.
fn row(before: &BTreeMap<String, f64>, after: Option<&BTreeMap<String, f64>>) -> String {
    let Some(after) = after else {
        return "it fails".into();
    };
    let shown = ["right", "covered", "width", "missed"]
        .iter()
        .filter_map(|kind| {
            let moved = moved(before, after, kind);
            let unit = if *kind == "width" { " %" } else { "" };
            (moved.abs() >= 0.05).then(|| format!("{kind} {moved:+.1}{unit}"))
        });
    let known = |figures: &BTreeMap<String, f64>| {
        figures.values().filter(|figure| !figure.is_nan()).count()
    };
    let missing = (known(after) < known(before)).then(|| "figures are missing".to_owned());
    let numbers = after
        .get("numbers")
        .zip(before.get("numbers"))
        .map_or(0.0, |(after, before)| after - before);
    let numbers = (numbers != 0.0).then(|| format!("numbers {numbers:+}"));
    missing
        .into_iter()
        .chain(shown)
        .chain(numbers)
        .collect::<Vec<_>>()
        .join(", ")
}
