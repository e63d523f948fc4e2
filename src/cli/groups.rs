//! What the help says of all commands: what they are for, in groups, and what they end with. And
//! the arguments of `completions`.

use std::fmt::Write as _;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::output::with_formats;
use crate::table::Format;

/// Commands of the help with the formats in which they print.
type Verbs = &'static [(&'static str, &'static [Format])];

/// Each command that the help shows, once.
const GROUPS: [(&str, Verbs); 5] = [
    (
        "Clocks",
        &[
            ("probe", Format::REPORT),
            ("inspect", Format::ANSWER),
            ("check", Format::ANSWER),
            ("watch", Format::EVENTS),
            ("platform", Format::ANSWER),
            ("list", Format::ANSWER),
        ],
    ),
    (
        "Waits",
        &[("wait", Format::REPORT), ("period", Format::REPORT)],
    ),
    (
        "Use",
        &[("pick", Format::ANSWER), ("measure", Format::MEASUREMENTS)],
    ),
    (
        "Reports",
        &[
            ("table", Format::TABULATION),
            ("compare", Format::ANSWER),
            ("report", Format::REPORT),
            ("publish", &[]),
            ("analyse", Format::REPORT),
        ],
    ),
    (
        "Agents",
        &[
            ("agent", &[]),
            ("agent-check", Format::ANSWER),
            ("completions", &[]),
        ],
    ),
];

/// The command line, whose help has groups.
pub fn command() -> Command {
    let mut command = with_formats(Cli::command(), Format::ANSWER);
    let verbs = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter());
    for &(name, formats) in verbs.chain(&[("answer", Format::ANSWER)]) {
        command = command.mut_subcommand(name, |verb| with_formats(verb, formats));
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        listed(&command)
    );
    command.help_template(template)
}

fn listed(command: &Command) -> String {
    let mut listed = String::new();
    for (group, verbs) in GROUPS {
        write!(listed, "\n{group}:\n").expect("a string takes all");
        for (name, _) in verbs {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            writeln!(listed, "  {name:<13}{about}").expect("a string takes all");
        }
    }
    listed
}

macro_rules! statuses {
    ($($name:ident: $but:literal),* $(,)?) => {$(
        pub(super) const $name: &str = concat!(
            "Exit status:\n  0  done\n  1  the command failed\n  2  wrong usage\n  3  ", $but,
            "\n  130, 143, 129  SIGINT, SIGTERM or SIGHUP ended it"
        );
    )*};
}

/// Of commands that never end with 3.
pub(super) const PLAIN: &str = concat!(
    "Exit status:\n  0  done\n  1  the command failed\n  2  wrong usage\n",
    "  130, 143, 129  SIGINT, SIGTERM or SIGHUP ended it"
);

statuses! {
    ALL: "done, but not all of it, or a condition holds; the help of each command says which",
    TIMERS: "done, but a timer that was asked for by name could not be characterised",
    WAITED: "done, but a timer that was asked for by name could not be characterised, or a wait was later than --break",
    LISTED: "done, but what was named could not be asked for its timers",
    REPORTS: "done, but some of the reports could not be read",
    COMPARED: "done, and a condition of --fail-if holds\n  4  that could not be told: a report could not be read, nothing is in both, or what may have changed could not have been seen",
    CHECKED: "done, and something is a problem; with --counter, a program may not read the counter, or that cannot be told",
    AGENT: "done, and the agent does not keep to the protocol",
    PICKED: "no clock, or no method to wait with, suffices; the nearest is shown",
    MEASURED: "done, but something that was asked for could not be measured",
}

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_listed_once_and_fits_80_columns() {
        let command = Cli::command();
        let shown = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, verbs)| verbs.iter().map(|(name, _)| *name))
            .collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
        let help = super::command().render_help().to_string();
        let wide = help
            .lines()
            .take_while(|line| *line != "Options:")
            .find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
}
