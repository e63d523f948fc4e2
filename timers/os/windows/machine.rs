//! What Windows tells of the machine, and whether it is Wine.

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

/// What the kernel calls itself.
#[must_use]
pub fn kernel() -> KernelName {
    let release = version().map(|[major, minor, build]| format!("{major}.{minor}.{build}"));
    KernelName {
        name: Some("Windows NT".into()),
        release,
        version: None,
    }
}

pub use crate::os::other::machine::{files, kernel_log, regain_counter};

/// What the system tells by its calls; `cpu` is the one whose core is told, without it the first
/// one allowed.
#[must_use]
pub fn facts(cpu: Option<u32>) -> MachineFacts {
    // SAFETY: a plain number.
    let online = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    let cpu = cpu.or_else(|| affinity::allowed().ok()?.first().copied());
    let cores = cores();
    MachineFacts {
        os_name: name(),
        emulator: wine(),
        clock_source: clock_source().map(str::to_owned),
        online: (online > 0).then_some(online),
        core: cpu
            .and_then(|cpu| cores.iter().find(|(_, cpus)| cpus.contains(&cpu)))
            .map(|(_, cpus)| cpus.clone()),
        kinds: settings::kinds(&cores),
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

fn version() -> Option<[u32; 3]> {
    let mut info = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the structure says its size. GetVersionEx tells programs without a manifest an older
    // version.
    let status = unsafe { RtlGetVersion(&raw mut info) };
    (status == 0).then_some([info.dwMajorVersion, info.dwMinorVersion, info.dwBuildNumber])
}

/// As in `Windows 11 Pro`, which the registry still calls 10.
fn name() -> Option<String> {
    let name = settings::registered(
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

/// Wine, which is told from Windows by a function that it has more.
fn wine() -> Option<String> {
    type Ask = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the signature is that of Wine's ntdll.
    let ask = unsafe { handle::find_function::<Ask>("ntdll.dll\0", "wine_get_version\0") }.ok()?;
    // SAFETY: it returns a constant text.
    let version = unsafe { CStr::from_ptr(ask()) };
    Some(format!("Wine {}", version.to_string_lossy()))
}

/// What answers the performance counter, by the rate that it has then. Windows does not say it in
/// other words.
fn clock_source() -> Option<&'static str> {
    if wine().is_some() {
        return None;
    }
    let mut hertz = 0;
    // SAFETY: the pointer is valid.
    unsafe { QueryPerformanceFrequency(&raw mut hertz) };
    crate::clock_sources::windows_source(hertz)
}

/// Each core: its efficiency class, and the CPUs that share it. None where the system does not
/// tell.
fn cores() -> Vec<(u8, Vec<u32>)> {
    let mut bytes = 0;
    // SAFETY: without a buffer it says how long one has to be.
    unsafe {
        GetLogicalProcessorInformationEx(RelationProcessorCore, ptr::null_mut(), &raw mut bytes)
    };
    // Of 64-bit words, so that it lies as the structures want it; a record of a core is shorter
    // than the structure, which has room for records of other things, so that the last one needs
    // some more behind it.
    const RECORD: usize = size_of::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX>();
    let mut buffer = vec![0_u64; (bytes as usize + RECORD).div_ceil(8)];
    let begin = buffer
        .as_mut_ptr()
        .cast::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX>();
    let mut cores = Vec::new();
    // SAFETY: the buffer is as long as it says.
    if unsafe { GetLogicalProcessorInformationEx(RelationProcessorCore, begin, &raw mut bytes) }
        == 0
    {
        return cores;
    }
    let mut at = 0;
    while at < bytes as usize {
        // SAFETY: a record begins here, and a whole structure lies in the buffer; cores have one
        // group each.
        let (size, class, group) = unsafe {
            let record = &*begin.byte_add(at);
            let core = record.Anonymous.Processor;
            (record.Size, core.EfficiencyClass, core.GroupMask[0])
        };
        cores.push((class, affinity::cpus(group.Group, group.Mask)));
        at += (size as usize).max(8);
    }
    cores
}

/// The highest frequency that the firmware declares for the first CPU, without turbo.
fn declared_megahertz() -> Option<u32> {
    /// As ntpoapi.h has it: number, most, current and limit in MHz, and idle states.
    type Information = [u32; 6];
    // It wants room for all CPUs of the system.
    // SAFETY: a plain number.
    let cpus = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) } as usize;
    let mut all: Vec<Information> = vec![[0; 6]; cpus];
    let (output, bytes) = (all.as_mut_ptr().cast(), size_of_val(all.as_slice()) as u32);
    // SAFETY: no input, and the output is as long as it says.
    let status =
        unsafe { CallNtPowerInformation(ProcessorInformation, ptr::null(), 0, output, bytes) };
    let [_, most, ..] = *all.first()?;
    (status == 0 && most > 0).then_some(most)
}
