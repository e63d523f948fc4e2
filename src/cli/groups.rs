//! The commands by what they are for, as the help of the program lists them.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use super::Cli;

/// Each command that the help shows, once.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Clocks", &["probe", "inspect", "check", "watch", "platform", "list"]),
    ("Waits", &["wait", "period"]),
    ("Use", &["pick", "measure", "score"]),
    ("Reports", &["table", "compare", "report", "publish", "analyse", "validate", "contribute"]),
    ("Fleets", &["fleet", "collect"]),
    ("Agents and proof", &["agent", "agent-check", "selftest", "completions"]),
];

/// The command line, whose help has groups.
pub fn command() -> Command {
    let command = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        listed(&command)
    );
    command.help_template(template)
}

fn listed(command: &Command) -> String {
    let mut listed = String::new();
    for (group, names) in GROUPS {
        write!(listed, "\n{group}:\n").expect("a string takes all");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            writeln!(listed, "  {name:<13}{about}").expect("a string takes all");
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_listed_once_and_fits_80_columns() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
        let help = super::command().render_help().to_string();
        let wide = help.lines().take_while(|line| *line != "Options:").find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
}
