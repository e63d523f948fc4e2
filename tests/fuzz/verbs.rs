//! Runs all verbs that read reports in this process. No verb may panic, print an infinite figure,
//! or print control characters.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use timermeter::cli::{Cli, Verb};

use super::{names_what_is_not_finite, not_finite};
use crate::steering::steers_nothing;

/// The command lines. `R` is the report, `O` another report, `F` the folder of the report, `S` the
/// folder of a site.
const QUESTIONS: [&str; 17] = [
    "probe -v --from R",
    "probe -v -f markdown --from R",
    "probe -v -f csv --from R",
    "probe -v -f html --from R",
    "probe -f openmetrics --from R",
    "compare O R",
    "compare R O",
    "compare -f markdown O R",
    "compare -f csv O R",
    "compare O R O",
    "table R O",
    "table -f html R O",
    "table -f csv R",
    "probe * -v --from R",
    "pick 1us --from R",
    "pick --every 1ms --from R",
    "publish F -o S",
];

/// Runs all command lines with a report.
pub fn read(text: &str) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [reports, site] = ["reports", "site"].map(|name| folder.path().join(name));
    let report = reports.join("r.json");
    fs::create_dir(&reports).unwrap();
    fs::write(&report, text).unwrap();
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/report/kept.json");
    // A report that contains `inf` or `NaN` as text may print it.
    let check = |printed: &str| {
        // The script of a page is part of the program.
        let printed = printed.split("<script").next().unwrap_or_default();
        steers_nothing(printed);
        if !names_what_is_not_finite(text) {
            assert_eq!(not_finite(printed), None);
        }
    };
    for question in QUESTIONS {
        let words = question.split(' ').map(|word| match word {
            "R" => report.as_os_str(),
            "O" => other.as_os_str(),
            "F" => reports.as_os_str(),
            "S" => site.as_os_str(),
            word => word.as_ref(),
        });
        let words = [OsStr::new("timermeter")].into_iter().chain(words);
        let cli = Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{question}: {error}"));
        println!("{question}");
        check(&answer(&cli.command.unwrap()));
    }
    for text in files(&site, "html")
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
    {
        check(&text);
    }
}

/// Prints a log of `watch` in all formats. No figure of it may be infinite.
pub fn read_log(text: &str) {
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    for format in ["table", "json"] {
        let path = file.path().as_os_str();
        let words = ["timermeter", "watch", "--format", format, "--from"].map(OsStr::new);
        let cli = Cli::try_parse_from(words.into_iter().chain([path])).unwrap();
        let printed = answer(&cli.command.unwrap());
        steers_nothing(&printed);
        if !names_what_is_not_finite(text) {
            assert_eq!(not_finite(&printed), None);
        }
    }
}

/// The files in or below a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path, extension),
            false if path.extension().is_some_and(|found| found == extension) => vec![path],
            false => Vec::new(),
        })
        .collect()
}

/// The output of a verb, followed by its error.
fn answer(command: &Verb) -> String {
    let mut output = Vec::new();
    let result = timermeter::commands::run(command, &mut output);
    let error = result.map_or_else(|error| error.to_string(), |_| String::new());
    String::from_utf8_lossy(&output).into_owned() + &error
}
