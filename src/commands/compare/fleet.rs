//! `compare FOLDER FOLDER`: what changed in a fleet.

use std::io::Write;
use std::path::Path;

use super::super::{CommandError, pretty, tell, tell_refused, terminal_style};
use super::gate::Gate;
use super::untold;
use crate::cli::{CompareArgs, CompareFormat};
use crate::comparison::fleet::{Aside, FleetComparison, FleetsRead, render_markdown, render_table};
use crate::text::{and_more, counted};

/// Names that are told where several reports share one.
const MOST_NAMED: usize = 5;

/// Runs the command. Returns whether no condition holds.
///
/// # Errors
/// When nothing can be compared, something could not be told, or the output cannot be written.
pub fn run(args: &CompareArgs, old: &Path, new: &Path, output: &mut dyn Write) -> Result<bool, CommandError> {
    let FleetsRead { comparison, read, refused } = FleetComparison::read(old, new);
    let complete = [0, 1].map(|side: usize| tell_refused(&refused[side], read[side]).map_err(untold));
    let [old_complete, new_complete] = complete;
    let complete = [old_complete?, new_complete?] == [true; 2];
    let Some(comparison) = comparison else {
        return Err(untold(format!(
            "'{}' and '{}' have no node in common, and too few others of one timer to be compared; a node is called as its run was told \
             (--node), or by its folder or file",
            old.display(),
            new.display()
        )));
    };
    tell_oddities(&comparison);
    let gate = Gate::of(args, &comparison.as_one(), complete)?;
    match args.format {
        CompareFormat::Table => {
            write!(output, "{}", render_table(&comparison, args.all, terminal_style()))?;
        }
        CompareFormat::Markdown => write!(output, "{}", render_markdown(&comparison, args.all))?,
        CompareFormat::Json => {
            writeln!(output, "{}", pretty(&gate.with(comparison.as_json()))?)?;
        }
    }
    gate.tell(args, output)?;
    output.flush()?;
    gate.ended()
}

/// What makes a comparison another one than was meant.
fn tell_oddities(comparison: &FleetComparison) {
    let Aside { earlier, unnamed, shared } = &comparison.aside;
    let shared: Vec<&str> = shared.iter().map(String::as_str).collect();
    if !shared.is_empty() {
        let named = and_more(&shared[..shared.len().min(MOST_NAMED)], shared.len());
        tell(&format!(
            "several machines of a folder are called {named}: their reports are called by their files"
        ));
    }
    if *earlier > 0 {
        tell(&format!(
            "{} of nodes that have a later one in their folder: the last is taken",
            counted(*earlier, "report")
        ));
    }
    if *unnamed > 0 {
        tell(&super::super::unnamed(*unnamed, comparison.nodes.reports()));
    }
    let (backwards, both) = (comparison.backwards, comparison.nodes.both);
    let of = format!("{backwards} of {}", counted(both, "node"));
    let (have, theirs) = match backwards {
        1 => ("has", "its clock was set wrong; it is compared all the same"),
        _ => ("have", "their clocks were set wrong; they are compared all the same"),
    };
    if 2 * backwards > both {
        tell(&format!(
            "{of} {have} a new report that was made before the old one: is the first folder the old one?"
        ));
    } else if backwards > 0 {
        tell(&format!("{of} {have} a new report that says it was made before the old one: {theirs}"));
    }
}
