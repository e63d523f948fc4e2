//! Facts about the machine that Windows reports, and the detection of Wine.

use std::ffi::{CStr, c_char};
use std::ptr;

use windows_sys::Win32::System::Performance::QueryPerformanceFrequency;
use windows_sys::Win32::System::Power::{CallNtPowerInformation, ProcessorInformation};
use windows_sys::Win32::System::SystemInformation::{
    GetLogicalProcessorInformationEx, OSVERSIONINFOW, RelationProcessorCore,
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX,
};
use windows_sys::Win32::System::Threading::{ALL_PROCESSOR_GROUPS, GetActiveProcessorCount};

use super::{affinity, handle, settings};
use crate::os::{KernelName, MachineFacts};

/// Name and release of the kernel.
pub fn kernel() -> KernelName {
    let release = version().map(|[major, minor, build]| format!("{major}.{minor}.{build}"));
    KernelName {
        release,
        version: None,
    }
}

pub use crate::os::other::machine::{check_time_is_readable, regain_counter, system_root};

/// Facts available by system calls. [`MachineFacts::core`] is the core of `cpu`, or of the first
/// allowed CPU if `cpu` is `None`.
pub fn facts(cpu: Option<u32>) -> MachineFacts {
    // SAFETY: the function takes an integer and has no preconditions.
    let online = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    let cpu = cpu.or_else(|| affinity::allowed().ok()?.first().copied());
    let cores = cores();
    MachineFacts {
        os_name: product_name(),
        emulator: wine_version(),
        clock_source: clock_source(),
        online: (online > 0).then_some(online),
        core: cpu
            .and_then(|cpu| cores.iter().find(|(_, cpus)| cpus.contains(&cpu)))
            .map(|(_, cpus)| cpus.clone()),
        core_classes: settings::core_classes(&cores),
        power_plan: settings::power_plan(),
        start_options: settings::start_options(),
        nominal: declared_megahertz()
            .map(|megahertz| (f64::from(megahertz) * 1e6, "CallNtPowerInformation")),
        ..MachineFacts::default()
    }
}

#[link(name = "ntdll")]
unsafe extern "system" {
    fn RtlGetVersion(info: *mut OSVERSIONINFOW) -> i32;
}

/// Major version, minor version and build.
fn version() -> Option<[u32; 3]> {
    let mut info = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // GetVersionEx would report an older version to programs without a manifest. SAFETY: the
    // pointer is valid for one structure, which contains its size.
    let status = unsafe { RtlGetVersion(&raw mut info) };
    (status == 0).then_some([info.dwMajorVersion, info.dwMinorVersion, info.dwBuildNumber])
}

/// The name of the product, as in `Windows 11 Pro`; in the registry it begins with `Windows 10`.
fn product_name() -> Option<String> {
    let name = settings::registry_text(
        "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion",
        "ProductName",
    )?;
    let is_11 = version().is_some_and(|[_, _, build]| build >= 22_000);
    Some(if is_11 {
        name.replacen("Windows 10", "Windows 11", 1)
    } else {
        name
    })
}

/// Name and version of Wine; `None` on Windows, whose ntdll lacks the function.
fn wine_version() -> Option<String> {
    type GetVersion = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the signature is that of Wine's ntdll.
    let get_version =
        unsafe { handle::find_function::<GetVersion>("ntdll.dll\0", "wine_get_version\0") }.ok()?;
    // SAFETY: the function returns a constant text that ends with NUL.
    let version = unsafe { CStr::from_ptr(get_version()) };
    Some(format!("Wine {}", version.to_string_lossy()))
}

/// The clock source of the performance counter, inferred from its rate, because Windows does not
/// report it otherwise. `None` if unknown, and under Wine.
pub fn clock_source() -> Option<String> {
    if wine_version().is_some() {
        return None;
    }
    let mut hertz = 0;
    // SAFETY: the pointer is valid for one i64.
    unsafe { QueryPerformanceFrequency(&raw mut hertz) };
    crate::clock_sources::windows_source(hertz).map(str::to_owned)
}

/// The efficiency class and the CPUs of each core; empty if the system does not report them.
fn cores() -> Vec<(u8, Vec<u32>)> {
    let mut bytes = 0;
    // SAFETY: a null pointer with a length of 0 bytes requests the necessary length.
    unsafe {
        GetLogicalProcessorInformationEx(RelationProcessorCore, ptr::null_mut(), &raw mut bytes)
    };
    // The buffer consists of 64-bit words, for the alignment of the structures. It has a whole
    // structure more than necessary, because a record of a core is shorter than the structure, and
    // a reference to the last record must not exceed the buffer.
    const RECORD_BYTES: usize = size_of::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX>();
    let mut buffer = vec![0_u64; (bytes as usize + RECORD_BYTES).div_ceil(8)];
    let first_record = buffer
        .as_mut_ptr()
        .cast::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX>();
    let mut cores = Vec::new();
    // SAFETY: the buffer has at least the length `bytes`.
    if unsafe {
        GetLogicalProcessorInformationEx(RelationProcessorCore, first_record, &raw mut bytes)
    } == 0
    {
        return cores;
    }
    let mut offset = 0;
    while offset < bytes as usize {
        // SAFETY: a record begins at this offset, and the buffer extends at least a whole structure
        // beyond it. A record of a core uses this member of the union and has one group.
        let (size, class, group) = unsafe {
            let record = &*first_record.byte_add(offset);
            let core = record.Anonymous.Processor;
            (record.Size, core.EfficiencyClass, core.GroupMask[0])
        };
        cores.push((class, affinity::cpus(group.Group, group.Mask)));
        offset += (size as usize).max(8);
    }
    cores
}

/// The maximum frequency of the first CPU in MHz as declared by the firmware, without turbo.
fn declared_megahertz() -> Option<u32> {
    /// PROCESSOR_POWER_INFORMATION of ntpoapi.h: number, maximum, current and limit in MHz, maximum
    /// and current idle state.
    type PowerInformation = [u32; 6];
    // The buffer must have room for all CPUs of the system.
    // SAFETY: the function takes an integer and has no preconditions.
    let cpus = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) } as usize;
    let mut all: Vec<PowerInformation> = vec![[0; 6]; cpus];
    let (output, bytes) = (all.as_mut_ptr().cast(), size_of_val(all.as_slice()) as u32);
    // SAFETY: there is no input, and the output is valid for `bytes` bytes.
    let status =
        unsafe { CallNtPowerInformation(ProcessorInformation, ptr::null(), 0, output, bytes) };
    let [_, maximum, ..] = *all.first()?;
    (status == 0 && maximum > 0).then_some(maximum)
}
