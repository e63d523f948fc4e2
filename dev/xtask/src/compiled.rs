//! Compiles the program for a target and links it with the linker of the Rust distribution, so that
//! no C compiler is needed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// The linker of the Rust distribution.
const LINKER: &str = "rust-lld";

/// The target directory of cargo.
pub fn folder(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Compiles the program with the profile `dist` and returns its path.
pub fn program(root: &Path, target: &str) -> Outcome<PathBuf> {
    let linker = format!(
        "CARGO_TARGET_{}_LINKER",
        target.to_uppercase().replace('-', "_")
    );
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "build",
            "--package",
            "timermeter",
            "--profile",
            "dist",
            "--locked",
            "--target",
            target,
        ])
        .arg("--target-dir")
        .arg(folder(root))
        .env(linker, LINKER)
        .current_dir(root)
        .status()?;
    if !status.success() {
        return Err(format!("timermeter could not be compiled for {target}").into());
    }
    Ok(folder(root).join(target).join("dist/timermeter"))
}
