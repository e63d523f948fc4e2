//! One machine: the emulator started, what has to be done to it from outside, and what it hands
//! back.

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

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// A machine that did not end by then hangs.
const LOOKS: u32 = 50 * 60 * 15;
/// What the guest says before what is to be done to it from outside.
const MARK: &str = "from outside: ";

/// Boots it and keeps what it says in `folder`: what the kernel said, and the files that the guest
/// hands back.
///
/// # Errors
/// When it cannot be started, hangs, or ends without an answer.
pub fn boot(machine: &Machine, parts: &Path, folder: &Path) -> Outcome<()> {
    let name = machine.name;
    let work = tempfile_folder(name)?;
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
    let attended = attend(&mut running, &log, &monitor);
    let _ = running.kill();
    let _ = running.wait();
    attended.map_err(|error| format!("{error}; it said: {}", last(&log)))?;
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let kernel = answer::unpack(&said, folder).map_err(|error| {
        format!(
            "what it hands back cannot be read: {error}; it said: {}",
            last(&log)
        )
    })?;
    fs::write(folder.join("kernel.log"), kernel)?;
    Ok(fs::remove_dir_all(&work)?)
}

/// Where the machine lives meanwhile; the emulator's socket wants a short path.
fn tempfile_folder(name: &str) -> Outcome<std::path::PathBuf> {
    let folder = std::env::temp_dir().join(format!("timermeter-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn last(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

/// Does to it what it asks for, until it ends.
fn attend(running: &mut Child, log: &Path, monitor: &Path) -> Outcome<()> {
    let mut done = 0;
    for _ in 0..LOOKS {
        if let Some(status) = running.try_wait()? {
            return if status.success() {
                Ok(())
            } else {
                Err(format!("the emulator ended with {status}").into())
            };
        }
        let said = fs::read(log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let wishes: Vec<&str> = said
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .filter_map(|line| line.trim().split_once(MARK))
            .map(|(_, wish)| wish)
            .collect();
        for wish in wishes.iter().skip(done) {
            act(wish, running, monitor)?;
        }
        done = wishes.len();
        thread::sleep(LOOK);
    }
    Err("it did not end within a quarter of an hour".into())
}

/// `stop 5`: the emulator is stopped by SIGSTOP for five seconds. `pause 5`: it is asked to stop
/// its machine.
fn act(wish: &str, running: &Child, monitor: &Path) -> Outcome<()> {
    let (what, seconds) = wish
        .split_once(' ')
        .ok_or_else(|| format!("`{wish}` is not understood"))?;
    let span = Duration::from_secs_f64(seconds.parse()?);
    match what {
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
        _ => Err(format!("`{wish}` is not understood").into()),
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
