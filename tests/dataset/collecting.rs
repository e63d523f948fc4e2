//! What `collect` adds, what it leaves alone, and what it says.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{files, folder, kept, printed, program, timermeter, told};

/// A report of another moment.
fn report(created: &str) -> String {
    let (kept, mut parts) = (kept(), 0);
    let lines: Vec<String> = kept
        .lines()
        .map(|line| {
            let line = line.trim_start();
            let dated = line.starts_with("\"created\"");
            parts += usize::from(dated);
            if dated { format!("\"created\":\"{created}\",") } else { line.to_owned() }
        })
        .collect();
    assert_eq!(parts, 1, "it says when it was made");
    lines.join("\n")
}

fn streamed(folder: &Path, stream: &str) -> Output {
    let mut command = Command::new(program());
    let command = command.args(["collect", "-", "-o", "fleet"]).current_dir(folder).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    child.stdin.take().expect("a pipe").write_all(stream.as_bytes()).expect("it reads all");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_folder_becomes_a_dataset_and_once_more_changes_nothing() {
    let folder = folder();
    let run = folder.path().join("run");
    for (node, created) in
        [("a", "2026-11-20T12:00:00Z"), ("b", "2026-11-20T12:00:00Z"), ("a", "2026-11-21T12:00:00Z")]
    {
        let place = run.join(node).join("x").join(&created[..10]);
        fs::create_dir_all(&place).unwrap();
        // Nodes differ in something that was measured.
        let text = report(created).replacen(
            "\"one_minute\":",
            if node == "a" { "\"one_minute\":1" } else { "\"one_minute\":2" },
            1,
        );
        fs::write(place.join("report.json"), text).unwrap();
    }
    let first = timermeter(folder.path(), &["collect", "run", "-o", "fleet"]);
    assert!(first.status.success(), "{first:?}");
    assert!(printed(&first).starts_with("fleet: 3 reports added, "), "{first:?}");
    let made = files(&folder.path().join("fleet"));
    assert_eq!(made.len(), 2, "{made:?}");
    let dates: Vec<_> =
        made.iter().map(|file| file.parent().unwrap().file_name().unwrap().to_owned()).collect();
    assert_eq!(dates, ["date=2026-11-20", "date=2026-11-21"]);
    let again = timermeter(folder.path(), &["collect", "run", "-o", "fleet"]);
    assert!(again.status.success() && printed(&again).starts_with("fleet: 0 reports added"), "{again:?}");
    assert!(told(&again).contains("3 reports: not added"), "{again:?}");
    assert_eq!(files(&folder.path().join("fleet")), made);
    // The same from a stream, as lines and as they are, and one that is new.
    let lines =
        report("2026-11-21T12:00:00Z").replacen("\"one_minute\":", "\"one_minute\":1", 1).replace('\n', " ");
    let more = streamed(folder.path(), &format!("{lines}\n{}", report("2026-11-22T12:00:00Z")));
    assert!(more.status.success() && printed(&more).starts_with("fleet: 1 report added"), "{more:?}");
    assert_eq!(files(&folder.path().join("fleet")).len(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished stays");
}

/// A user who may write into a dataset does not choose where else another user writes.
#[test]
#[cfg(unix)]
fn a_link_out_of_the_dataset_is_not_followed() {
    let folder = folder();
    let (run, elsewhere) = (folder.path().join("run"), folder.path().join("elsewhere"));
    fs::create_dir(&run).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    fs::write(run.join("a.json"), report("2026-11-20T12:00:00Z")).unwrap();
    let first = timermeter(folder.path(), &["collect", "run", "-o", "fleet"]);
    assert!(first.status.success(), "{first:?}");
    let fleet = folder.path().join("fleet");
    let part = fleet.join(&files(&fleet)[0]);
    let (date, platform) = (part.parent().unwrap(), part.ancestors().nth(2).unwrap());
    for link in [date, platform] {
        fs::remove_dir_all(link).unwrap();
        std::os::unix::fs::symlink(&elsewhere, link).unwrap();
        let again = timermeter(folder.path(), &["collect", "run", "-o", "fleet"]);
        assert_eq!(again.status.code(), Some(1), "{again:?}");
        assert!(told(&again).contains("is a link, which may lead out of the dataset"), "{again:?}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing is written there");
    }
}

#[test]
fn what_is_cut_off_or_no_report_costs_nobody_elses() {
    let folder = folder();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    let whole = report("2026-11-20T12:00:00Z");
    let half = &whole[..whole.len() / 2];
    fs::write(run.join("a.json"), &whole).unwrap();
    fs::write(run.join("b.json"), half).unwrap();
    fs::write(run.join("c.json"), "{\"nothing\": 1}").unwrap();
    let done = timermeter(folder.path(), &["collect", "run", "missing.json", "-o", "fleet"]);
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    assert!(printed(&done).starts_with("fleet: 1 report added"), "{done:?}");
    for name in ["b.json", "c.json", "missing.json"] {
        assert!(told(&done).contains(name), "{done:?}");
    }
    let next = report("2026-11-21T12:00:00Z");
    let done =
        streamed(folder.path(), &format!("{half}{next}\nno JSON at all\n{}", report("2026-11-22T12:00:00Z")));
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    assert!(printed(&done).starts_with("fleet: 2 reports added"), "{done:?}");
    assert!(
        told(&done).contains("standard input, document 1") && told(&done).contains("document 3"),
        "{done:?}"
    );
    let none = timermeter(folder.path(), &["collect", "run/b.json", "-o", "other"]);
    assert_eq!(none.status.code(), Some(1), "{none:?}");
    assert!(!folder.path().join("other").exists());
}

#[test]
fn what_is_odd_is_added_and_said() {
    let folder = folder();
    let run = folder.path().join("run");
    for (place, created) in
        [("x/node7", "1970-01-01T00:00:09Z"), ("y/node7", "1970-01-01T00:00:09Z"), ("y/node8", "yesterday")]
    {
        fs::create_dir_all(run.join(place)).unwrap();
        let load = if place.starts_with('x') { "\"one_minute\":1" } else { "\"one_minute\":2" };
        let text = report(created).replacen("\"one_minute\":", load, 1);
        fs::write(run.join(place).join("report.json"), text).unwrap();
    }
    let done = timermeter(folder.path(), &["collect", "run", "-o", "fleet"]);
    assert!(done.status.success() && printed(&done).starts_with("fleet: 3 reports added"), "{done:?}");
    for words in ["2 reports: of 1970", "1 report: without a time", "several machines have one name", "node7"]
    {
        assert!(told(&done).contains(words), "{words}: {done:?}");
    }
    let made = files(&folder.path().join("fleet"));
    let made: Vec<_> =
        made.iter().map(|file| file.parent().unwrap().file_name().unwrap().to_owned()).collect();
    assert_eq!(made, ["date=1970-01-01", "date=__HIVE_DEFAULT_PARTITION__"]);
}

#[test]
fn what_somebody_has_there_stays() {
    let folder = folder();
    fs::write(folder.path().join("a.json"), report("2026-11-20T12:00:00Z")).unwrap();
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/notes.txt"), "mine").unwrap();
    let refused = timermeter(folder.path(), &["collect", "a.json", "-o", "mine"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(told(&refused).contains("notes.txt"), "{refused:?}");
    assert_eq!(files(&folder.path().join("mine")), [Path::new("notes.txt")]);
    let refused = timermeter(folder.path(), &["collect", "a.json", "-o", "a.json"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(told(&refused).contains("is no folder"), "{refused:?}");
    // Kinds of rows do not mix.
    let waits = Path::new(super::ROOT).join("tests/fuzz/corpus/report/waits.json");
    let waits = fs::read_to_string(waits).unwrap();
    fs::write(folder.path().join("w.json"), waits).unwrap();
    let collect = |kind| timermeter(folder.path(), &["collect", "w.json", "-o", "kinds", "--kind", kind]);
    let done = collect("waits");
    assert!(done.status.success(), "{done:?}");
    let made = files(&folder.path().join("kinds"));
    let refused = collect("periods");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(told(&refused).contains("holds waits, and what is collected are periods"), "{refused:?}");
    assert_eq!(files(&folder.path().join("kinds")), made);
}

/// As in a full disk: files may not grow beyond what has been written by then.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = folder();
    fs::write(folder.path().join("a.json"), report("2026-11-20T12:00:00Z")).unwrap();
    fs::write(folder.path().join("b.json"), report("2026-11-21T12:00:00Z")).unwrap();
    assert!(timermeter(folder.path(), &["collect", "a.json", "-o", "fleet"]).status.success());
    let made = files(&folder.path().join("fleet"));
    for place in ["fleet", "other"] {
        // The signal is ignored, so that a write fails as on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f 1; exec '{}' collect b.json -o {place}", program());
        let full = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert_eq!(full.status.code(), Some(1), "{full:?}");
        assert!(told(&full).contains(&format!("cannot write '{place}'")), "{full:?}");
    }
    assert_eq!(files(&folder.path().join("fleet")), made);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing unfinished stays");
    let later = timermeter(folder.path(), &["collect", "b.json", "-o", "fleet"]);
    assert!(later.status.success() && printed(&later).starts_with("fleet: 1 report added"), "{later:?}");
}
