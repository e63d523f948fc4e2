//! Release and test tasks. `cargo xtask dist` builds archives; `cargo xtask
//! machines` checks reports of emulated machines.

mod archive;
mod compiled;
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
/// The default targets of static binaries, as rustc names them.
const DEFAULT_TARGETS: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];
/// Files of the repository that every archive contains.
const SHIPPED_DOCUMENTS: [&str; 4] = [
    "README.md",
    "METHODOLOGY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Tasks around timermeter.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Make archives of static binaries, with manual pages, completions and checksums, in
    /// target/archives/
    Dist {
        /// Targets of rustc
        #[arg(value_name = "TARGET", default_values = DEFAULT_TARGETS)]
        targets: Vec<String>,
    },
    /// Boot emulated machines with known properties and check the reports of timermeter against
    /// them
    #[cfg(unix)]
    Machines(machines::Machines),
}

fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::Dist { targets } => dist(&targets),
        #[cfg(unix)]
        Task::Machines(options) => machines::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The root folder of the repository.
fn root() -> Outcome<&'static Path> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(folder
        .ancestors()
        .nth(2)
        .ok_or("dev/xtask has no folder above it")?)
}

/// Builds the archives of these targets.
fn dist(targets: &[String]) -> Outcome<()> {
    let root = root()?;
    let archives = compiled::folder(root).join("archives");
    if archives.exists() {
        fs::remove_dir_all(&archives)?;
    }
    let documents = archives.join("documents");
    documents::write(&documents)?;
    let mut packages = Vec::new();
    for target in targets {
        let program = compiled::program(root, target)?;
        let name = format!("timermeter-{VERSION}-{target}");
        let folder = archives.join(&name);
        fs::create_dir_all(&folder)?;
        fs::copy(&program, folder.join("timermeter"))?;
        for text in SHIPPED_DOCUMENTS {
            fs::copy(root.join(text), folder.join(text))?;
        }
        copy_all(&root.join("docs"), &folder.join("docs"))?;
        copy_all(&documents, &folder)?;
        packages.push(archive::pack(
            &folder,
            &archives.join(format!("{name}.tar.gz")),
        )?);
        fs::remove_dir_all(&folder)?;
    }
    fs::remove_dir_all(&documents)?;
    write_checksums(&packages, &archives.join("SHA256SUMS"))?;
    packages
        .iter()
        .for_each(|path| println!("{}", path.display()));
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

/// Writes the SHA-256 sums of files in the format that `sha256sum --check` reads.
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
