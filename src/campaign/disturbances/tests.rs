use std::collections::BTreeMap;

use estimators::trace::Observations;
use probe::prober::CoreState;
use tempfile::TempDir;

use super::*;

fn counters(switches: u64, major_faults: u64, cpus: &[u32]) -> Counters {
    Counters {
        switches,
        major_faults,
        cpus: cpus.into(),
    }
}

#[test]
fn grown_counters_show_disturbance() {
    let before = counters(3, 1, &[1]);
    for (after, by_runner, expected) in [
        (counters(3, 1, &[1]), 0, None),
        (counters(4, 1, &[1]), 0, Some(Disturbance::ContextSwitch)),
        // The runner caused the switch.
        (counters(4, 1, &[1]), 1, None),
        (counters(5, 1, &[1]), 1, Some(Disturbance::ContextSwitch)),
        (counters(3, 2, &[1]), 0, Some(Disturbance::MajorFault)),
        (counters(3, 1, &[0]), 0, Some(Disturbance::Migration)),
        // A new thread is no migration.
        (counters(3, 1, &[1, 0]), 0, None),
    ] {
        let found = counted_disturbance(&before, &after, by_runner);
        assert_eq!(found, expected, "{after:?}, {by_runner}");
    }
}

#[test]
fn unwatched_window_is_asked_once() {
    let watch = CampaignWatch::new(&[]);
    watch.borrow_mut().counts = CounterSource::at(std::path::Path::new("/nowhere"));
    let mut process = ProcessWatch::from_outside(&watch, 1);
    let mut asked = 0;
    let answer = process.gather(100, |repeat| {
        asked += 1;
        Ok::<_, ()>(vec![asked; repeat as usize])
    });
    assert_eq!(answer, Ok((vec![1; 100], CoreState::default())));
    assert_eq!(process.end(), (BTreeMap::new(), true));
}

/// A simulated procfs that contains only process 7, with the given threads.
struct Procfs {
    folder: TempDir,
    threads: &'static [&'static str],
}

impl Procfs {
    fn with(threads: &'static [&'static str]) -> Self {
        let procfs = Self {
            folder: tempfile::tempdir().unwrap(),
            threads,
        };
        procfs.count(0);
        procfs
    }

    /// Sets the context switches of each thread.
    fn count(&self, switches: u32) {
        for thread in self.threads {
            let task = self.folder.path().join("7/task").join(thread);
            std::fs::create_dir_all(&task).unwrap();
            let status = format!("nonvoluntary_ctxt_switches:\t{switches}\n");
            std::fs::write(task.join("status"), status).unwrap();
            std::fs::write(
                task.join("stat"),
                format!("7 (x) {}", vec!["1"; 50].join(" ")),
            )
            .unwrap();
        }
    }

    fn start_watch(&self) -> ProcessWatch {
        let watch = CampaignWatch::new(&[]);
        watch.borrow_mut().counts = CounterSource::at(self.folder.path());
        watch.borrow_mut().runner_switches = 0;
        // There is time for repetitions.
        watch.borrow_mut().begun = 0;
        ProcessWatch::from_outside(&watch, 7)
    }

    /// Returns the result of watching a process that is switched out at every attempt.
    fn watch_always_disturbed(&self) -> (BTreeMap<String, u32>, bool) {
        let mut process = self.start_watch();
        let mut switches = 0;
        let answer = process.gather(1, |_| {
            switches += 1;
            self.count(switches);
            Ok::<_, ()>(vec![switches])
        });
        let unstable = CoreState {
            unstable: true,
            ..CoreState::default()
        };
        assert_eq!(answer, Ok((vec![MAX_ATTEMPTS], unstable)));
        process.end()
    }
}

fn switches(count: u32) -> BTreeMap<String, u32> {
    BTreeMap::from([("context-switch".to_owned(), count)])
}

#[test]
fn short_windows_avoid_interruptions() {
    let procfs = Procfs::with(&["7"]);
    let mut process = procfs.start_watch();
    let mut interruptions = 0;
    // Simulates that a question for more than 30 values is interrupted.
    let answer = process.gather(100, |repeat| {
        interruptions += u32::from(repeat > 30);
        procfs.count(interruptions);
        Ok::<_, ()>(vec![0; repeat as usize])
    });
    assert_eq!(answer, Ok((vec![0; 100], CoreState::default())));
    assert_eq!(process.end(), (switches(3), true));
}

#[test]
fn whole_question_is_repeated() {
    let whole = Some((Observations::default(), CoreState::default()));
    // The number of windows that are interrupted, and what comes of it.
    for (interruptions, expected, asked) in [
        (0, whole.clone(), 1),
        (2, whole, 3),
        (u32::MAX, None, MAX_ATTEMPTS),
    ] {
        let procfs = Procfs::with(&["7"]);
        let (mut process, mut windows) = (procfs.start_watch(), 0);
        let answer = process.ask_whole(&mut || {
            windows += 1;
            procfs.count(windows.min(interruptions));
            Ok(Observations::default())
        });
        assert_eq!((answer, windows), (Ok(expected), asked));
        let dropped = process.end().0.into_values().sum::<u32>();
        assert_eq!(dropped, interruptions.min(MAX_ATTEMPTS));
    }
}

/// A runtime with two threads yields internally, and is kept.
#[test]
fn permanent_disturbance_discards_process() {
    for (threads, dropped, is_kept) in [
        (&["7"][..], MAX_ATTEMPTS, false),
        (&["7", "8"], MAX_ATTEMPTS - 1, true),
    ] {
        let found = Procfs::with(threads).watch_always_disturbed();
        assert_eq!(found, (switches(dropped), is_kept), "{threads:?}");
    }
}
