//! What the kernel counts of a process, of all its threads (proc(5)).

use std::fs;
use std::path::{Path, PathBuf};

/// Counts that only grow; what grew during a window disturbed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Times that a thread had to give way to another one though it could have gone on.
    pub switches: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// The CPU of each thread.
    pub cpus: Vec<u32>,
}

impl Counters {
    /// Those of a process; `proc` is where procfs is. `None` where it cannot be read.
    #[must_use]
    pub fn of(proc: &Path, process: u32) -> Option<Self> {
        let folder = proc.join(process.to_string()).join("task");
        let mut threads: Vec<PathBuf> =
            fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        threads.sort_unstable();
        let mut all = Self::default();
        for thread in threads {
            // A thread may end between the look at the folder and the look at it.
            if let Some(one) = Self::of_thread(&thread) {
                all.switches += one.switches;
                all.major_faults += one.major_faults;
                all.cpus.extend(one.cpus);
            }
        }
        Some(all)
    }

    /// Those of the thread whose folder in procfs this is.
    #[must_use]
    pub fn of_thread(folder: &Path) -> Option<Self> {
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let (major_faults, cpu) = faults_and_cpu(&stat)?;
        Some(Self { switches: switches(&status)?, major_faults, cpus: vec![cpu] })
    }
}

fn switches(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?.trim().parse().ok()
}

/// Fields 12 and 39; the name in field 2 may hold anything, parentheses and blanks included.
fn faults_and_cpu(stat: &str) -> Option<(u64, u32)> {
    let after_name: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((after_name.get(9)?.parse().ok()?, after_name.get(36)?.parse().ok()?))
}

/// Time that a hypervisor took from a CPU while something wanted to run there, in ticks of USER_HZ (10 ms).
#[must_use]
pub fn stolen(proc: &Path, cpu: u32) -> Option<u64> {
    let stat = fs::read_to_string(proc.join("stat")).ok()?;
    let prefix = format!("cpu{cpu} ");
    let line = stat.lines().find_map(|line| line.strip_prefix(&prefix))?;
    line.split_whitespace().nth(7)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_kernel() {
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
        assert_eq!(faults_and_cpu("rubbish"), None);
    }

    #[test]
    fn this_process() {
        let proc = Path::new("/proc");
        if proc.join("self/stat").exists() {
            let counters = Counters::of(proc, std::process::id()).expect("procfs is there");
            assert!(!counters.cpus.is_empty());
        }
        assert_eq!(Counters::of(Path::new("/nowhere"), 1), None);
        assert_eq!(stolen(Path::new("/nowhere"), 0), None);
    }
}
