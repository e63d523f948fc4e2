//! Builds the command line with its help: the list of commands in groups, the options in groups, and
//! the exit statuses. Also defines the arguments of `completions`.

use std::fmt::Write as _;

use clap::{Arg, Args, Command, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::output::{node, with_formats};
use reporting::format::Format;

/// Commands with the output formats that they support.
type Verbs = &'static [(&'static str, &'static [Format])];

/// The groups of commands in the help: their titles and commands.
const GROUPS: [(&str, Verbs); 6] = [
    (
        "Clocks",
        &[
            ("probe", Format::REPORT),
            ("check", Format::ANSWER),
            ("watch", Format::EVENTS),
            ("list", Format::ANSWER),
        ],
    ),
    ("Waits", &[("wait", Format::REPORT)]),
    (
        "Use",
        &[
            ("pick", Format::ANSWER),
            ("measure", Format::MEASUREMENTS),
            ("samples", Format::ANSWER),
        ],
    ),
    (
        "Reports",
        &[
            ("table", Format::TABULATION),
            ("compare", Format::ANSWER),
            ("gate", Format::ANSWER),
            ("publish", &[]),
        ],
    ),
    ("Agents", &[("agent", &[])]),
    ("Help", &[("explain", Format::ANSWER), ("completions", &[])]),
];

/// The headings of options in `--help` with the ids of the options, and whether `-h` has them, too. All
/// other options have no heading.
const HEADINGS: [(&str, bool, &[&str]); 6] = [
    ("Output", true, &["format", "outputs", "verbose"]),
    ("Output", false, &["quiet", "node", "color"]),
    ("Agents and runtimes", false, &["agents", "runtimes"]),
    ("Requirements", false, &["runtime"]),
    (
        "Conditions",
        false,
        &[
            "cpu", "cycles", "seed", "timeout", "slack", "policy", "samples", "time",
        ],
    ),
    ("Files", false, &["from", "trace", "save", "baseline"]),
];

/// The commands that may measure, whose results may have the name of this machine.
const MEASURING: [&str; 7] = [
    "answer", "probe", "wait", "check", "measure", "compare", "gate",
];

/// The options of `probe --from`.
const PRINTING: [&str; 6] = ["from", "timers", "format", "outputs", "verbose", "save"];

/// The number of examples in `-h`.
const SHORT_EXAMPLES: usize = 2;

/// The command line with its grouped help.
pub fn command() -> Command {
    let mut command = with_formats(Cli::command().arg(node()), Format::ANSWER);
    command = command.mut_args(with_heading);
    let verbs = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter());
    for &(name, formats) in verbs.chain(&[("answer", Format::ANSWER)]) {
        command = command.mut_subcommand(name, |verb| {
            let end = short_end(&verb);
            with_formats(verb, formats)
                .args(MEASURING.contains(&name).then(node))
                .mut_args(with_heading)
                .after_help(end)
                .after_long_help(EXIT_STATUS)
        });
    }
    // What prints stored runs measures nothing.
    command = command.mut_subcommand("probe", |verb| {
        let ids = verb
            .get_arguments()
            .map(|argument| argument.get_id().clone());
        let measuring: Vec<_> = ids.filter(|id| !PRINTING.contains(&id.as_str())).collect();
        verb.mut_arg("from", |from| from.conflicts_with_all(measuring))
    });
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        command_list(&command)
    );
    let command = command.help_template(template);
    command.after_long_help(EXIT_STATUS)
}

/// Puts an option below its heading.
fn with_heading(argument: Arg) -> Arg {
    let found = HEADINGS
        .iter()
        .find(|(_, _, ids)| !argument.is_positional() && ids.contains(&argument.get_id().as_str()));
    match found {
        Some((heading, is_short, _)) => argument.help_heading(*heading).hide_short_help(!is_short),
        None => argument,
    }
}

/// The end of `-h`: the first examples and the exit statuses in the description of a command.
fn short_end(verb: &Command) -> String {
    let about = verb.get_long_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let examples = about.split("Examples:\n").nth(1).unwrap_or_default();
    let first: Vec<&str> = examples.lines().take(SHORT_EXAMPLES).collect();
    let statuses = about
        .split("\n\n")
        .filter(|part| part.starts_with("Exit status"));
    let statuses: String = statuses.map(|part| format!("\n{part}")).collect();
    format!("Examples:\n{}{statuses}", first.join("\n"))
}

/// The list of the commands by group, each with its short description.
fn command_list(command: &Command) -> String {
    let mut list = String::new();
    for (group, verbs) in GROUPS {
        write!(list, "\n{group}:\n").expect("writing to a string cannot fail");
        for (name, _) in verbs {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            writeln!(list, "  {name:<13}{about}").expect("writing to a string cannot fail");
        }
    }
    list
}

/// The text at the end of the help of every command.
const EXIT_STATUS: &str = "Exit status:
  0  done
  1  the command failed
  2  wrong usage
  3  done, but not all of it, or a condition holds
  4  a condition could not be decided
  130, 143, 129  ended by SIGINT, SIGTERM or SIGHUP";

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_listed_once() {
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
