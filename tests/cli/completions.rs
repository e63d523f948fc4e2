//! Shell completions, tested in the shells: which words each shell offers for an incomplete command
//! line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::folder::Folder;
use super::{printed, program, run};
use crate::skipping::not_installed;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/completions");

/// The commands or flags that a help text lists, such as `--format` from `-f, --format <FORMAT>`:
/// the words that start with `begins` in lines with little indentation. Descriptions are indented
/// further.
fn listed_in(help: &str, begins: impl Fn(char) -> bool) -> BTreeSet<String> {
    let lines = help
        .lines()
        .filter(|line| (2..=6).contains(&(line.len() - line.trim_start().len())));
    let words = lines.filter_map(|line| {
        let mut words = line
            .split_whitespace()
            .take(2)
            .map(|word| word.trim_end_matches(['.', ',']));
        let word = words.find(|word| word.len() > 2)?;
        word.split('[').next().map(str::to_owned)
    });
    words.filter(|word| word.starts_with(&begins)).collect()
}

/// Tests the completions in a shell. `offers` returns the command that prints the completions of a
/// line, with the scripts in a folder.
fn test_completions(shell: &str, file: &str, offers: impl Fn(&str, &Folder) -> Command) {
    if Command::new(shell).arg("--version").output().is_err() {
        return not_installed(
            format!("{shell} is not installed"),
            &format!("apt-get install {shell}"),
        );
    }
    let folder = Folder::new();
    fs::write(
        folder.file(file),
        printed(&run(&format!("completions {shell}")).code(0)),
    )
    .unwrap();
    let kept = fs::read_to_string("tests/data/xeon-2026-11-21.json").unwrap();
    let mut kept: Value = serde_json::from_str(&kept).unwrap();
    kept["node"] = "web-17".into();
    fs::create_dir_all(folder.file("home/baselines")).unwrap();
    fs::write(folder.file("home/baselines/before.json"), kept.to_string()).unwrap();
    let offered = |line: &str| -> BTreeSet<String> {
        // The scripts call the program for each completion.
        let programs = [Path::new(program()).parent().unwrap().to_owned()];
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&others)));
        let output = offers(line, &folder)
            .env("PATH", path.unwrap())
            .env("TIMERMETER_HOME", folder.arg("home"))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{shell}, `{line}`: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        // fish prints a description of each word after a tab.
        let words = text
            .lines()
            .map(|line| line.split('\t').next().unwrap().trim().to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<BTreeSet<_>>()
    };

    let help = printed(&run("--help").code(0));
    let commands = help
        .split("\nClocks:\n")
        .nth(1)
        .and_then(|rest| rest.split("\nOptions:").next())
        .unwrap();
    let mut verbs = listed_in(commands, char::is_lowercase);
    verbs.insert("help".to_owned());
    let all = offered("timermeter ")
        .into_iter()
        .filter(|word| !word.starts_with('-'))
        .collect::<BTreeSet<_>>();
    assert!(
        verbs.contains("probe") && all == verbs,
        "{shell}: {all:?}, but {verbs:?}"
    );
    assert_eq!(offered("timermeter pro"), words(&["probe"]));

    let help = printed(&run("probe --help").code(0));
    let (flags, all) = (
        listed_in(&help, |first| first == '-'),
        offered("timermeter probe --"),
    );
    assert!(
        flags.len() > 10 && all.is_superset(&flags),
        "{shell}: {all:?} of {flags:?}"
    );
    assert_eq!(offered("timermeter probe --format m"), words(&["markdown"]));
    assert_eq!(
        offered("timermeter probe monotonic-c"),
        words(&["monotonic-coarse", "monotonic-coarse-syscall"])
    );
    assert_eq!(offered("timermeter inspect nanosl"), words(&["nanosleep"]));
    assert_eq!(offered("timermeter probe --runtime py"), words(&["python"]));
    assert_eq!(
        offered("timermeter explain cost-e"),
        words(&["cost-exceeds-step"])
    );
    assert_eq!(offered("timermeter compare bef"), words(&["before"]));
    assert_eq!(offered("timermeter probe --node web"), words(&["web-17"]));
    assert_eq!(offered("timermeter nonsense --quic"), words(&[]));
}

#[test]
fn completes_words_in_bash() {
    test_completions("bash", "timermeter.bash", |line, scripts| {
        let mut shell = Command::new("bash");
        shell
            .args(["--norc", &format!("{SCRIPTS}/candidates.bash"), line])
            .arg(scripts.arg(""));
        shell
    });
}

#[test]
fn completes_words_in_zsh() {
    test_completions("zsh", "_timermeter", |line, scripts| {
        let mut shell = Command::new("zsh");
        shell
            .args(["-f", &format!("{SCRIPTS}/candidates.zsh"), line])
            .arg(scripts.arg(""));
        shell
    });
}

#[test]
fn completes_words_in_fish() {
    test_completions("fish", "timermeter.fish", |line, scripts| {
        let mut shell = Command::new("fish");
        shell.args([
            "--no-config",
            "-c",
            "source $argv[1]/timermeter.fish; complete -C $argv[2]",
        ]);
        shell
            .arg(scripts.arg(""))
            .arg(line)
            .env("HOME", scripts.arg(""));
        shell
    });
}
