//! Counters that the kernel keeps for the threads of a process (proc(5)).

use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use super::{affinity, process};
use crate::os::Counters;

/// The source of counters: a folder with the layout of procfs.
#[derive(Clone, Debug)]
pub struct CounterSource {
    folder: PathBuf,
    /// `true` if the process ids in the folder belong to the PID namespace of this process.
    same_pid_namespace: bool,
}

impl CounterSource {
    /// The counters of this system, from `/proc`.
    pub fn of_system() -> Self {
        Self {
            same_pid_namespace: process::proc_is_own_namespace(),
            ..Self::at(Path::new("/proc"))
        }
    }

    /// The counters in another folder with the layout of procfs.
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
            same_pid_namespace: true,
        }
    }

    /// The counters of all threads of a process; `None` if unreadable.
    pub fn of_process(&self, process: u32) -> Option<Counters> {
        if !self.same_pid_namespace {
            return None;
        }
        let folder = self.folder.join(process.to_string()).join("task");
        let mut threads: Vec<PathBuf> = fs::read_dir(folder)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        threads.sort_unstable();
        let mut all = Counters::default();
        for thread in threads {
            // A thread may end after the folder was listed.
            if let Some(one) = read_thread(&thread) {
                all.switches += one.switches;
                all.major_faults += one.major_faults;
                all.cpus.extend(one.cpus);
            }
        }
        Some(all)
    }

    /// The counters of the calling thread, by getrusage(2), which opens no file.
    pub fn of_this_thread() -> Option<Counters> {
        let usage = usage_of_this_thread()?;
        Some(Counters {
            switches: u64::try_from(usage.ru_nivcsw).ok()?,
            major_faults: u64::try_from(usage.ru_majflt).ok()?,
            cpus: vec![affinity::current()?],
        })
    }

    /// The steal time of a CPU in ticks of USER_HZ (10 ms): the time that a hypervisor withheld the
    /// CPU while a task was runnable; `None` if unreadable.
    pub fn steal_ticks(&self, cpu: u32) -> Option<u64> {
        let stat = fs::read_to_string(self.folder.join("stat")).ok()?;
        let prefix = format!("cpu{cpu} ");
        let line = stat.lines().find_map(|line| line.strip_prefix(&prefix))?;
        line.split_whitespace().nth(7)?.parse().ok()
    }
}

/// The resources that the calling thread has used; `None` if a sandbox refuses the call.
fn usage_of_this_thread() -> Option<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is valid for one rusage.
    let done = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: the call succeeded and has filled the structure.
    (done == 0).then(|| unsafe { usage.assume_init() })
}

/// The counters of a thread, read from its procfs folder.
fn read_thread(folder: &Path) -> Option<Counters> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let (major_faults, cpu) = faults_and_cpu(&stat)?;
    Some(Counters {
        switches: switches(&status)?,
        major_faults,
        cpus: vec![cpu],
    })
}

fn switches(status: &str) -> Option<u64> {
    status
        .lines()
        .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?
        .trim()
        .parse()
        .ok()
}

/// Fields 12 (major faults) and 39 (CPU) of a stat line. The name in field 2 may contain any
/// character, including parentheses and blanks.
fn faults_and_cpu(stat: &str) -> Option<(u64, u32)> {
    let after_name: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((
        after_name.get(9)?.parse().ok()?,
        after_name.get(36)?.parse().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_procfs_fields() {
        assert_eq!(
            switches("Name:\tx\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t7\n"),
            Some(7)
        );
        assert_eq!(switches("Name:\tx\n"), None);
        let mut fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        fields[0] = "S".into();
        let stat = format!("1 (a ) b) {}", fields.join(" "));
        assert_eq!(faults_and_cpu(&stat), Some((12, 39)));
        assert_eq!(faults_and_cpu("1 (x) S 1 2"), None);
        assert_eq!(faults_and_cpu("malformed"), None);
    }

    #[test]
    fn counts_this_process() {
        if process::proc_is_own_namespace() {
            let counts = CounterSource::of_system();
            let counters = counts
                .of_process(std::process::id())
                .expect("procfs is mounted");
            assert!(!counters.cpus.is_empty());
        }
        assert_eq!(
            CounterSource::of_this_thread()
                .expect("no file is needed")
                .cpus
                .len(),
            1
        );
        let nowhere = CounterSource::at(Path::new("/nowhere"));
        assert_eq!(
            (nowhere.of_process(1), nowhere.steal_ticks(0)),
            (None, None)
        );
    }
}
