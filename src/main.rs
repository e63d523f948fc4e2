//! The command line program.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use timermeter::cli::{Cli, Command};
use timermeter::commands::{
    CommandError, agent, agent_check, analyse, check, compare, inspect, list, measure, pick, platform, probe,
    publish, rehearse, report, score, selftest, table, trial,
};
use timermeter::prober::children;

#[cfg(feature = "allocations")]
#[global_allocator]
static ALLOCATOR: timers::allocations::Counting = timers::allocations::Counting;

/// Done, but not all of it, or a condition holds, or the machine is not fit to be measured: see the exit statuses in the help.
const DONE_BUT: u8 = 3;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(DONE_BUT),
        Err(CommandError::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            // Where nobody reads standard error either, the status has to do.
            let _ = writeln!(std::io::stderr(), "timermeter: {error}");
            ExitCode::from(error.exit_status())
        }
    }
}

fn run(command: &Command) -> Result<bool, CommandError> {
    if let Command::Agent(args) = command {
        return agent::run(args).map(|()| true);
    }
    if let Command::Probe(_) | Command::Inspect(_) | Command::List(_) | Command::AgentCheck(_) = command {
        // Children end and unfinished files go before this program does. The other commands have neither.
        ctrlc::set_handler(children::interrupt)
            .map_err(|error| CommandError::Failed(format!("cannot listen for interrupts: {error}")))?;
    }
    let mut output = BufWriter::new(std::io::stdout().lock());
    let settled = match command {
        Command::Probe(args) => probe::run(args, &mut output)?,
        Command::Analyse(args) => analyse::run(args, &mut output).map(|()| true)?,
        Command::Inspect(args) => inspect::run(args, &mut output)?,
        Command::Report(args) => report::run(args, &mut output)?,
        Command::Publish(args) => publish::run(args, &mut output)?,
        Command::Table(args) => table::run(args, &mut output)?,
        Command::Compare(args) => compare::run(args, &mut output)?,
        Command::List(args) => list::run(args, &mut output)?,
        Command::AgentCheck(args) => agent_check::run(args, &mut output)?,
        Command::Platform(args) => platform::run(args, &mut output).map(|()| true)?,
        Command::Check(args) => check::run(args, &mut output)?,
        Command::Score(args) => score::run(args, &mut output).map(|()| true)?,
        Command::Selftest(args) => selftest::run(args, &mut output).map(|()| true)?,
        Command::Pick(args) => pick::run(args, &mut output)?,
        Command::Measure(args) => measure::run(args, &mut output)?,
        Command::Rehearse(args) => rehearse::run(args, &mut output)?,
        Command::MeasureWorker(args) => trial::serve(&args.request, &mut output).map(|()| true)?,
        Command::Agent(_) => true,
    };
    output.flush()?;
    Ok(settled)
}
