//! Machines whose `/proc` and `/sys` were made up: missing, cut off, full of garbage, or huge.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{Root, identify, identify_at};
use estimators::findings::Facts;
use estimators::findings::machine;
use estimators::model::{Finding, Platform, Severity};

/// A laptop on which everything is as its owner left it.
const LAPTOP: [(&str, &str); 21] = [
    (
        "proc/cpuinfo",
        "processor\t: 0\nsiblings\t: 8\ncpu cores\t: 4\nmicrocode\t: 0xf4\n\
      flags\t\t: fpu tsc constant_tsc nonstop_tsc vmx\nbugs\t\t:\n\n",
    ),
    (
        "proc/self/status",
        "Name:\ttimermeter\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n",
    ),
    ("proc/self/cgroup", "0::/user.slice/session-2.scope\n"),
    (
        "proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
    ),
    ("proc/cmdline", "root=/dev/sda1 clocksource=hpet quiet\n"),
    ("proc/loadavg", "7.50 3.00 1.00 9/500 1234\n"),
    (
        "proc/stat",
        "cpu  900 0 90 1000 0 0 10 0 0 0\ncpu0 900 0 90 1000 0 0 10 0 0 0\n",
    ),
    ("proc/sys/kernel/perf_event_paranoid", "4\n"),
    ("etc/os-release", "PRETTY_NAME=\"Made Up 1\"\n"),
    (
        "sys/fs/cgroup/user.slice/session-2.scope/cgroup.controllers",
        "cpu\n",
    ),
    ("sys/fs/cgroup/user.slice/cpu.max", "200000 100000\n"),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet\n",
    ),
    (
        "sys/devices/system/clocksource/clocksource0/available_clocksource",
        "tsc hpet acpi_pm \n",
    ),
    ("sys/devices/system/cpu/online", "0-7\n"),
    ("sys/devices/system/cpu/isolated", "\n"),
    ("sys/devices/system/cpu/nohz_full", "(null)\n"),
    ("sys/devices/system/cpu/smt/active", "1\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
    (
        "sys/devices/system/cpu/cpu2/topology/core_cpus_list",
        "2,6\n",
    ),
    (
        "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpu2/cpufreq/scaling_driver",
        "intel_pstate\n",
    ),
];

fn write(folder: &Path, path: &str, content: &[u8]) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().expect("it lies in the folder")).unwrap();
    fs::write(file, content).unwrap();
}

#[test]
fn identifies_any_machine() {
    for cpu in [None, Some(0), Some(u32::MAX)] {
        let platform = identify(cpu);
        assert_eq!(platform.cpu.architecture, std::env::consts::ARCH);
        assert_eq!(platform.os.family, std::env::consts::OS);
        let is_there = cpu != Some(u32::MAX);
        assert!(
            is_there || platform.cpu.governor.is_none(),
            "there is no such CPU"
        );
    }
}

/// All findings about a machine.
fn judge(platform: &Platform) -> Vec<Finding> {
    machine::judge(&Facts {
        machine: Some(platform),
        ..Facts::default()
    })
}

#[test]
fn judges_unprepared_laptop() {
    let (_folder, root) = test_root(&LAPTOP);
    let found = identify_at(&root, Some(2));
    assert_eq!(found.os.name.as_deref(), Some("Made Up 1"));
    assert_eq!((found.cpu.online, found.cpu.allowed), (Some(8), Some(8)));
    assert_eq!(found.cpu.core_list.as_deref(), Some("2,6"));
    assert_eq!((found.cpu.smt, found.cpu.turbo), (Some(true), Some(true)));
    assert_eq!(
        (
            found.cpu.isolated.as_deref(),
            found.cpu.nohz_full.as_deref()
        ),
        (Some(""), Some(""))
    );
    assert_eq!(found.tsc.constant, Some(true));
    assert_eq!(
        found.clocksource.parameters.as_deref(),
        Some(&["clocksource=hpet".to_owned()][..])
    );
    assert_eq!(found.limits.cpu.and_then(|quota| quota.cpus), Some(2.0));
    assert_eq!(found.steal_share, Some(0.0));
    let findings = judge(&found);
    let problems = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Problem);
    let problems = problems.map(|finding| finding.code.as_str());
    // Neither what steers the clock of the machine that runs this nor its emulator is the laptop's.
    let problems: BTreeSet<&str> = problems
        .filter(|code| !["ntp", "emulated"].contains(code))
        .collect();
    let expected = ["clock-source", "cpu-quota", "governor", "load", "turbo"];
    assert_eq!(problems, expected.into());
}

/// What no file tells, whatever this machine is.
#[track_caller]
fn assert_nothing_is_made_up(found: &Platform) {
    let shown = (
        &found.cpu.governor,
        &found.cpu.isolated,
        found.cpu.turbo,
        &found.cpu.online,
        &found.cpu.core_list,
    );
    assert_eq!(shown, (&None, &None, None, &None, &None));
    assert_eq!(
        (found.load, found.steal_share, found.perf_event_paranoid),
        (None, None, None)
    );
    assert_eq!(found.limits.cpu, None);
    // What is not shown is never judged to be as it should be.
    for finding in judge(found) {
        let by_files = "clock-source governor turbo isolated load cpu-quota steal";
        if by_files.split(' ').any(|code| finding.code == code) {
            assert_eq!(finding.severity, Severity::Unknown, "{finding:?}");
        }
    }
}

#[test]
fn no_files_at_all() {
    let (folder, root) = test_root(&[]);
    assert_nothing_is_made_up(&identify_at(&root, Some(2)));
    let nowhere = Root::at(folder.path().join("not there"));
    assert_nothing_is_made_up(&identify_at(&nowhere, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn files_of_anything(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 21)) {
        for keep in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            for ((path, text), content) in LAPTOP.iter().zip(&contents) {
                let begin = if keep { text } else { "" };
                write(folder.path(), path, &[begin.as_bytes(), content].concat());
            }
            let found = identify_at(&Root::at(folder.path()), Some(2));
            let _ = judge(&found);
            prop_assert!(serde_json::to_string(&found).is_ok());
        }
    }
}

/// Creates a folder with these files, and a [`Root`] that reads the folder.
pub(super) fn test_root(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text.as_bytes());
    }
    let root = Root::at(folder.path());
    (folder, root)
}
