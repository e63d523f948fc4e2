//! Runs the program: parses the command line, prepares what the verb needs, handles signals, and makes the
//! exit status.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use timers::os::files;
use timers::os::process::{NEEDS_GUARD, has_exited, why_left};
use timers::os::signals::{self, EndRequest};
use timers::os::{Pid, machine};

use crate::agents::children;
use crate::cli::{Cli, Needs, Verb};
use crate::commands::{self, CommandError, CommandResult, SHUTDOWN_LIMIT, failed, set_common};
use crate::messages::{in_locale, print_message};
use reporting::report::StandardOutput;
use reporting::text::shortened;
use reporting::{limits, scratch};

/// Exit status if the result is incomplete, a condition of `compare` or `gate` holds, or `check` finds the
/// machine unfit for measurements. The help texts describe all exit statuses.
const INCOMPLETE_STATUS: u8 = 3;

/// Runs the program on the first thread of its process.
pub fn main() -> ExitCode {
    // These calls come before any other thread starts. The first restores the permission to read
    // the counter, which the parent process may have removed; the second saves address space if it
    // is limited.
    machine::regain_counter();
    timers::os::limits::share_allocator_arena();
    if let Err(why) = limits::check_memory() {
        return exit_code(Err(failed(why)));
    }
    let verb = match limits::run_on_large_stack(parse_arguments) {
        Ok(verb) => verb,
        Err(code) => return code,
    };
    match verb.needs() {
        Needs::FirstThread => exit_code(run(&verb)),
        needs => limits::run_on_large_stack(move || {
            let code = exit_code(prepare(needs).and_then(|()| run(&verb)));
            if interrupted() && needs != Needs::OwnSignals {
                // Another thread is ending the process because of the signal.
                timers::pause(SHUTDOWN_LIMIT);
            }
            end_children();
            code
        }),
    }
}

/// Parses the command line. If it is wrong or asks for help, prints the message, with very long
/// words shortened and without what controls a terminal, and returns the exit status.
fn parse_arguments() -> Result<Verb, ExitCode> {
    let error = match Cli::read() {
        Ok(cli) => {
            set_common(cli.common);
            return Ok(cli.command.unwrap_or(Verb::Answer(cli.answer)));
        }
        Err(error) => error,
    };
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
    Err(match files::check_output().and(printed) {
        Err(unwritten) if !error.use_stderr() => exit_code(Err(unwritten.into())),
        _ => ExitCode::from(error.exit_code() as u8),
    })
}

/// Runs a verb, and writes what it prints.
fn run(verb: &Verb) -> CommandResult<bool> {
    let mut output = BufWriter::new(StandardOutput);
    let is_complete = commands::run(verb, &mut output)?;
    output.flush()?;
    Ok(is_complete)
}

/// Returns the exit status for the result of a command, and prints its error.
fn exit_code(result: CommandResult<bool>) -> ExitCode {
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

/// Prepares what a verb needs: a clock that can be read, children that can be ended, and signals that end
/// the program.
fn prepare(needs: Needs) -> CommandResult {
    if needs != Needs::Files {
        check_clock()?;
    }
    let starts_children = needs == Needs::Children;
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
    let listening = signals::listen(move |request| match needs {
        // `watch` ends with its summary, unless nobody reads its output.
        Needs::OwnSignals => {
            timers::pause(SHUTDOWN_LIMIT);
            request.obey();
        }
        _ => end(request, starts_children),
    });
    match listening {
        Err(error) if starts_children || needs == Needs::OwnSignals => {
            Err(failed(format!("cannot listen for interrupts: {error}")))
        }
        // Without a handler, signals keep their default action, which is enough if there are no
        // child processes to end.
        _ => Ok(()),
    }
}

/// Checks that this process may wait for others, and read a clock of the kernel.
fn check_clock() -> CommandResult {
    let refused = |call: &str| {
        failed(format!(
            "the kernel refuses {call} to this process: allow the call in the sandbox"
        ))
    };
    // A process is no child of its own, so the call that looks for it says that it is gone.
    if NEEDS_GUARD && !has_exited(Pid::own()) {
        return Err(refused("waitid"));
    }
    // First: a read must not kill the process (PR_SET_TSC, seccomp). Then: a read must succeed.
    machine::check_time_is_readable().map_err(|why| failed(children::with_remedy(&why)))?;
    match timers::kernel_time() {
        Some(_) => Ok(()),
        None => Err(refused("clock_gettime")),
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
