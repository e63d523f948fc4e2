//! `selftest --fleet`: fleets of known truth.

mod kept;

use std::io::Write;

use super::super::CommandError;
use crate::cli::SelftestArgs;
use crate::selftest::fleet::Fleet;

/// Runs the command.
///
/// # Errors
/// When the reports cannot be kept.
pub fn run(args: &SelftestArgs, nodes: u32, output: &mut dyn Write) -> Result<(), CommandError> {
    let fleet = Fleet::new(nodes, args.seed.unwrap_or(1));
    if let Some(place) = &args.save {
        kept::keep(&fleet, place)?;
        writeln!(output, "{nodes} nodes are kept in {}: before, after, midway, truth.json", place.display())?;
    }
    output.flush()?;
    Ok(())
}
