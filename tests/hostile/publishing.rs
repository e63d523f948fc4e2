//! Tests that `publish` repairs what a killed run or a user left of a site, and loses no file of
//! the user.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::c_compiler::{LIBRARY, compile};
use super::folder::Folder;
use super::program::program;
use super::skipping::emulated;
use crate::stored::MBP53;

/// Another small report, whose pages are quickly made.
const REDIS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/reports/redis-10604-c6g-large/2022-04-21/report.json"
);

/// What the paths below a folder contain: text, the target of a link, or nothing for a folder.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap().file_type();
            let content = if kind.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else if kind.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), content);
        }
    }
    found
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A folder with two sets of reports, `old` and `new`, and the sites that they make.
struct Reports {
    folder: Folder,
    sites: BTreeMap<&'static str, Tree>,
}

impl Reports {
    fn new() -> Self {
        let folder = Folder::new();
        for (report, name) in [
            (MBP53, "old/same.json"),
            (MBP53, "old/changed.json"),
            (MBP53, "old/gone.json"),
            (MBP53, "old/lost/sub/gone.json"),
            (MBP53, "new/same.json"),
            (REDIS, "new/changed.json"),
            (REDIS, "new/added/sub/added.json"),
        ] {
            write(folder.file(name), &fs::read_to_string(report).unwrap());
        }
        let mut reports = Self {
            folder,
            sites: BTreeMap::new(),
        };
        for set in ["old", "new"] {
            assert!(reports.publish(set).status.success());
            reports.sites.insert(set, tree(&reports.site()));
            fs::remove_dir_all(reports.site()).unwrap();
        }
        reports
    }

    fn site(&self) -> PathBuf {
        self.folder.file("site")
    }

    fn command(&self, set: &str) -> Command {
        let mut command = Command::new(program());
        command.args([
            "publish",
            &self.folder.arg(set),
            "-o",
            &self.folder.arg("site"),
        ]);
        command
    }

    fn publish(&self, set: &str) -> Output {
        self.command(set).output().expect("the program starts")
    }

    /// Publishes the site of `set`, which has to become complete; `users` are other files in it.
    #[track_caller]
    fn assert_published(&self, set: &str, users: &[(&str, &[u8])], context: &str) {
        let ended = self.publish(set);
        assert!(ended.status.success(), "{context}: {ended:?}");
        let mut expected = self.sites[set].clone();
        expected.extend(
            users
                .iter()
                .map(|(name, text)| (name.into(), text.to_vec())),
        );
        let found = tree(&self.site());
        let differs = |path: &&PathBuf| found.get(*path) != expected.get(*path);
        let all = found.keys().chain(expected.keys());
        assert_eq!(
            all.filter(differs).collect::<Vec<_>>(),
            [""; 0],
            "{context}"
        );
        assert_eq!(self.folder.names(), ["new", "old", "site"], "{context}");
    }

    /// Makes the site of `old` and some files of the user.
    fn begin(&self) {
        let _ = fs::remove_dir_all(self.site());
        assert!(self.publish("old").status.success());
        for (name, text) in USERS {
            if !text.is_empty() {
                fs::write(self.site().join(name), text).unwrap();
            }
        }
    }
}

/// Files of the user in the site; the last folder stays only because of a file.
const USERS: &[(&str, &[u8])] = &[
    ("CNAME", b"clocks.example"),
    ("reports/lost", b""),
    ("reports/lost/notes.txt", b"mine"),
];

#[test]
fn next_run_completes_killed_one() {
    if emulated("libraries of this machine cannot be preloaded") {
        return;
    }
    let reports = Reports::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/kill_at.c");
    let libraries = Folder::new();
    let Some(library) = compile(&source, libraries.arg("kill_at.so"), LIBRARY) else {
        return;
    };
    let mut kills = 0;
    // The next run has the same reports, or others.
    for (at, next) in (1..).flat_map(|at| [(at, "new"), (at, "old")]) {
        reports.begin();
        let killed = reports
            .command("new")
            .env("LD_PRELOAD", &library)
            .env("KILL_AT", at.to_string())
            .output()
            .unwrap();
        if killed.status.success() {
            break;
        }
        assert_eq!(killed.status.signal(), Some(9), "{killed:?}");
        kills += 1;
        let left = tree(&reports.site());
        let is_temporary = |path: &&PathBuf| path.display().to_string().contains(".tmp");
        for (path, text) in left.iter().filter(|(path, _)| !is_temporary(path)) {
            let (old, new) = (
                reports.sites["old"].get(path),
                reports.sites["new"].get(path),
            );
            let users = USERS.iter().find(|(name, _)| Path::new(name) == path);
            let is_list = path.ends_with(".timermeter-site");
            let is_whole = [old, new].contains(&Some(text)) || users.is_some() || is_list;
            assert!(is_whole, "{at}: {} is half", path.display());
        }
        for (name, text) in USERS {
            assert_eq!(
                left.get(Path::new(name)).map(Vec::as_slice),
                Some(*text),
                "{at}: {name}"
            );
        }
        let users = if next == "new" {
            USERS
        } else {
            &[USERS[0], USERS[2]]
        };
        reports.assert_published(next, users, &format!("killed at {at}, then {next}"));
    }
    assert!(kills > 50, "the library counts {kills} operations");
}

#[test]
fn failed_run_changes_nothing() {
    let reports = Reports::new();
    reports.begin();
    let before = tree(&reports.site());
    let mut limited = Command::new("sh");
    let arguments = [
        "publish",
        &reports.folder.arg("new"),
        "-o",
        &reports.folder.arg("site"),
    ];
    limited
        .args(["-c", "ulimit -f 16; exec \"$0\" \"$@\"", program()])
        .args(arguments);
    let ended = limited.output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert_eq!(tree(&reports.site()), before);
    reports.assert_published("new", USERS, "after a failed run");
}
