//! Builds a Debian package: an `ar` archive of two `tar` archives, one with the description and one
//! with the installed files (deb(5)).

use std::fs;
use std::path::{Path, PathBuf};

use ar::{Builder, Header};

use crate::archive::{compressed, tar};
use crate::{Outcome, SHIPPED_DOCUMENTS, VERSION};

const SUMMARY: &str = "measures the quality of the clocks of a machine
 For every way to read a clock: its resolution, the cost of a read and the
 spread of the cost, and whether the clock can be trusted. Statically linked.";

/// Returns Debian's name of the architecture of a target; `None` for a target other than Linux.
pub fn architecture(target: &str) -> Option<&'static str> {
    let (processor, system) = target.split_once('-')?;
    system.contains("linux").then_some(())?;
    match processor {
        "x86_64" => Some("amd64"),
        "aarch64" => Some("arm64"),
        "riscv64gc" => Some("riscv64"),
        "i686" => Some("i386"),
        _ => None,
    }
}

/// Builds the package and returns its path.
pub fn package(
    root: &Path,
    program: &Path,
    documents: &Path,
    architecture: &str,
    place: &Path,
) -> Outcome<PathBuf> {
    let staged = place.join("staged");
    let bytes = install(root, program, documents, &staged)?;
    let control = place.join("control");
    fs::create_dir_all(&control)?;
    fs::write(control.join("control"), description(architecture, bytes))?;
    let path = place.join(format!("timermeter_{VERSION}_{architecture}.deb"));
    let mut package = Builder::new(fs::File::create(&path)?);
    for (name, content) in [
        ("debian-binary", b"2.0\n".to_vec()),
        (
            "control.tar.gz",
            compressed(&tar(&control, Path::new("."))?)?,
        ),
        ("data.tar.gz", compressed(&tar(&staged, Path::new("."))?)?),
    ] {
        let mut header = Header::new(name.into(), content.len() as u64);
        header.set_mode(0o100_644);
        package.append(&header, content.as_slice())?;
    }
    fs::remove_dir_all(control)?;
    fs::remove_dir_all(staged)?;
    Ok(path)
}

fn description(architecture: &str, bytes: u64) -> String {
    format!(
        "Package: timermeter\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: The timermeter authors\n\
         Installed-Size: {}\nSection: utils\nPriority: optional\nDescription: {SUMMARY}\n",
        bytes.div_ceil(1024)
    )
}

/// Copies all files to their places in the file system of Debian. Returns their size in bytes.
fn install(root: &Path, program: &Path, documents: &Path, to: &Path) -> Outcome<u64> {
    let (man, completions) = (documents.join("man"), documents.join("completions"));
    let mut bytes = 0;
    let mut put = |path: &str, content: Vec<u8>| -> Outcome<()> {
        bytes += content.len() as u64;
        let path = to.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        Ok(fs::write(path, content)?)
    };
    put("usr/bin/timermeter", fs::read(program)?)?;
    for page in fs::read_dir(man)? {
        let page = page?;
        let name = format!("usr/share/man/man1/{}.gz", page.file_name().display());
        put(&name, compressed(&fs::read(page.path())?)?)?;
    }
    for (shell, place) in [
        ("timermeter.bash", "bash-completion/completions/timermeter"),
        ("_timermeter", "zsh/vendor-completions/_timermeter"),
        (
            "timermeter.fish",
            "fish/vendor_completions.d/timermeter.fish",
        ),
    ] {
        put(
            &format!("usr/share/{place}"),
            fs::read(completions.join(shell))?,
        )?;
    }
    let doc = "usr/share/doc/timermeter";
    for text in SHIPPED_DOCUMENTS
        .iter()
        .filter(|text| !text.starts_with("LICENSE"))
    {
        put(
            &format!("{doc}/{text}.gz"),
            compressed(&fs::read(root.join(text))?)?,
        )?;
    }
    let [mit, apache] =
        ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| fs::read_to_string(root.join(name)));
    put(
        &format!("{doc}/copyright"),
        format!(
            "MIT or Apache 2.0, at your option.\n\n{}\n{}",
            mit?, apache?
        )
        .into_bytes(),
    )?;
    Ok(bytes)
}
