//! Compares docs/constants.md with the doc comments of the constants. This command writes the page:
//!
//! ```text
//! TIMERMETER_UPDATE=1 cargo test --test constants
//! ```

mod documented;

use std::fs;
use std::path::{Path, PathBuf};

/// Constants that need no reason because they decide nothing, such as lengths of arrays.
const STRUCTURE: [&str; 1] = ["MODEL_COUNT"];

/// The rooms of `estimators/` that compute figures.
const ESTIMATORS: [&str; 8] = [
    "cost/",
    "distribution/",
    "periods/",
    "profile/",
    "rate/",
    "resolution/",
    "statistics/",
    "waits/",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(&path))
        .unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| {
        if path.is_dir() {
            files_below(&path)
        } else {
            vec![path]
        }
    };
    entries
        .flat_map(of)
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect()
}

#[test]
fn estimator_constants_state_their_reasons() {
    let silent = documented::all().into_iter().filter(|constant| {
        let plots = constant.file == "profile/plot_data.rs";
        let estimates = ESTIMATORS
            .iter()
            .any(|room| constant.file.starts_with(room))
            && !plots;
        estimates && constant.rests_on.is_none() && !STRUCTURE.contains(&constant.name.as_str())
    });
    assert_eq!(
        silent
            .map(|constant| (constant.name, constant.file))
            .collect::<Vec<_>>(),
        []
    );
}

#[test]
fn constants_page_is_current() {
    let written = documented::page();
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(root().join("docs/constants.md"), &written).unwrap();
    }
    assert!(
        text("docs/constants.md").replace("\r\n", "\n") == written,
        "docs/constants.md is not up to date: TIMERMETER_UPDATE=1 cargo test --test constants"
    );
}
