//! Writes manual pages and shell completions from the definitions of the flags.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use clap_complete::{Generator, Shell};
use timermeter::cli::{CompletionsArgs, help};
use timermeter::commands::completions;

use crate::Outcome;

/// Writes `man/` with a page for each verb and `completions/` with a file for each shell.
pub fn write(folder: &Path) -> Outcome<()> {
    let (man, shells) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&shells)?;
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(help::command(), man)?;
    for shell in Shell::value_variants() {
        let mut script = Vec::new();
        completions::run(&CompletionsArgs { shell: *shell }, &mut script)?;
        fs::write(shells.join(shell.file_name("timermeter")), script)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use timermeter::cli::Cli;

    use super::*;

    /// Returns the names of the visible verbs, each with its visible long flags.
    fn verbs() -> Vec<(String, Vec<String>)> {
        let mut command = Cli::command();
        command.build();
        let visible = command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
        let flags = |verb: &clap::Command| {
            let visible = verb.get_arguments().filter(|flag| !flag.is_hide_set());
            visible
                .filter_map(|flag| flag.get_long())
                .map(str::to_owned)
                .collect()
        };
        visible
            .map(|verb| (verb.get_name().to_owned(), flags(verb)))
            .collect()
    }

    #[test]
    fn every_verb_has_manual_and_completions() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let read = |name: &str| {
            fs::read_to_string(folder.path().join(name))
                .unwrap()
                .replace('\\', "")
        };
        let overview = read("man/timermeter.1");
        let shells = [
            "timermeter.bash",
            "_timermeter",
            "timermeter.fish",
            "_timermeter.ps1",
            "timermeter.elv",
        ];
        let shells = shells.map(|name| read(&format!("completions/{name}")));
        assert!(verbs().len() > 10, "{:?}", verbs());
        for (verb, flags) in verbs() {
            assert!(
                overview.contains(&format!("timermeter-{verb}(1)")),
                "{verb}"
            );
            let page = read(&format!("man/timermeter-{verb}.1"));
            for flag in flags {
                for script in &shells {
                    assert!(script.contains(&flag), "{verb} --{flag}");
                }
                assert!(page.contains(&format!("--{flag}")), "{verb} --{flag}");
            }
        }
        let pages = fs::read_dir(folder.path().join("man")).unwrap().count();
        assert_eq!(pages, verbs().len() + 1, "only verbs have a page");
    }
}
