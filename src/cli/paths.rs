//! Checks that a command writes no file twice, and none that it reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, Error, ValueHint};
use timers::os::files::{check_output, identity};

use reporting::report::{Baselines, files, is_stdout};

/// The flags that name an output file.
const OUTPUTS: [&str; 4] = ["outputs", "trace", "save", "baseline"];

/// Checks the paths on the command line of `command`.
///
/// # Errors
/// When an output is another output, standard output or an input, also by other links to it.
pub(super) fn check(command: &Command, matches: &ArgMatches) -> Result<(), Error> {
    let conflict = |message: String| {
        let error = Error::raw(ErrorKind::ArgumentConflict, message);
        Err(error.format(&mut command.clone()))
    };
    let baselines = Baselines::of_user();
    let (outputs, others): (Vec<&Arg>, Vec<&Arg>) = command.get_arguments().partition(|argument| {
        !argument.is_positional() && OUTPUTS.contains(&argument.get_id().as_str())
    });
    let mut written: BTreeMap<_, PathBuf> = BTreeMap::new();
    let named = outputs.into_iter().flat_map(|argument| {
        let paths = paths(argument, matches).filter(|path| !is_stdout(path));
        let baselines = baselines
            .as_ref()
            .filter(|_| argument.get_id() == "baseline");
        paths.map(move |path| match (baselines, path.to_str()) {
            (Some(baselines), Some(name)) => baselines.file(name),
            _ => path,
        })
    });
    let printed = check_output().map(|()| "/dev/stdout".into());
    for path in named.chain(printed) {
        if let Some(other) = identity(&path).and_then(|file| written.insert(file, path.clone())) {
            let (path, other) = (path.display(), other.display());
            return conflict(format!(
                "'{other}' and '{path}' are the same file: write each output to a file of its own"
            ));
        }
    }
    let inputs = others.into_iter().filter(|argument| {
        argument.get_value_hint() == ValueHint::AnyPath && argument.get_id() != "root"
    });
    for path in inputs.flat_map(|argument| paths(argument, matches)) {
        let path = if path == Path::new("-") {
            "/dev/stdin".into()
        } else {
            Baselines::resolve(baselines.as_ref(), &path).unwrap_or(path)
        };
        let is_written = |file: &PathBuf| {
            identity(file).is_some_and(|file| written.contains_key(&file)) && file.exists()
        };
        if let Some(file) = files(&path).into_iter().flatten().find(is_written) {
            return conflict(format!(
                "'{}' is read, and would be replaced: write the output to another file",
                file.display()
            ));
        }
    }
    Ok(())
}

/// The values of an argument.
fn paths<'a>(argument: &Arg, matches: &'a ArgMatches) -> impl Iterator<Item = PathBuf> + use<'a> {
    let values = matches.try_get_raw(argument.get_id().as_str());
    let values = values.ok().flatten().into_iter().flatten();
    values.map(|value| Path::new(value).to_owned())
}
