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
        let mut command = Cli::command();
        command.build();
        let verbs = command.get_subcommands();
        let visible = verbs.filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
        let mut count = 0;
        for verb in visible {
            let name = verb.get_name();
            assert!(
                overview.contains(&format!("timermeter-{name}(1)")),
                "{name}"
            );
            let page = read(&format!("man/timermeter-{name}.1"));
            let shown = verb.get_arguments().filter(|flag| !flag.is_hide_set());
            for flag in shown.filter_map(|flag| flag.get_long()) {
                let in_all = shells.iter().all(|script| script.contains(flag));
                assert!(
                    in_all && page.contains(&format!("--{flag}")),
                    "{name} --{flag}"
                );
            }
            count += 1;
        }
        let pages = fs::read_dir(folder.path().join("man")).unwrap().count();
        assert!(count > 10 && pages == count + 1, "only verbs have a page");
    }
}
