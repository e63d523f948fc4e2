//! How far the system clock is from a time that other machines keep too: the services that know it are asked. Nothing is set, and no clock is
//! touched.
//!
//! | file | asks |
//! |---|---|
//! | `chrony.rs` | chronyd, by `chronyc` where it is installed |
//! | `ptp4l.rs` | ptp4l, by `pmc` where it is installed |
//! | `devices.rs` | clocks on devices, `/dev/ptp0` and so on |
//! | `kernel.rs` | the kernel, by adjtimex(2) |

mod chrony;
mod devices;
mod kernel;
mod ptp4l;

use std::path::Path;
use std::time::Duration;

use crate::model::{CommonTime, Platform};
use crate::platform::{self, Root};
use crate::prober::tool;

/// As long as a program of others may take to answer: it asks a daemon on the same machine, which takes milliseconds, or does not answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Names are no longer than this: a host name has 253 characters (RFC 1035).
const LONGEST_NAME: usize = 253;

/// Identifies this machine, as [`platform::identify`] does, and asks for the common time.
#[must_use]
pub fn identify(cpu: Option<u32>) -> Platform {
    Platform { common_time: Some(ask(&Root::system())), ..platform::identify(cpu) }
}

/// What each service that knows of a common time says. Those who know the whole way to it come first, the kernel, which hands on what it was told, last.
/// Programs and devices that are not there are left out.
#[must_use]
pub fn ask(root: &Root) -> Vec<CommonTime> {
    let devices = devices::ask(root);
    let ptp4l = asked("pmc", &ptp4l::ARGS, ptp4l::read);
    let chain = devices::chain(ptp4l.as_ref(), &devices);
    let chrony = asked("chronyc", &chrony::ARGS, chrony::read);
    let mut all: Vec<CommonTime> = [chrony, chain, ptp4l].into_iter().flatten().collect();
    all.extend(devices);
    all.extend(kernel::ask());
    all
}

/// What a program says, if it is there.
fn asked(program: &str, args: &[&str], read: fn(Result<&str, String>) -> CommonTime) -> Option<CommonTime> {
    let program = tool::find(&[program])?;
    Some(answer(&program, args, read))
}

fn answer(program: &Path, args: &[&str], read: fn(Result<&str, String>) -> CommonTime) -> CommonTime {
    let said = tool::run_within(PATIENCE, program, args);
    CommonTime { asked: now(), ..read(said.as_deref().map_err(Clone::clone)) }
}

fn now() -> String {
    humantime::format_rfc3339_millis(timers::date()).to_string()
}

/// One of which nothing is known, and why.
fn silent(source: &str, reason: impl Into<String>) -> CommonTime {
    CommonTime { source: source.to_owned(), reason: Some(reason.into()), ..CommonTime::default() }
}

/// A figure as programs print it. More than three centuries in nanoseconds is no offset, and neither is what is not finite.
fn figure(text: &str) -> Option<f64> {
    const MOST: f64 = 1e19;
    text.trim().parse::<f64>().ok().filter(|figure| figure.abs() <= MOST)
}

/// A name as programs print it.
fn name(text: &str) -> Option<String> {
    let name = crate::text::clipped(text, LONGEST_NAME);
    (!name.is_empty()).then_some(name)
}
