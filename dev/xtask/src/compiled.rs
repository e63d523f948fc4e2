//! Compiles the program for a target and links it with the linker of the Rust distribution, so that
//! no C compiler is needed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// The linker of the Rust distribution.
pub const LINKER: &str = "rust-lld";

/// Fails if a target cannot be compiled for, and says what is missing.
pub fn check_target(target: &str) -> Outcome<()> {
    let libraries = PathBuf::from(rustc(&["--print", "target-libdir", "--target", target])?);
    if !libraries.is_dir() {
        return Err(format!(
            "the standard library for {target} is missing; install it by: rustup target add {target}"
        )
        .into());
    }
    let own = Path::new(&rustc(&["--print", "target-libdir"])?)
        .with_file_name("bin")
        .join(LINKER);
    let in_path = || {
        env::split_paths(&env::var_os("PATH").unwrap_or_default())
            .any(|folder| folder.join(LINKER).is_file())
    };
    if !own.is_file() && !in_path() {
        return Err(format!("{LINKER} is missing; it comes with the Rust of https://rustup.rs, or link one of that name to ld.lld").into());
    }
    Ok(())
}

fn rustc(arguments: &[&str]) -> Outcome<String> {
    let program = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program).args(arguments).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

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
