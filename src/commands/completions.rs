//! `completions`: prints a script with which a shell completes commands, flags and values, or writes
//! manual pages.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use clap_complete::Shell;
use clap_complete::env::Shells;
use timers::os::files::Folder;

use super::{CommandError, failed};
use crate::cli::{CompletionsArgs, help};
use crate::scratch::ScratchFolder;

/// The environment variable with which the script of a shell asks this program for completions.
pub const VARIABLE: &str = "TIMERMETER_COMPLETE";

/// Runs the command.
///
/// # Errors
/// When the output or a manual page cannot be written.
pub fn run(args: &CompletionsArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    if let Some(folder) = &args.man {
        let written = write_manual(folder);
        written.map_err(|error| {
            let folder = folder.display();
            failed(format!(
                "cannot write manual pages to '{folder}': {error}; name another folder"
            ))
        })?;
    }
    if let Some(shell) = args.shell {
        output.write_all(&script(shell))?;
    }
    Ok(())
}

/// The completion script for a shell, which starts this program for each completion.
#[must_use]
pub fn script(shell: Shell) -> Vec<u8> {
    const NAME: &str = "timermeter";
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let script = shells.completer(&shell.to_string());
    script
        .map(|script| script.write_registration(VARIABLE, NAME, NAME, NAME, &mut text))
        .transpose()
        .expect("writing to memory cannot fail");
    if shell == Shell::Zsh {
        // zsh loads the file when it completes the first word, and then calls nothing in it.
        text.extend_from_slice(
            b"[[ $funcstack[1] == _timermeter ]] && _clap_dynamic_completer_timermeter \"$@\"\n",
        );
    }
    text
}

/// Writes a manual page of the program and of each command to a folder, which is created: all pages,
/// or none if the disk is full.
///
/// # Errors
/// When a page cannot be written.
pub fn write_manual(folder: &Path) -> io::Result<()> {
    let folder = Folder::create(folder)?;
    let scratch = ScratchFolder::within(&folder.path(), 0o700)?;
    clap_mangen::generate_to(help::command(), scratch.path())?;
    scratch.persist_with(|pages| {
        fs::read_dir(pages)?.try_for_each(|page| {
            let page = page?;
            File::open(page.path())?.sync_all()?;
            fs::rename(page.path(), folder.path().join(page.file_name()))
        })
    })
}
