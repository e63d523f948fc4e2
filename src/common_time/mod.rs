//! How far the system clock is from a time that other machines keep too: the services that know it are asked. Nothing is set, and no clock is
//! touched.
//!
//! | file | asks |
//! |---|---|
//! | `chrony.rs` | chronyd, by `chronyc` where it is installed |
//! | `ptp4l.rs` | ptp4l, by `pmc` where it is installed |
//! | `devices.rs` | clocks on devices, `/dev/ptp0` and so on |
//! | here | the kernel, by adjtimex(2) |
//!
//! What the kernel was told of its clock (adjtimex(2)): the last in a chain, it knows neither who keeps the clock nor by whom.

mod chrony;
mod devices;
mod ptp4l;

use std::io;
use std::path::Path;
use std::time::Duration;

use timers::os::Discipline;

use crate::model::{CommonTime, ComparedClock, Platform};
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
    all.extend(ask_kernel());
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

const ADJTIMEX: &str = "adjtimex";
const US: f64 = 1e3;

/// What the kernel says; `None` where there is no such call.
fn ask_kernel() -> Option<CommonTime> {
    match timers::os::discipline::discipline() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => None,
        found => Some(CommonTime { asked: now(), ..told_to_kernel(found) }),
    }
}

fn told_to_kernel(found: io::Result<Discipline>) -> CommonTime {
    let found = match found {
        Ok(found) => found,
        Err(error) => return silent(ADJTIMEX, format!("adjtimex: {error}")),
    };
    if !found.synchronised {
        return silent(ADJTIMEX, "no time service has told the kernel that its clock is synchronised");
    }
    // What is still to be slewed in is added to the clock, which is behind by as much.
    let offset_ns = Some(found.offset_ns).filter(|&ns| ns != 0).map(|ns| 0.0 - ns as f64);
    let why = "the service that keeps the clock does not tell the kernel how far it is off";
    CommonTime {
        source: ADJTIMEX.to_owned(),
        clock: ComparedClock::System,
        offset_ns,
        bound_ns: Some(found.maximum_error_us as f64 * US),
        estimated_error_ns: Some(found.estimated_error_us as f64 * US),
        reason: offset_ns.is_none().then(|| why.to_owned()),
        ..CommonTime::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_hands_on_what_it_was_told() {
        let kept = Discipline {
            synchronised: true,
            offset_ns: 1_500,
            estimated_error_us: 20,
            maximum_error_us: 4_000,
            ..Discipline::default()
        };
        let found = told_to_kernel(Ok(kept));
        assert_eq!((found.offset_ns, found.bound_ns), (Some(-1_500.0), Some(4e6)), "it is behind");
        assert_eq!((found.estimated_error_ns, found.bounds_system_clock()), (Some(20e3), true));
        let found = told_to_kernel(Ok(Discipline { offset_ns: 0, ..kept }));
        assert_eq!((found.offset_ns, found.reason.is_some()), (None, true), "not told is not 0");
        let found = told_to_kernel(Ok(Discipline { synchronised: false, ..kept }));
        assert_eq!((found.bound_ns, found.reason.is_some()), (None, true));
        assert!(told_to_kernel(Err(io::ErrorKind::PermissionDenied.into())).reason.is_some());
    }
}
