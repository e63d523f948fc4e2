//! `compare FOLDER --since TIME`: a fleet before and since an instant, from reports or from a dataset.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::{CommandError, columns, tell, tell_refused};
use super::fleet::Told;
use super::untold;
use crate::cli::{CompareArgs, Since};
use crate::comparison::fleet::{FleetComparison, Moment, SinceRead};
use crate::fields::micros;
use crate::fleet::trend::Trends;
use crate::text::counted;

/// Runs the command. Returns whether no condition holds.
///
/// # Errors
/// When one side is empty, something could not be told, or the output cannot be written.
pub fn run(
    args: &CompareArgs,
    reports: &[PathBuf],
    since: Since,
    output: &mut dyn Write,
) -> Result<bool, CommandError> {
    let [place] = reports else {
        return Err(CommandError::Usage(
            "--since parts the reports of one folder, or of one dataset, by their dates: name one, and no new reports".into(),
        ));
    };
    if !place.is_dir() {
        return Err(CommandError::Usage(format!(
            "'{}' is no folder: --since parts the reports of a folder, or of a dataset, by their dates",
            place.display()
        )));
    }
    let since = instant(since)?;
    let (comparison, undated, trends, complete) = compared(place, &since)?;
    if undated > 0 {
        tell(&format!(
            "{} no time, or one that only clocks tell that were never set: of neither side",
            counted_verb(undated)
        ));
    }
    if comparison.nodes.both == 0 && comparison.figures.is_empty() {
        return Err(untold(format!(
            "no node of '{}' was measured before {} and since, and too few others of one timer to be compared; a node is called as its run \
             was told (--node), or by its folder or file",
            place.display(),
            since.written
        )));
    }
    Told { comparison: &comparison, trends: Some(&trends), complete }.tell(args, output)
}

fn counted_verb(reports: usize) -> String {
    format!("{} {}", counted(reports, "report"), if reports == 1 { "tells" } else { "tell" })
}

/// The comparison, how many reports tell no time, what nodes cost over time, and whether all could be read.
type Compared = (FleetComparison, usize, Trends, bool);

fn compared(place: &Path, since: &Moment) -> Result<Compared, CommandError> {
    if let Some(found) = columns::since(place, since) {
        let (comparison, undated, trends) = found?;
        return Ok((comparison, undated, trends, true));
    }
    let SinceRead { compared, read, refused } = FleetComparison::since(place, since);
    let complete = tell_refused(&refused, read).map_err(untold)?;
    let (comparison, undated, trends) = compared.map_err(untold)?;
    Ok((comparison, undated, trends, complete))
}

fn instant(since: Since) -> Result<Moment, CommandError> {
    let at = match since {
        Since::At(at) => Some(at),
        Since::Ago(ago) => timers::date().checked_sub(ago),
    };
    let known = at.and_then(|at| Some((at, micros(at)?)));
    let (at, micros) =
        known.ok_or_else(|| CommandError::Usage("--since: no report is of a time before 1970".into()))?;
    Ok(Moment { at: micros, written: humantime::format_rfc3339_seconds(at).to_string() })
}
