//! `platform`: identifies the machine.

use std::io::Write;

use serde::Serialize;

use super::{CommandError, failed, terminal_style};
use crate::cli::PlatformArgs;
use crate::model::{Frequency, Platform};
use crate::platform;
use crate::platform::frequency::{self, Parts, TscWatch};
use crate::report::{conditions, machine, terminal};
use crate::table::Format;

#[derive(Serialize)]
struct Identified {
    date: String,
    platform: Platform,
    frequency: Frequency,
}

/// Runs the command.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &PlatformArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    let allowed = timers::allowed_cpus().unwrap_or_default();
    let cpu = platform::quietest_cpu(&allowed);
    let tsc = TscWatch::begin(timers::RATE_SOURCES[0]);
    let before = frequency::effective(cpu);
    let (tsc, nominal) = (tsc.and_then(TscWatch::end), frequency::nominal());
    let parts = Parts {
        before,
        tsc,
        nominal,
        ..Parts::default()
    };
    let (frequency, _) =
        frequency::summarise(&parts, frequency::CyclesFrom::Effective).map_err(failed)?;
    let date = humantime::format_rfc3339_seconds(timers::date()).to_string();
    let platform = platform::identify(cpu);
    match args.format {
        Format::Json => {
            writeln!(
                output,
                "{}",
                super::pretty(&Identified {
                    date,
                    platform,
                    frequency
                })?
            )?;
        }
        _ => {
            let mut facts = machine::facts(&platform, &frequency);
            facts.extend(conditions::details(&platform));
            facts.push(("date", date));
            write!(output, "{}", terminal::machine(&facts, terminal_style()))?;
        }
    }
    Ok(())
}
