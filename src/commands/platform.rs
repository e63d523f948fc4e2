//! `platform`: prints the facts about this machine that reports contain.

use std::io::Write;

use serde::Serialize;

use super::{CommandResult, date, emit, failed, machine_document, prepare_outputs};
use crate::cli::PlatformArgs;
use crate::model::{Frequency, Platform};
use crate::platform;
use crate::platform::frequency::{self, KnownFrequencies, TscWatch};
use crate::report::machine;

/// The JSON document of `platform`.
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
pub fn run(args: &PlatformArgs, output: &mut dyn Write) -> CommandResult {
    let outputs = prepare_outputs(&args.output)?;
    let allowed = timers::allowed_cpus().unwrap_or_default();
    let cpu = platform::quietest_cpu(&allowed);
    let tsc = TscWatch::begin(timers::RATE_SOURCES[0]);
    let before = frequency::measure_effective(cpu);
    let (tsc, nominal) = (tsc.and_then(TscWatch::end), frequency::nominal());
    let parts = KnownFrequencies {
        before,
        tsc,
        nominal,
        ..KnownFrequencies::default()
    };
    let (frequency, _) =
        frequency::summarise(&parts, frequency::CyclesFrom::Effective, None).map_err(failed)?;
    let identified = Identified {
        date: date(),
        platform: platform::identify(cpu),
        frequency,
    };
    let mut facts = machine::facts(&identified.platform, &identified.frequency);
    facts.push(("date", identified.date.clone()));
    emit(
        &machine_document(None, &identified).conditions(facts),
        outputs,
        output,
    )
}
