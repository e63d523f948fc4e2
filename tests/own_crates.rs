//! What README.md and docs/library.md print for a shell works as pasted: the
//! examples that start from `cargo new`, with the crates of this repository and without the network,
//! and the commands of the first five minutes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::BUILT;
use crate::skipping::skipped;

/// The code blocks of a page, each with its language.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    page.split("\n```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .collect()
}

/// Pastes the commands of a page that begin with `cargo new`, writes the code that follows to
/// `src/main.rs`, and checks it. Returns the names of the crates.
fn paste(page: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root.join(page)).unwrap();
    let blocks = blocks(&text);
    let mut names = Vec::new();
    for (at, (_, commands)) in blocks.iter().enumerate() {
        let Some(name) = commands.strip_prefix("cargo new ../") else {
            continue;
        };
        let name = name.split_whitespace().next().unwrap();
        let own = folder.path().join(name);
        // The versions of this repository, which are there.
        let script = commands
            .replace(&format!("../{name}"), own.to_str().unwrap())
            .replacen("cargo add", "cp \"$OLDPWD/Cargo.lock\" . && cargo add", 1)
            .replace("cargo run --release", "");
        run("sh", &["-ec", &script], root);
        if let Some(("rust" | "rust,no_run", code)) = blocks.get(at + 1) {
            fs::write(own.join("src/main.rs"), code).unwrap();
        }
        run("cargo", &["check", "--quiet"], &own);
        names.push(name.to_owned());
    }
    names
}

/// Runs a command in a folder, and returns what it prints.
fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let mut command = Command::new(program);
    let command = command.args(arguments).current_dir(folder);
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/own-crates");
    let command = command.env("CARGO_TARGET_DIR", target);
    let ended = command.env("CARGO_NET_OFFLINE", "true").output().unwrap();
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn examples_compile_as_pasted() {
    if !timers::os::runner().is_empty() {
        return skipped(
            "the examples of other crates",
            "a compiler for the emulated processor",
        );
    }
    assert_eq!(paste("README.md"), ["own-clock"]);
    assert_eq!(paste("docs/library.md"), ["read-clocks", "find-step"]);
}

/// Each line works after those above it, in the files of a clone. A machine with neighbours may have
/// a problem, or costs that vary.
#[test]
#[ignore = "long"]
fn first_five_minutes_work_as_pasted() {
    if !timers::os::runner().is_empty() {
        return skipped("the commands of README.md", "a machine without an emulator");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let clone = tempfile::tempdir().unwrap();
    let into = clone.path().to_str().unwrap();
    run("cp", &["-r", "reports", "deploy", "tests", into], root);
    let text = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, text) = text.split_once("\n## Five minutes\n").unwrap();
    let programs = Path::new(BUILT).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let (mut count, lines) = (0, blocks(text)[0].1.lines());
    for line in lines {
        count += 1;
        let ended = Command::new("sh")
            .args(["-c", line])
            .current_dir(clone.path())
            .env("PATH", &path)
            .env("HOME", clone.path())
            .output()
            .unwrap();
        let judges = line.contains("timermeter check") || line.contains("timermeter gate");
        let works = |code| code == 0 || judges && matches!(code, 3 | 4);
        assert!(ended.status.code().is_some_and(works), "{line}: {ended:?}");
    }
    assert!((1..=9).contains(&count), "{count}");
}

/// The numbers of crates that docs/library.md states are those of `cargo tree`.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn libraries_bring_few_crates() {
    let page = include_str!("../docs/library.md");
    for library in [
        "timermeter-timers",
        "timermeter-estimators",
        "timermeter-probe",
    ] {
        let row = format!("| `{library}` |");
        let row = page.lines().find_map(|line| line.strip_prefix(&row));
        let cells = row.unwrap().split(" | ");
        let stated: Option<usize> = cells.filter_map(|cell| cell.trim().parse().ok()).next();
        let line = format!("tree --prefix none -e normal -p {library}");
        let words: Vec<&str> = line.split(' ').collect();
        let tree = run("cargo", &words, Path::new(env!("CARGO_MANIFEST_DIR")));
        let names = tree.lines().map(|line| line.trim_end_matches(" (*)"));
        let crates: BTreeSet<&str> = names.collect();
        assert_eq!(stated, Some(crates.len()), "{crates:?}");
        assert!(crates.len() <= 15, "{crates:?}");
    }
}
