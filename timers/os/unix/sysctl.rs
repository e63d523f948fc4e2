//! What systems tell by sysctl(3) that Linux shows in files.

use std::ffi::{CStr, c_int};
use std::ptr;

/// Means of the threads that ran or waited to run, over one, five and fifteen minutes.
pub fn load() -> Option<[f64; 3]> {
    let mut means = [0.0; 3];
    // SAFETY: the pointer is valid for as many as are asked for.
    let found: c_int = unsafe { libc::getloadavg(means.as_mut_ptr(), 3) };
    (found == 3).then_some(means)
}

/// CPUs that are online.
pub fn online() -> Option<u32> {
    // SAFETY: sysconf has no preconditions.
    u32::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).ok().filter(|&cpus| cpus > 0)
}

/// What sysctl(3) says under a name.
fn sysctl(name: &CStr) -> Option<Vec<u8>> {
    let mut value = vec![0_u8; 256];
    let mut length = value.len();
    // SAFETY: the name ends with NUL, the buffer is as long as it says, nothing is set.
    let status = unsafe {
        libc::sysctlbyname(name.as_ptr(), value.as_mut_ptr().cast(), &raw mut length, ptr::null_mut(), 0)
    };
    value.truncate(length);
    (status == 0).then_some(value)
}

/// A text of sysctl(3).
pub fn text(name: &CStr) -> Option<String> {
    let bytes = sysctl(name)?;
    let text = String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next()?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// A number of sysctl(3), which has 32 bits or 64.
pub fn number(name: &CStr) -> Option<u64> {
    let bytes = sysctl(name)?;
    match bytes.len() {
        4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}
