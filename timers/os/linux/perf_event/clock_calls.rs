//! How often programs of this machine read a clock by a system call, as the kernel's tracepoints
//! count it (<https://docs.kernel.org/trace/events.html>). Reads that stay in user mode pass none.

use std::fs;
use std::thread;
use std::time::Duration;

use perf_event_open_sys::bindings::PERF_TYPE_TRACEPOINT;

use super::{Event, plain_count, refused};
use crate::Unavailable;
use crate::deadline::kernel_time;

/// Where tracepoints are described, below both places where that file system may be.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// System calls that read a clock; not every architecture has the last two.
const CALLS: [&str; 3] = ["clock_gettime", "gettimeofday", "time"];

/// System calls a second that read a clock, of all programs on all CPUs during `span`.
///
/// # Errors
/// When the kernel has no such tracepoints, or does not let this process count them.
pub fn clock_calls(span: Duration) -> Result<f64, Unavailable> {
    let calls: Vec<u64> = CALLS.iter().filter_map(|call| tracepoint(call)).collect();
    if calls.is_empty() {
        return Err(
            Unavailable::because("the kernel's tracepoints of system calls are not shown")
                .remedy("as root `mount -t tracefs tracefs /sys/kernel/tracing`"),
        );
    }
    let mut events = Vec::new();
    for cpu in 0..configured_cpus() {
        for &call in &calls {
            match Event::on(&mut plain_count(PERF_TYPE_TRACEPOINT, call), -1, cpu) {
                Ok(event) => events.push(event),
                // It is offline.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                Err(error) => return Err(refused(&error)),
            }
        }
    }
    let count = |events: &[Event]| events.iter().map(Event::read).sum::<u64>();
    let (began, before) = (kernel_time(), count(&events));
    thread::sleep(span);
    let (ended, after) = (kernel_time(), count(&events));
    let passed_ns = began
        .zip(ended)
        .map_or(span.as_nanos() as u64, |(began, ended)| {
            ended.saturating_sub(began)
        });
    Ok(after.saturating_sub(before) as f64 / passed_ns.max(1) as f64 * 1e9)
}

fn tracepoint(call: &str) -> Option<u64> {
    let id = |place: &&str| {
        fs::read_to_string(format!("{place}/events/syscalls/sys_enter_{call}/id")).ok()
    };
    PLACES.iter().find_map(id)?.trim().parse().ok()
}

#[allow(clippy::useless_conversion, reason = "it is a long, of 32 bits or 64")]
fn configured_cpus() -> i32 {
    // SAFETY: it takes a number and returns one.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    i32::try_from(count).unwrap_or(1).max(1)
}
