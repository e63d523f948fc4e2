//! Help texts: `-h` fits a screen and has examples. Each flag is a thing to learn, and to keep.

use std::collections::BTreeSet;

use timermeter::cli::help as command_line;

use super::{command, printed};

/// The largest number of lines of `-h` on a terminal of 80 columns.
const MAX_LINES: usize = 27;

fn help(line: &str) -> String {
    let shown = command(line).env("COLUMNS", "80").assert();
    printed(&shown.success())
}

/// The names of the visible commands, as the help lists them.
fn verbs() -> Vec<String> {
    let all = help("-h");
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
        let text = help(&format!("{verb} -h"));
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

/// The largest number of distinct long flags over all commands, hidden ones included.
const MAX_FLAGS: usize = 45;

#[test]
fn commands_have_few_flags() {
    let command = command_line::command();
    let all = std::iter::once(&command).chain(command.get_subcommands());
    let flags: BTreeSet<&str> = all
        .flat_map(|command| command.get_arguments())
        .filter_map(|argument| argument.get_long())
        .collect();
    assert!(
        (30..=MAX_FLAGS).contains(&flags.len()),
        "{}: {flags:?}",
        flags.len()
    );
}
