//! The table of constants in METHODOLOGY.md against the code; and, run on demand, how far the figures of `selftest` move when each
//! is halved and doubled:
//!
//! ```text
//! cargo test --test constants -- --ignored --nocapture
//! ```

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
const STRUCTURE: [&str; 1] = ["KINDS"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

/// Names in upper case, each with its files, as METHODOLOGY.md lists them.
fn listed() -> Vec<(String, String)> {
    let methodology = text("METHODOLOGY.md");
    let section = methodology.split("\n## Constants of judgement").nth(1).expect("it has the section");
    // Below the tables stands what hangs on each, which lists nothing.
    let section = section.split("\n##").next().unwrap();
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(|name| name.rsplit("::").next().unwrap().to_owned()).collect()
    };
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let pairs = rows.flat_map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let names = quoted(cells[1]).into_iter().filter(|name| is_constant(name));
        let files = quoted(cells[2]);
        names
            .flat_map(move |name| files.clone().into_iter().map(move |file| (name.clone(), file)))
            .collect::<Vec<_>>()
    });
    pairs.collect()
}

fn is_constant(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
}

/// The numbers of a file that have a name, tests left out.
fn constants(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]").next().unwrap();
    let named = |line: &str| {
        let (name, rest) = line
            .trim_start()
            .trim_start_matches("pub(super) ")
            .trim_start_matches("pub ")
            .strip_prefix("const ")?
            .split_once(": ")?;
        let number = rest.trim_start_matches(['(', '[']);
        ["f64", "usize", "u32", "u64", "i64", "Duration", "Range<u32>"]
            .iter()
            .any(|of| number.starts_with(of))
            .then(|| name.to_owned())
    };
    code.lines().filter_map(named).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.flat_map(of).filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

#[test]
fn what_methodology_lists_is_in_the_code() {
    let path = |file: &str| {
        let places = ["", "src", "estimators"].map(|folder| Path::new(folder).join(file));
        places
            .into_iter()
            .find(|path| root().join(path).exists())
            .unwrap_or_else(|| panic!("{file} is nowhere"))
    };
    let gone = listed().into_iter().filter(|(name, file)| !constants(&text(path(file))).contains(name));
    assert_eq!(gone.collect::<Vec<_>>(), []);
}

#[test]
fn whatever_the_analysis_decides_by_is_listed() {
    let listed = listed();
    let estimators = root().join("estimators");
    // Figures in the sense of pictures: nothing is decided there.
    let pictures = "analysis/plot_data.rs";
    let unlisted = files_below(&estimators.join("analysis"))
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .flat_map(|path| {
            let file = path.strip_prefix(&estimators).unwrap().to_str().unwrap().replace('\\', "/");
            let names = constants(&fs::read_to_string(&path).unwrap());
            names.into_iter().map(move |name| (name, file.clone()))
        });
    let unlisted = unlisted.filter(|pair| !listed.contains(pair) && !STRUCTURE.contains(&pair.0.as_str()));
    assert_eq!(
        unlisted.filter(|(_, file)| !file.contains("/tests") && file != pictures).collect::<Vec<_>>(),
        []
    );
}

/// `selftest` of `program` with one constant multiplied; `None` where the program failed.
fn selftest(program: &Path, population: Option<&str>, varied: &str, by: &str) -> Option<Value> {
    let count = std::env::var("TIMERMETER_CONSTANTS_COUNT").unwrap_or_else(|_| "150".into());
    let args = ["selftest", "--quick", "--seed", "20", "--format", "json", "--count", &count];
    let output = Command::new(program)
        .args(args)
        .args(population)
        .env("VARIED", format!("{varied}={by}"))
        .stderr(Stdio::null())
        .output();
    serde_json::from_slice(&output.expect("it starts").stdout).ok()
}

/// Which simulated timers a file of the analysis is about: those that are read, or those that wait.
fn population(file: &str) -> Option<&'static str> {
    let waits = ["analysis/waits/", "analysis/periods", "analysis/quantiles.rs"];
    waits.iter().any(|of| file.starts_with(of)).then_some("--waits")
}

/// The figures of a selftest, by name: shares, and widths as they are.
fn figures(outcome: &Value) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for judged in outcome["references"].as_array().into_iter().flatten() {
        let reference = judged["reference"].as_str().unwrap_or_default();
        for figure in ["accuracy", "cost", "spread", "quality"] {
            for (key, name) in [("right", "right"), ("covered", "covered"), ("half_width", "width")] {
                let value = judged["all"][figure][key].as_f64().unwrap_or(f64::NAN);
                found.insert(format!("{name} {figure} {reference}"), value);
            }
        }
        found.insert(format!("missed {reference}"), judged["all"]["misses"].as_f64().unwrap_or(f64::NAN));
    }
    if let Some(numbers) = outcome["numbers_for_irregular"].as_f64() {
        found.insert("numbers".into(), numbers);
    }
    for told in ["granularity", "missed_expirations"] {
        let kinds = || outcome[told].as_object().into_iter().flat_map(|kinds| kinds.values());
        let sum = |of: &str| kinds().filter_map(|kind| kind[of].as_f64()).sum::<f64>();
        found.insert(format!("right {told}"), sum("right") / sum("timers").max(1.0));
    }
    for (name, judged) in outcome["figures"].as_object().into_iter().flatten() {
        for (key, figure) in [("right", "right"), ("covered", "covered"), ("half_width", "width")] {
            found.insert(format!("{figure} {name}"), judged[key].as_f64().unwrap_or(f64::NAN));
        }
    }
    found
}

/// The largest change of any figure whose name begins with `kind`: in points, or of a width as a percentage.
fn moved(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>, kind: &str) -> f64 {
    let changes = before.iter().filter(|(name, _)| name.starts_with(kind)).map(|(name, before)| {
        let after = after.get(name).copied().unwrap_or(f64::NAN);
        let change = if kind == "width" && after != *before { after / before - 1.0 } else { after - before };
        100.0 * change
    });
    changes.filter(|change| !change.is_nan()).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

/// The long test below is run seldom; that constants can still be told from the rest of the estimators is seen every time.
#[test]
fn constants_can_be_varied() {
    if skipping::emulated("no compiler runs") {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("constants-checked");
    variable::check(&folder, root(), &listed());
}

#[test]
#[ignore = "forty minutes: each constant of the analysis is halved and doubled"]
fn how_far_figures_move_with_each_constant() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("constants");
    let program = variable::build(&folder, root(), &listed());
    let as_they_are = [None, Some("--waits")].map(|population| {
        (population, figures(&selftest(&program, population, "", "1").expect("it runs as it is")))
    });
    let (mut table, mut unmoved) = (String::new(), BTreeMap::<String, Vec<String>>::new());
    for (name, file) in listed().into_iter().filter(|(name, file)| variable::is_varied(name, file)) {
        let population = population(&file);
        let (_, as_it_is) = as_they_are.iter().find(|(of, _)| *of == population).expect("both ran");
        let with = |by: &str| selftest(&program, population, &format!("{file}:{name}"), by);
        let cells: Vec<String> =
            ["0.5", "2"].iter().map(|by| row(as_it_is, with(by).as_ref().map(figures).as_ref())).collect();
        if cells.iter().all(String::is_empty) {
            unmoved.entry(file).or_default().push(format!("`{name}`"));
            continue;
        }
        let cells = cells.iter().map(|cell| if cell.is_empty() { "nothing" } else { cell });
        let line = format!("| `{name}` | `{file}` | {} |", cells.collect::<Vec<_>>().join(" | "));
        println!("{line}");
        writeln!(table, "{line}").unwrap();
    }
    let unmoved: Vec<_> =
        unmoved.iter().map(|(file, names)| format!("{} (`{file}`)", names.join(", "))).collect();
    println!(
        "\n| name | file | halved | doubled |\n|---|---|---|---|\n{table}\nNothing moves with {}.",
        unmoved.join("; ")
    );
}

/// What moves, in short; empty where nothing does.
fn row(before: &BTreeMap<String, f64>, after: Option<&BTreeMap<String, f64>>) -> String {
    let Some(after) = after else { return "it fails".into() };
    let shown = ["right", "covered", "width", "missed"].iter().filter_map(|kind| {
        let moved = moved(before, after, kind);
        let unit = if *kind == "width" { " %" } else { "" };
        (moved.abs() >= 0.05).then(|| format!("{kind} {moved:+.1}{unit}"))
    });
    let known = |figures: &BTreeMap<String, f64>| figures.values().filter(|figure| !figure.is_nan()).count();
    let missing = (known(after) < known(before)).then(|| "figures are missing".to_owned());
    let numbers =
        after.get("numbers").zip(before.get("numbers")).map_or(0.0, |(after, before)| after - before);
    let numbers = (numbers != 0.0).then(|| format!("numbers {numbers:+}"));
    missing.into_iter().chain(shown).chain(numbers).collect::<Vec<_>>().join(", ")
}
