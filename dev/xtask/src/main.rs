//! What is made of timermeter for others. `cargo xtask dist` makes what runs on a machine without a
//! compiler.

mod archive;
mod compiled;
mod debian;
mod documents;
#[cfg(unix)]
mod machines;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use sha2::{Digest, Sha256};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What static binaries are made for, unless specified otherwise.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];
/// What is read in addition to the program.
const TEXTS: [&str; 5] = [
    "README.md",
    "METHODOLOGY.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Tasks around timermeter.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Make archives and Debian packages of static binaries, with manual pages, completions and
    /// checksums, in target/archives/
    Dist {
        /// Targets of rustc
        #[arg(value_name = "TARGET", default_values = TARGETS)]
        targets: Vec<String>,
    },
    /// Boot machines whose truth is known in an emulator, and hold the reports of the program
    /// against it
    #[cfg(unix)]
    Machines(machines::Machines),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Dist { targets } => dist(&targets),
        #[cfg(unix)]
        Task::Machines(asked) => machines::run(&asked),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> Outcome<&'static Path> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(folder
        .ancestors()
        .nth(2)
        .ok_or("dev/xtask has no folder above it")?)
}

fn dist(targets: &[String]) -> Outcome<()> {
    let root = root()?;
    targets
        .iter()
        .try_for_each(|target| compiled::can_be_made(target))?;
    let place = compiled::folder(root).join("archives");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    let documents = place.join("documents");
    documents::write(&documents)?;
    let mut made = Vec::new();
    for target in targets {
        let program = compiled::program(root, target)?;
        let name = format!("timermeter-{VERSION}-{target}");
        let folder = place.join(&name);
        fs::create_dir_all(&folder)?;
        fs::copy(&program, folder.join("timermeter"))?;
        for text in TEXTS {
            fs::copy(root.join(text), folder.join(text))?;
        }
        copy_all(&root.join("docs"), &folder.join("docs"))?;
        copy_all(&documents, &folder)?;
        made.push(archive::pack(
            &folder,
            &place.join(format!("{name}.tar.gz")),
        )?);
        fs::remove_dir_all(&folder)?;
        if let Some(architecture) = debian::architecture(target) {
            made.push(debian::package(
                root,
                &program,
                &documents,
                architecture,
                &place,
            )?);
        }
    }
    fs::remove_dir_all(&documents)?;
    write_checksums(&made, &place.join("SHA256SUMS"))?;
    made.iter().for_each(|path| println!("{}", path.display()));
    Ok(())
}

/// Copies files and folders.
fn copy_all(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if path.is_dir() {
            copy_all(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// As `sha256sum --check` reads them.
fn write_checksums(files: &[PathBuf], to: &Path) -> Outcome<()> {
    let mut lines = String::new();
    for path in files {
        let sum = Sha256::digest(fs::read(path)?);
        let hex: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        lines += &format!(
            "{hex}  {}\n",
            path.file_name().unwrap_or_default().display()
        );
    }
    Ok(fs::write(to, lines)?)
}
