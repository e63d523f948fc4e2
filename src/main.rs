//! The command line program.

use std::io::{BufReader, BufWriter, Write};
use std::process::ExitCode;
use std::thread;

use timermeter::cli::{Cli, Command};
use timermeter::commands::{
    CommandError, agent, agent_check, analyse, answer, browser, check, colour, compare,
    completions, counter, inspect, list, measure, period, pick, platform, probe, publish, report,
    sources, table, tell, trial, wait, watch,
};
use timermeter::hosts::children::{self, guard};
use timermeter::text::shortened;
use timermeter::{limits, scratch};
use timers::os::signals::{self, Request};

#[cfg(feature = "allocations")]
#[global_allocator]
static ALLOCATOR: timers::allocations::Counting = timers::allocations::Counting;

/// Done, but not all of it, or a condition holds, or the machine is not fit to be measured: see the
/// exit statuses in the help.
const DONE_BUT: u8 = 3;

fn main() -> ExitCode {
    timers::os::machine::regain_counter();
    timers::os::limits::share_reserves();
    let Cli {
        color,
        answer,
        command,
    } = limits::on_roomy_stack(parsed);
    colour(color);
    let command = command.unwrap_or(Command::Answer(answer));
    match command {
        // Who moves a worker to another CPU or counts its switches does so with its first thread.
        Command::Agent(_)
        | Command::MeasureWorker(_)
        | Command::CounterRecipe(_)
        | Command::Guard => done(run(&command)),
        command => limits::on_roomy_stack(move || {
            let done = done(listen(&command).and_then(|()| run(&command)));
            if interrupted() && !ends_itself(&command) {
                // Who handles the signal ends the program.
                thread::sleep(timermeter::commands::ENDING);
            }
            children::finish();
            done
        }),
    }
}

/// What is wrong with the arguments is said without the middle of those that cannot be read.
fn parsed() -> Cli {
    Cli::read().unwrap_or_else(|error| {
        let whole = error.render().to_string();
        let short: Vec<String> = whole.split('\n').map(shortened).collect();
        let short = short.join("\n");
        if short == whole {
            error.exit();
        }
        // Help, which goes to standard output, has no such words.
        let _ = write!(std::io::stderr(), "{short}");
        std::process::exit(error.exit_code());
    })
}

fn done(ended: Result<bool, CommandError>) -> ExitCode {
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(DONE_BUT),
        Err(CommandError::Closed) => ExitCode::SUCCESS,
        // Who handles the signal tells it, and whatever failed did so because of that.
        Err(_) if interrupted() => ExitCode::from(signals::asked().map_or(
            CommandError::Interrupted.exit_status(),
            Request::exit_status,
        )),
        Err(error) => {
            tell(&error);
            ExitCode::from(error.exit_status())
        }
    }
}

/// Whether a signal asks this program to end: the thread that listens to it may not have heard of
/// it yet.
fn interrupted() -> bool {
    children::interrupted() || signals::asked().is_some()
}

/// Whether a command starts processes.
fn has_children(command: &Command) -> bool {
    matches!(
        command,
        Command::Answer(_)
            | Command::Probe(_)
            | Command::Wait(_)
            | Command::Period(_)
            | Command::Inspect(_)
            | Command::List(_)
            | Command::AgentCheck(_)
            | Command::Browser(_)
            | Command::Pick(_)
            | Command::Measure(_)
            | Command::Platform(_)
            | Command::Check(_)
    ) || matches!(command, Command::Compare(args) if args.probes())
}

/// Whether a command says what it has when a signal asks it to end.
fn ends_itself(command: &Command) -> bool {
    matches!(command, Command::Watch(_))
}

/// Whether a command waits for something, or says or writes when it was made. Without a clock the
/// standard library would panic.
fn needs_clock(command: &Command) -> bool {
    has_children(command)
        || matches!(
            command,
            Command::Analyse(_) | Command::Publish(_) | Command::Report(_) | Command::Watch(_)
        )
}

/// Has every signal that asks this program to end do so at once, whatever it is at: first all that
/// it started ends, and what it has not finished is removed.
fn listen(command: &Command) -> Result<(), CommandError> {
    if needs_clock(command) && timers::kernel_time().is_none() {
        return Err(CommandError::Failed(
            "the kernel lets this process read no clock (clock_gettime): allow the call in the sandbox"
                .into(),
        ));
    }
    let has_children = has_children(command);
    if has_children {
        children::own_all();
        if let Some(why) = children::hidden() {
            tell(&format_args!(
                "{why}: what leaves its process group is not ended with this program, and what disturbs a worker is not seen; \
                 mount the /proc of this namespace (unshare --mount-proc, bwrap --proc /proc)"
            ));
        }
    }
    if ends_itself(command) {
        // It looks for itself whether one came; a second one ends it as any other.
        return signals::listen(|_| ()).map_err(|error| {
            CommandError::Failed(format!("cannot listen for interrupts: {error}"))
        });
    }
    let listening = signals::listen(move |request| end(request, has_children));
    match listening {
        // Signals do then what they do by themselves, which is enough where nothing has to be
        // ended.
        Err(error) if has_children => Err(CommandError::Failed(format!(
            "cannot listen for interrupts: {}",
            limits::explain(&error).unwrap_or_else(|| error.to_string())
        ))),
        _ => Ok(()),
    }
}

fn end(request: Request, has_children: bool) {
    children::interrupt();
    scratch::abandon();
    children::finish();
    if has_children {
        tell(&CommandError::Interrupted);
        std::process::exit(request.exit_status().into());
    }
    request.obey();
}

fn run(command: &Command) -> Result<bool, CommandError> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    let settled = match command {
        Command::Answer(args) => answer::run(args, &mut output).map(|()| true)?,
        Command::Probe(args) => probe::run(args, &mut output)?,
        Command::Wait(args) => wait::run(args, &mut output)?,
        Command::Period(args) => period::run(args, &mut output)?,
        Command::Analyse(args) => analyse::run(args, &mut output).map(|()| true)?,
        Command::Inspect(args) => inspect::run(args, &mut output)?,
        Command::Report(args) => report::run(args, &mut output)?,
        Command::Publish(args) => publish::run(args, &mut output)?,
        Command::Table(args) => table::run(args, &mut output)?,
        Command::Compare(args) => compare::run(args, &mut output)?,
        Command::List(args) => list::run(args, &mut output)?,
        Command::AgentCheck(args) => agent_check::run(args, &mut output)?,
        Command::Platform(args) => platform::run(args, &mut output).map(|()| true)?,
        Command::Check(args) if args.counter => counter::run(args, &mut output)?,
        Command::Check(args) if args.sources => sources::run(args, &mut output)?,
        Command::Check(args) => check::run(args, &mut output)?,
        Command::Watch(args) => watch::run(args, &mut output)?,
        Command::Pick(args) => pick::run(args, &mut output)?,
        Command::Measure(args) => measure::run(args, &mut output)?,
        Command::Completions(args) => completions::run(args, &mut output).map(|()| true)?,
        Command::MeasureWorker(args) => trial::serve(&args.request, &mut output).map(|()| true)?,
        Command::CounterRecipe(args) => counter::recipe(args, &mut output).map(|()| true)?,
        Command::Agent(args) => {
            drop(output);
            return agent::run(args).map(|()| true);
        }
        Command::Browser(args) => {
            drop(output);
            return browser::run(args).map(|()| true);
        }
        Command::Guard => {
            guard::serve(&mut BufReader::new(std::io::stdin().lock()));
            true
        }
    };
    output.flush()?;
    Ok(settled)
}
