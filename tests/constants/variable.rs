//! A copy of the program in which constants are functions, so that one of them can be multiplied by
//! what the environment says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::files_below;

/// Added to the copy. A share above a half is varied by what is missing to 1, and a factor just
/// above 1 by what it adds, so that each stays what it is; of whole numbers that are a ratio the
/// first.
const VARIED: &str = r#"
pub trait Varied { fn by(self, by: f64) -> Self; }
impl Varied for f64 {
    fn by(self, by: f64) -> Self {
        let about = if (self > 0.5 && self < 1.0) || (self > 1.0 && self < 1.1) { 1.0 } else { 0.0 };
        about + (self - about) * by
    }
}
macro_rules! whole { ($($of:ty),*) => { $(impl Varied for $of {
    fn by(self, by: f64) -> Self { ((self as f64 * by).round() as $of).max(1) }
})* } }
whole!(usize, u32, u64, i64);
impl<T: Varied, const N: usize> Varied for [T; N] { fn by(self, by: f64) -> Self { self.map(|each| each.by(by)) } }
impl Varied for (f64, f64) { fn by(self, by: f64) -> Self { (self.0.by(by), self.1.by(by)) } }
impl Varied for (usize, usize) { fn by(self, by: f64) -> Self { (self.0.by(by), self.1) } }
pub fn factor(name: &str) -> f64 {
    let varied = std::env::var("VARIED").unwrap_or_default();
    varied.split_once('=').filter(|(which, _)| *which == name).map_or(1.0, |(_, by)| by.parse().unwrap())
}
"#;

/// The rooms of `estimators/` that compute figures.
const ROOMS: [&str; 8] = [
    "cost/",
    "distribution/",
    "periods/",
    "profile/",
    "rate/",
    "resolution/",
    "statistics/",
    "waits/",
];

/// Whether a file computes figures.
pub fn is_estimator(file: &str) -> bool {
    ROOMS.iter().any(|room| file.starts_with(room))
}

/// Whether a constant is varied. Simulated timers meet what the estimators decide, while the rest
/// watches real machines; half a prime is no prime.
pub fn is_varied(name: &str, file: &str) -> bool {
    is_estimator(file) && name != "PRIMES"
}

/// Builds the program of the copy in `folder`, and says where it is.
pub fn build(folder: &Path, root: &Path, listed: &[(String, String)]) -> PathBuf {
    cargo(
        folder,
        &written(folder, root, listed),
        &["build", "--release", "--package", "simulate"],
    );
    folder.join("target/release/simulate")
}

/// Checks what is varied in the copy.
pub fn check(folder: &Path, root: &Path, listed: &[(String, String)]) {
    cargo(
        folder,
        &written(folder, root, listed),
        &["check", "--package", "timermeter-estimators"],
    );
}

fn cargo(folder: &Path, copy: &Path, arguments: &[&str]) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(arguments)
        .arg("--quiet")
        .current_dir(copy)
        .env("RUSTFLAGS", "--cap-lints allow");
    let status = cargo
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .status()
        .expect("cargo starts");
    assert!(status.success(), "the copy cannot be compiled");
}

/// Writes the copy below `folder`.
fn written(folder: &Path, root: &Path, listed: &[(String, String)]) -> PathBuf {
    let copy = folder.join("tree");
    let _ = fs::remove_dir_all(&copy);
    for folder in [
        "src",
        "estimators",
        "reporting",
        "timers",
        "benches",
        "tests",
        "dev",
        "docs",
    ] {
        copy_folder(&root.join(folder), &copy.join(folder));
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(root.join(file), copy.join(file)).expect("it can be copied");
    }
    for path in files_below(&copy.join("estimators")) {
        let file = path
            .strip_prefix(copy.join("estimators"))
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        let mut code = fs::read_to_string(&path).unwrap();
        for (name, _) in listed
            .iter()
            .filter(|(name, of)| *of == file && is_varied(name, of))
        {
            code = as_function(&code, name, &file);
        }
        fs::write(&path, code).unwrap();
    }
    for path in ["src", "reporting", "estimators", "dev"]
        .into_iter()
        .flat_map(|folder| files_below(&copy.join(folder)))
    {
        let code = fs::read_to_string(&path).unwrap();
        let siblings = path.starts_with(copy.join("estimators"));
        fs::write(&path, imported(&code, listed, siblings)).unwrap();
    }
    for (name, file) in listed.iter().filter(|(name, file)| is_varied(name, file)) {
        let code = fs::read_to_string(copy.join("estimators").join(file)).unwrap();
        assert!(
            code.contains(&format!("factor(\"{file}:{name}\")")),
            "{name} of {file} cannot be varied"
        );
    }
    let lib = copy.join("estimators/lib.rs");
    let code = fs::read_to_string(&lib).unwrap();
    fs::write(
        &lib,
        format!("{code}\n#[allow(missing_docs)]\npub mod varied {{{VARIED}}}\n"),
    )
    .unwrap();
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Makes functions of all constants called `name`, and calls of what reads them.
fn as_function(code: &str, name: &str, file: &str) -> String {
    let (mut written, mut rest) = (String::new(), code);
    let definition = format!("const {name}: ");
    while let Some(at) = rest.find(&definition) {
        let (before, from) = rest.split_at(at);
        let end = from
            .find(';')
            .filter(|end| !from[..*end].contains('['))
            .or_else(|| from.find("];").map(|at| at + 1))
            .unwrap();
        let (of, value) = from[definition.len()..end]
            .split_once(" = ")
            .expect("a type and a value");
        written += &calls(before, name);
        written += &format!(
            "fn {name}() -> {of} {{ use crate::varied::*; static BY: std::sync::OnceLock<f64> = \
             std::sync::OnceLock::new(); Varied::by({value}, *BY.get_or_init(|| factor(\"{file}:{name}\"))) }}"
        );
        rest = &from[end + 1..];
    }
    written + &calls(rest, name)
}

/// Reads of a constant as calls; not where it is imported, be it over several lines.
fn calls(code: &str, name: &str) -> String {
    let mut imports = false;
    let lines = code.split_inclusive('\n').map(|line| {
        let begins = line.trim_start();
        let imported = imports || begins.starts_with("use ") || begins.starts_with("pub use ");
        imports = imported && !line.contains(';');
        if imported {
            line.to_owned()
        } else {
            called(line, name)
        }
    });
    lines.collect()
}

fn called(line: &str, name: &str) -> String {
    let (mut written, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(name) {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let end = at + name.len();
        // Not in what it is called by outside.
        let whole = !rest[..at].ends_with(".rs:")
            && !rest[..at].ends_with(word)
            && !rest[end..].starts_with(word)
            && !rest[end..].starts_with('(');
        written += &rest[..end];
        written += if whole { "()" } else { "" };
        rest = &rest[end..];
    }
    written + rest
}

/// Calls what a file imports by name, or names by its module; `siblings` says that `super` may be
/// that module.
fn imported(code: &str, listed: &[(String, String)], siblings: bool) -> String {
    listed
        .iter()
        .filter(|(name, file)| is_varied(name, file))
        .fold(code.to_owned(), |code, (name, file)| {
            let path = Path::new(file).with_extension("");
            let module = path.iter().rfind(|part| *part != "mod").unwrap();
            let module = module.to_str().unwrap();
            let code = calls(&code, &format!("{module}::{name}"));
            let imports = uses(&code).any(|path| {
                (path.contains(&format!("{module}::")) || siblings && path.starts_with("super::"))
                    && called(path, name) != path
            });
            if imports { calls(&code, name) } else { code }
        })
}

fn uses(code: &str) -> impl Iterator<Item = &str> {
    code.split("\nuse ")
        .skip(1)
        .map(|rest| rest.split(';').next().unwrap())
}
