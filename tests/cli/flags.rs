//! The number of flags: each is a thing to learn, and to keep.

use std::collections::BTreeSet;

use timermeter::cli::help;

/// The largest number of distinct long flags over all commands, hidden ones included.
const MAX_FLAGS: usize = 45;

#[test]
fn commands_have_few_flags() {
    let command = help::command();
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
