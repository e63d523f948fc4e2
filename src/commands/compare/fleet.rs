//! `compare FOLDER FOLDER`: what changed in a fleet.

use std::io::Write;
use std::path::Path;

use super::super::{CommandError, pretty, tell, tell_refused, terminal_style};
use super::gate::Gate;
use super::{trend, untold};
use crate::cli::{CompareArgs, CompareFormat};
use crate::comparison::fleet::{Aside, FleetComparison, FleetsRead, render_markdown, render_table};
use crate::fleet::trend::Trends;
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
    let told = Told { comparison: &comparison, trends: None, complete };
    told.tell(args, output)
}

/// A comparison of fleets, as it is printed.
pub(super) struct Told<'a> {
    pub comparison: &'a FleetComparison,
    /// What nodes and groups cost over time, where that is told.
    pub trends: Option<&'a Trends>,
    /// Whether all reports could be read.
    pub complete: bool,
}

impl Told<'_> {
    /// Prints it, and what became of the conditions. Returns whether none holds.
    pub fn tell(self, args: &CompareArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
        let Self { comparison, trends, complete } = self;
        tell_oddities(comparison);
        let gate = Gate::of(args, &comparison.as_one(), complete)?;
        match args.format {
            CompareFormat::Table => {
                write!(output, "{}", render_table(comparison, args.all, terminal_style()))?;
                if let Some(trends) = trends {
                    trend::on_terminal(trends, comparison, args.all, output)?;
                }
            }
            CompareFormat::Markdown => {
                write!(output, "{}", render_markdown(comparison, args.all))?;
                if let Some(trends) = trends {
                    trend::as_markdown(trends, comparison, args.all, output)?;
                }
            }
            CompareFormat::Json => {
                let mut value = comparison.as_json();
                if let Some(trends) = trends {
                    value["trends"] = trend::as_json(trends, comparison, args.all);
                }
                writeln!(output, "{}", pretty(&gate.with(value))?)?;
            }
        }
        gate.tell(args, output)?;
        output.flush()?;
        gate.ended()
    }
}

/// What makes a comparison another one than was meant.
fn tell_oddities(comparison: &FleetComparison) {
    let Aside { earlier, unnamed, shared } = &comparison.aside;
    let shared: Vec<&str> = shared.iter().map(String::as_str).collect();
    if !shared.is_empty() {
        let named = and_more(&shared[..shared.len().min(MOST_NAMED)], shared.len());
        tell(&format!(
            "several machines of a side are called {named}: their reports are called by their files"
        ));
    }
    if *earlier > 0 {
        tell(&format!(
            "{} of nodes that have a later one on the same side: the last is taken",
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
