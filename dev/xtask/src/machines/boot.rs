//! Runs one machine: starts the emulator, acts on it from outside if the guest requests that, and
//! collects the result files.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::list::Machine;
use super::{answer, guest};
use crate::Outcome;

/// The interval at which a running machine is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The number of polls, in a quarter of an hour, after which a machine counts as hung.
const MAX_POLLS: u32 = 50 * 60 * 15;
/// The text before a request of the guest for an action from outside.
const REQUEST_MARK: &str = "from outside: ";

/// Boots a machine and writes the kernel log and the result files of the guest to `folder`.
///
/// # Errors
/// If the machine cannot be started, hangs, or ends without result files.
pub fn boot(machine: &Machine, parts: &Path, folder: &Path) -> Outcome<()> {
    let name = machine.name;
    let work = temporary_folder(name)?;
    let [initramfs, log, monitor] =
        ["initramfs", "kernel.log", "monitor"].map(|name| work.join(name));
    guest::write(&initramfs, parts, machine)?;
    let mut command = machine.emulator.command();
    command.args(machine.options).args([
        "-m",
        "512",
        "-display",
        "none",
        "-nodefaults",
        "-no-reboot",
    ]);
    command
        .arg("-kernel")
        .arg(parts.join("kernel"))
        .arg("-initrd")
        .arg(&initramfs);
    let line = format!(
        "console={} quiet panic=-1 no_timer_check {}",
        machine.emulator.console, machine.parameters
    );
    command
        .args([
            "-append",
            &line,
            "-serial",
            &format!("file:{}", log.display()),
        ])
        .stdin(Stdio::null());
    command.args([
        "-qmp",
        &format!("unix:{},server=on,wait=off", monitor.display()),
    ]);
    let program = machine.emulator.program;
    let mut running = command.spawn().map_err(|error| {
        format!(
            "{program} cannot be started ({error}): apt install {}",
            machine.emulator.package
        )
    })?;
    let finished = run_until_end(&mut running, &log, &monitor);
    let _ = running.kill();
    let _ = running.wait();
    finished.map_err(|error| format!("{error}; last console output: {}", last_lines(&log)))?;
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let console = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let kernel_log = answer::unpack(&console, folder)
        .map_err(|error| format!("{error}; last console output: {}", last_lines(&log)))?;
    fs::write(folder.join("kernel.log"), kernel_log)?;
    Ok(fs::remove_dir_all(&work)?)
}

/// Creates a temporary folder for the machine, with a short path because of the emulator's socket.
fn temporary_folder(name: &str) -> Outcome<std::path::PathBuf> {
    let folder = std::env::temp_dir().join(format!("timermeter-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Returns the last five lines of the console output.
fn last_lines(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

/// Carries out the requests of the guest until the machine ends.
fn run_until_end(running: &mut Child, log: &Path, monitor: &Path) -> Outcome<()> {
    let mut done = 0;
    for _ in 0..MAX_POLLS {
        if let Some(status) = running.try_wait()? {
            return if status.success() {
                Ok(())
            } else {
                Err(format!("the emulator ended with {status}").into())
            };
        }
        let console = fs::read(log).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let requests: Vec<&str> = console
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .filter_map(|line| line.trim().split_once(REQUEST_MARK))
            .map(|(_, request)| request)
            .collect();
        for request in requests.iter().skip(done) {
            act(request, running, monitor)?;
        }
        done = requests.len();
        thread::sleep(POLL_INTERVAL);
    }
    Err("it did not end within a quarter of an hour".into())
}

/// Carries out a request: `stop 5` stops the emulator with SIGSTOP for five seconds, `pause 5`
/// makes the emulator pause its machine.
fn act(request: &str, running: &Child, monitor: &Path) -> Outcome<()> {
    let (action, seconds) = request
        .split_once(' ')
        .ok_or_else(|| format!("`{request}` is an unknown request"))?;
    let span = Duration::from_secs_f64(seconds.parse()?);
    match action {
        "stop" => {
            signal("-STOP", running)?;
            thread::sleep(span);
            signal("-CONT", running)
        }
        "pause" => {
            let stream = UnixStream::connect(monitor)?;
            let mut answers = BufReader::new(stream.try_clone()?).lines();
            let mut ask = |command: &str| -> Outcome<()> {
                writeln!(&stream, "{{\"execute\":\"{command}\"}}")?;
                for answer in answers.by_ref() {
                    if answer?.contains("\"return\"") {
                        return Ok(());
                    }
                }
                Err("the emulator's monitor does not answer".into())
            };
            ask("qmp_capabilities")?;
            ask("stop")?;
            thread::sleep(span);
            ask("cont")
        }
        _ => Err(format!("`{request}` is an unknown request").into()),
    }
}

fn signal(which: &str, running: &Child) -> Outcome<()> {
    let status = Command::new("kill")
        .args([which, &running.id().to_string()])
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err("the emulator cannot be stopped".into())
    }
}
