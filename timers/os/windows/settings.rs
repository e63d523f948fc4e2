//! Settings of Windows: power plan, boot options, and kinds of cores.

use std::collections::BTreeMap;
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::System::Power::PowerGetActiveScheme;
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::core::GUID;

use crate::os::CoreClass;

/// The predefined power plans, by the first part of their GUID (winnt.h). The GUID is used because
/// the names are translated to the language of the system.
const PLANS: [(u32, &str); 4] = [
    (0x381b_4222, "Balanced"),
    (0x8c5e_7fda, "High performance"),
    (0xa184_1308, "Power saver"),
    (0xe9a4_2b02, "Ultimate Performance"),
];

/// The names of the highest and the lowest efficiency class: cores of a higher class are faster and
/// consume more power.
const MOST_CAPABLE: &str = "P-core";
const LEAST_CAPABLE: &str = "E-core";

/// The active power plan; for a plan created by the user, the first parts of its GUID.
pub fn power_plan() -> Option<String> {
    let mut scheme: *mut GUID = ptr::null_mut();
    // SAFETY: the key may be null; the pointer is valid for one pointer.
    let status = unsafe { PowerGetActiveScheme(ptr::null_mut(), &raw mut scheme) };
    if status != ERROR_SUCCESS || scheme.is_null() {
        return None;
    }
    // SAFETY: the call succeeded, so that the pointer is valid; the caller must free it once.
    let plan = unsafe {
        let plan = *scheme;
        LocalFree(scheme.cast());
        plan
    };
    Some(plan_name(&plan))
}

fn plan_name(plan: &GUID) -> String {
    let known = PLANS.iter().find(|(first, _)| *first == plan.data1);
    known.map_or_else(
        || format!("plan {:08x}-{:04x}", plan.data1, plan.data2),
        |(_, name)| (*name).to_owned(),
    )
}

/// The boot options of the kernel, as in ` NOEXECUTE=OPTIN USEPLATFORMCLOCK`: the settings of
/// `bcdedit`, read from the registry because only an administrator may run that program.
pub fn start_options() -> Option<String> {
    registry_text("SYSTEM\\CurrentControlSet\\Control", "SystemStartOptions")
}

/// A text in the machine's part of the registry; `None` if missing.
pub fn registry_text(key: &str, value: &str) -> Option<String> {
    let wide = |text: &str| text.encode_utf16().chain([0]).collect::<Vec<u16>>();
    let (key, value) = (wide(key), wide(value));
    let mut text = [0_u16; 512];
    let mut bytes = size_of_val(&text) as u32;
    let (kind, to) = (ptr::null_mut(), text.as_mut_ptr().cast());
    // SAFETY: both names end with NUL, and the buffer has `bytes` bytes.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            value.as_ptr(),
            RRF_RT_REG_SZ,
            kind,
            to,
            &raw mut bytes,
        )
    };
    let length = text.iter().position(|&unit| unit == 0)?;
    (status == ERROR_SUCCESS && length > 0).then(|| String::from_utf16_lossy(&text[..length]))
}

/// The kinds of cores, the most capable first, from the efficiency class and the CPUs of each core;
/// `None` without cores.
pub fn core_classes(cores: &[(u8, Vec<u32>)]) -> Option<Vec<CoreClass>> {
    let mut classes = BTreeMap::<u8, Vec<u32>>::new();
    for (class, cpus) in cores {
        classes.entry(*class).or_default().extend(cpus);
    }
    let count = classes.len();
    let core_class = |(rank, (class, mut cpus)): (usize, (u8, Vec<u32>))| {
        cpus.sort_unstable();
        let name = match (rank, count) {
            (_, 1) => "core".to_owned(),
            (0, _) => MOST_CAPABLE.to_owned(),
            (_, 2) => LEAST_CAPABLE.to_owned(),
            _ => format!("core of efficiency class {class}"),
        };
        CoreClass { name, cpus }
    };
    let kinds: Vec<_> = classes
        .into_iter()
        .rev()
        .enumerate()
        .map(core_class)
        .collect();
    (count > 0).then_some(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_power_plans() {
        let plan = |data1| {
            plan_name(&GUID {
                data1,
                data2: 0xf694,
                data3: 0x41f0,
                data4: [0; 8],
            })
        };
        assert_eq!(plan(0x8c5e_7fda), "High performance");
        assert_eq!(plan(0x0102_0304), "plan 01020304-f694");
    }

    #[test]
    fn groups_cores_by_class() {
        let names = |cores: &[(u8, Vec<u32>)]| -> Vec<(String, Vec<u32>)> {
            core_classes(cores)
                .unwrap_or_default()
                .into_iter()
                .map(|kind| (kind.name, kind.cpus))
                .collect()
        };
        assert_eq!(names(&[]), []);
        assert_eq!(
            names(&[(0, vec![0, 1]), (0, vec![2])]),
            [("core".into(), vec![0, 1, 2])]
        );
        assert_eq!(
            names(&[(0, vec![2]), (1, vec![0, 1]), (0, vec![3])]),
            [("P-core".into(), vec![0, 1]), ("E-core".into(), vec![2, 3])]
        );
        let three: Vec<String> = names(&[(0, vec![2]), (2, vec![0]), (1, vec![1])])
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            three,
            [
                "P-core",
                "core of efficiency class 1",
                "core of efficiency class 0"
            ]
        );
    }
}
