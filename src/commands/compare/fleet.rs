//! `compare FOLDER FOLDER`: what changed in a fleet.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::super::{CommandError, failed, pretty, tell, tell_refused, terminal_style};
use super::{held, tell_held};
use crate::cli::{CompareArgs, CompareFormat};
use crate::comparison::fleet::{FleetComparison, FleetsRead, render_markdown, render_table};

/// Names that are told where several reports share one.
const MOST_NAMED: usize = 5;

/// Runs the command. Returns whether all could be compared and no condition holds.
///
/// # Errors
/// When nothing can be compared, or the output cannot be written.
pub fn run(args: &CompareArgs, old: &Path, new: &Path, output: &mut dyn Write) -> Result<bool, CommandError> {
    let FleetsRead { comparison, read, refused } = FleetComparison::read(old, new);
    let complete = [tell_refused(&refused[0], read[0])?, tell_refused(&refused[1], read[1])?] == [true; 2];
    let Some(comparison) = comparison else {
        return Err(failed(format!(
            "'{}' and '{}' have no node in common, and too few others of one timer to be compared; a node is called by its folder or \
             file below the one that is named",
            old.display(),
            new.display()
        )));
    };
    tell_oddities(&comparison);
    let held = held(args, &comparison.as_one());
    match args.format {
        CompareFormat::Table => {
            write!(output, "{}", render_table(&comparison, args.all, terminal_style()))?;
        }
        CompareFormat::Markdown => write!(output, "{}", render_markdown(&comparison, args.all))?,
        CompareFormat::Json => {
            let mut value = comparison.as_json();
            value["conditions"] = json!(held);
            writeln!(output, "{}", pretty(&value)?)?;
        }
    }
    tell_held(args, &held, output)?;
    output.flush()?;
    Ok(complete && held.is_empty())
}

/// What makes a comparison another one than was meant.
fn tell_oddities(comparison: &FleetComparison) {
    let doubled = &comparison.doubled;
    if !doubled.is_empty() {
        let named = &doubled[..doubled.len().min(MOST_NAMED)];
        let more = doubled.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        tell(&format!(
            "several reports of a folder are called {}{more}: each of them is a node of its own, called by its file",
            named.join(", ")
        ));
    }
    let (backwards, both) = (comparison.backwards, comparison.nodes.both);
    if 2 * backwards > both {
        tell(&format!(
            "{backwards} of {both} nodes have a new report that was made before the old one: is the first folder the old one?"
        ));
    } else if backwards > 0 {
        tell(&format!(
            "{backwards} of {both} nodes have a new report that says it was made before the old one: their clocks were set wrong; they \
             are compared all the same"
        ));
    }
}
