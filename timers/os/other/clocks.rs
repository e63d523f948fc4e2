//! Clocks by the names that POSIX and Linux give them; none of them opens.

#![allow(non_camel_case_types, reason = "the names of POSIX")]

use std::io;
use std::mem::MaybeUninit;

use crate::Unavailable;

pub type clock_t = i64;
pub type clockid_t = i32;

#[derive(Clone, Copy)]
pub struct timespec {
    pub tv_sec: i64,
    pub tv_nsec: i64,
}

#[derive(Clone, Copy)]
pub struct timeval {
    pub tv_sec: i64,
    pub tv_usec: i64,
}

pub struct rusage {
    pub ru_utime: timeval,
    pub ru_stime: timeval,
}

pub fn wide(number: i64) -> i64 {
    number
}

pub const CLOCK_UNIT_NS: f64 = 1e3;
pub const MONOTONIC_RUNS_IN_SUSPEND: bool = false;

pub const CLOCK_REALTIME: clockid_t = 0;
pub const CLOCK_MONOTONIC: clockid_t = 1;
pub const CLOCK_PROCESS_CPUTIME_ID: clockid_t = 2;
pub const CLOCK_THREAD_CPUTIME_ID: clockid_t = 3;
pub const CLOCK_MONOTONIC_RAW: clockid_t = 4;
pub const CLOCK_REALTIME_COARSE: clockid_t = 5;
pub const CLOCK_MONOTONIC_COARSE: clockid_t = 6;
pub const CLOCK_BOOTTIME: clockid_t = 7;
pub const CLOCK_TAI: clockid_t = 11;
pub const RUSAGE_SELF: i32 = 0;
pub const RUSAGE_THREAD: i32 = 1;

pub trait Route {
    fn clock_gettime(_clock: clockid_t, _time: &mut MaybeUninit<timespec>) -> i32 {
        -1
    }
}

pub struct Libc;
pub struct Kernel;
impl Route for Libc {}
impl Route for Kernel {}

pub fn try_clock<R: Route>(
    _clock: clockid_t,
    label: &str,
    _since: &str,
) -> Result<(), Unavailable> {
    super::unavailable(label)
}

pub fn resolution(_clock: clockid_t) -> Option<f64> {
    None
}

pub fn refused(call: &str, _error: &io::Error, _since: &str) -> Unavailable {
    Unavailable::elsewhere(format!(
        "{call}: not on this system, or not known to this build"
    ))
}

pub fn tsc_permitted() -> Result<(), Unavailable> {
    Ok(())
}

pub fn vdso_permitted() -> Result<(), Unavailable> {
    Ok(())
}

pub fn gettimeofday(_time: &mut MaybeUninit<timeval>) -> i32 {
    -1
}

pub fn time() -> i64 {
    -1
}

pub fn clock() -> clock_t {
    -1
}

pub fn times() -> clock_t {
    -1
}

pub fn ticks_a_second() -> i64 {
    0
}

pub fn getrusage(_who: i32, _usage: &mut MaybeUninit<rusage>) -> i32 {
    -1
}

/// Never asked: there is no clock of the kernel to time it with.
pub fn cheapest_call() -> u64 {
    0
}
