//! The entry point of the program: parses the command line, handles signals, and runs the command.

use std::io::{BufReader, BufWriter, Write};
use std::process::ExitCode;

use reporting::report::StandardOutput;
use reporting::text::shortened;
use reporting::{limits, scratch};
use timermeter::agents::children::{self, guard};
use timermeter::cli::{Cli, Verb};
use timermeter::commands::{
    CommandError, agent, answer, check, compare, completions, counter, explain, gate, list,
    measure, measure_worker, pick, probe, publish, samples, set_common, table, wait, watch,
};
use timermeter::messages::{in_locale, print_message};
use timers::os::Pid;
use timers::os::files;
use timers::os::process::{NEEDS_GUARD, has_exited, why_left};
use timers::os::signals::{self, EndRequest};

#[global_allocator]
static ALLOCATOR: timers::allocations::CountingAllocator = timers::allocations::CountingAllocator;

/// Exit status if the result is incomplete, a condition of `compare` or `gate` holds, or `check` finds the
/// machine unfit for measurements. The help texts describe all exit statuses.
const INCOMPLETE_STATUS: u8 = 3;

fn main() -> ExitCode {
    // These calls come before any other thread starts. The first restores the permission to read
    // the counter, which the parent process may have removed; the second saves address space if it
    // is limited.
    timers::os::machine::regain_counter();
    timers::os::limits::share_allocator_arena();
    if let Err(why) = limits::check_memory() {
        return exit_code(Err(CommandError::Failed(why.to_string())));
    }
    let Cli {
        common,
        answer,
        command,
    } = match limits::run_on_large_stack(parse_arguments) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    set_common(common);
    let command = command.unwrap_or(Verb::Answer(answer));
    match command {
        // These commands run on the first thread, because the parent process binds the first thread
        // of a worker to a CPU and counts its context switches.
        Verb::Agent(_) | Verb::MeasureWorker(_) | Verb::Guard => exit_code(run(&command)),
        command => limits::run_on_large_stack(move || {
            let code = exit_code(prepare(&command).and_then(|()| run(&command)));
            if interrupted() && !handles_signals(&command) {
                // Another thread is ending the process because of the signal.
                timers::pause(timermeter::commands::SHUTDOWN_LIMIT);
            }
            end_children();
            code
        }),
    }
}

/// Parses the command line. If it is wrong or asks for help, prints the message, with very long
/// words shortened, and returns the exit status.
fn parse_arguments() -> Result<Cli, ExitCode> {
    Cli::read().map_err(|error| {
        let message = error.render().to_string();
        let short: Vec<String> = message.split('\n').map(shortened).collect();
        let short = in_locale(short.join("\n"));
        let printed = if short == message {
            error.print()
        } else if error.use_stderr() {
            write!(std::io::stderr(), "{short}")
        } else {
            write!(std::io::stdout(), "{short}")
        };
        match files::check_output().and(printed) {
            Err(unwritten) if !error.use_stderr() => exit_code(Err(unwritten.into())),
            _ => ExitCode::from(error.exit_code() as u8),
        }
    })
}

/// Returns the exit status for the result of a command, and prints its error.
fn exit_code(result: Result<bool, CommandError>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(INCOMPLETE_STATUS),
        // The reader of the output has ended, as `head` does after its last line.
        Err(CommandError::Closed) => ExitCode::SUCCESS,
        // The signal thread reports the interrupt. The error is only its consequence, so it is not
        // printed.
        Err(_) if interrupted() => ExitCode::from(signals::end_request().map_or(
            CommandError::Interrupted.exit_status(),
            EndRequest::exit_status,
        )),
        Err(error) => {
            print_message(&error);
            ExitCode::from(error.exit_status())
        }
    }
}

/// Returns whether a signal asked this program to end, even if the thread that handles signals has
/// not run yet.
fn interrupted() -> bool {
    children::interrupted() || signals::end_request().is_some()
}

/// Returns whether a command starts child processes.
fn starts_children(command: &Verb) -> bool {
    matches!(
        command,
        Verb::Answer(_)
            | Verb::Wait(_)
            | Verb::List(_)
            | Verb::Pick(_)
            | Verb::Measure(_)
            | Verb::Check(_)
            | Verb::Gate(_)
    ) || matches!(command, Verb::Compare(args) if args.probes())
        || matches!(command, Verb::Probe(args) if args.from.is_empty())
}

/// Returns whether a command handles signals itself, because it prints its results before it ends.
fn handles_signals(command: &Verb) -> bool {
    matches!(command, Verb::Watch(_))
}

/// Returns whether a command reads a clock of the kernel, to wait or to record the current time.
fn needs_clock(command: &Verb) -> bool {
    starts_children(command)
        || matches!(command, Verb::Probe(_) | Verb::Publish(_) | Verb::Watch(_))
}

/// Prepares a command: returns an error if it needs a clock and can read none, and starts to handle
/// the signals that end the program ([`end`]).
fn prepare(command: &Verb) -> Result<(), CommandError> {
    if needs_clock(command) {
        // A process is no child of its own, so the call that looks for it says that it is gone.
        if NEEDS_GUARD && !has_exited(Pid::own()) {
            return Err(CommandError::Failed(
                "the kernel refuses waitid to this process: allow the call in the sandbox".into(),
            ));
        }
        // First: a read must not kill the process (PR_SET_TSC, seccomp). Then: a read must succeed.
        timers::os::machine::check_time_is_readable()
            .map_err(|why| CommandError::Failed(children::with_remedy(&why)))?;
        if timers::kernel_time().is_none() {
            return Err(CommandError::Failed(
                "the kernel refuses clock_gettime to this process: allow the call in the sandbox"
                    .into(),
            ));
        }
    }
    let starts_children = starts_children(command);
    if starts_children {
        // This changes the environment; the first thread only waits for this one, so no other thread
        // uses it.
        children::own_descendants();
        if let Some(why) = children::why_descendants_unknown() {
            print_message(&format_args!(
                "{why}: child processes that leave their process group are not ended with this program, and disturbances of workers are not detected; \
                 mount the /proc of this namespace (unshare --mount-proc, bwrap --proc /proc)"
            ));
        }
    }
    if handles_signals(command) {
        // `watch` itself checks whether a signal has arrived (`signals::end_request`); it then ends
        // with its summary, unless nobody reads its output.
        let end_if_blocked = |request: EndRequest| {
            timers::pause(timermeter::commands::SHUTDOWN_LIMIT);
            request.obey();
        };
        return signals::listen(end_if_blocked).map_err(|error| {
            CommandError::Failed(format!("cannot listen for interrupts: {error}"))
        });
    }
    let listening = signals::listen(move |request| end(request, starts_children));
    match listening {
        // Without a handler, signals keep their default action, which is enough if there are no
        // child processes to end.
        Err(error) if starts_children => Err(CommandError::Failed(format!(
            "cannot listen for interrupts: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Ends the program after a signal: ends its child processes and removes unfinished files.
fn end(request: EndRequest, starts_children: bool) {
    children::interrupt();
    scratch::abandon();
    end_children();
    if starts_children {
        print_message(&CommandError::Interrupted);
        std::process::exit(request.exit_status().into());
    }
    // The default action of the signal ends the program, so the parent sees the signal.
    request.obey();
}

/// Ends the child processes, and reports those that do not end.
fn end_children() {
    for group in children::finish() {
        let why = why_left(group);
        print_message(&format_args!(
            "process group {group}, which this program started, cannot be ended, because it {why}: `sudo kill -9 -- -{group}`, outside any sandbox, ends it"
        ));
    }
}

/// Runs a command. Returns whether its result is complete; otherwise the exit status is
/// `INCOMPLETE_STATUS`.
fn run(command: &Verb) -> Result<bool, CommandError> {
    let mut buffered = BufWriter::new(StandardOutput);
    let output = &mut buffered;
    let done = |result: Result<(), CommandError>| result.map(|()| true);
    let is_complete = match command {
        Verb::Answer(args) => done(answer::run(args, output)),
        Verb::Probe(args) => probe::run(args, output),
        Verb::Wait(args) => wait::run(args, output),
        Verb::Publish(args) => publish::run(args, output),
        Verb::Table(args) => table::run(args, output),
        Verb::Compare(args) => compare::run(args, output),
        Verb::Gate(args) => gate::run(args, output),
        Verb::List(args) => list::run(args, output),
        Verb::Explain(args) => done(explain::run(args, output)),
        Verb::Check(args) if args.counter => counter::run(args, output),
        Verb::Check(args) => check::run(args, output),
        Verb::Watch(args) => watch::run(args, output),
        Verb::Pick(args) => pick::run(args, output),
        Verb::Measure(args) => measure::run(args, output),
        Verb::Samples(args) => samples::run(args, output),
        Verb::Completions(args) => done(completions::run(args, output)),
        Verb::MeasureWorker(args) => done(measure_worker::serve(&args.request, output)),
        Verb::Agent(args) => {
            drop(buffered);
            return done(agent::run(args));
        }
        Verb::Guard => {
            guard::serve(&mut BufReader::new(std::io::stdin().lock()));
            Ok(true)
        }
    }?;
    buffered.flush()?;
    Ok(is_complete)
}
