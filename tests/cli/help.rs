//! Help texts: `-h` fits a screen and has examples; `--help` has groups.

use assert_cmd::Command;

use super::{printed, program};

/// The largest number of lines of `-h` on a terminal of 80 columns.
const MAX_LINES: usize = 27;

fn help(words: &[&str]) -> String {
    let shown = Command::new(program())
        .args(words)
        .env("COLUMNS", "80")
        .assert();
    printed(&shown.success())
}

/// The names of the visible commands, as the help lists them.
fn verbs() -> Vec<String> {
    let all = help(&["-h"]);
    let listed = all
        .lines()
        .skip_while(|line| *line != "Clocks:")
        .take_while(|line| *line != "Options:");
    let names = listed.filter_map(|line| line.strip_prefix("  "));
    names
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

#[test]
fn short_help_fits_with_examples() {
    let verbs = verbs();
    assert!((10..=16).contains(&verbs.len()), "{verbs:?}");
    for verb in &verbs {
        let text = help(&[verb, "-h"]);
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "{verb}: {lines} lines\n{text}");
        let examples = text.split("\nExamples:\n").nth(1).unwrap_or_default();
        let examples = examples.lines().filter(|line| line.starts_with("  "));
        assert_eq!(examples.clone().count(), 2, "{text}");
        for example in examples {
            assert!(
                example.contains("timermeter ") && example.chars().count() <= 80,
                "{text}"
            );
        }
    }
}
