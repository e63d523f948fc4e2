//! Forgeries are refused, each with its cause; what is kept is accepted; a contribution names no machine and no user.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use timermeter::recording::Recording;

use crate::program::program;
use crate::skipping;

const KEPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json");
const REPORTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reports");

fn timermeter(args: &[&str], folder: &Path) -> Output {
    Command::new(program()).args(args).current_dir(folder).output().expect("it runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// The row of a timer.
fn row<'a>(report: &'a mut Value, id: &str) -> &'a mut Value {
    let rows = report["timers"].as_array_mut().expect("timers");
    rows.iter_mut().find(|row| row["id"] == id).expect("it is kept")
}

/// What is changed of a kept report, and what is said of that.
type Forgery = (fn(&mut Value), &'static str);

const FORGERIES: [Forgery; 19] = [
    (
        |report| row(report, "monotonic")["quality"] = json!(0.45),
        "Formula (1) of its accuracy, cost and spread gives",
    ),
    (
        |report| {
            let row = row(report, "monotonic");
            (row["quality"], row["quality_high"]) = (json!(0.99), json!(1.0));
        },
        "Quality is 99",
    ),
    (
        |report| row(report, "monotonic")["quality"] = json!(0.0),
        "Quality is 0, and the timer fails no question",
    ),
    (
        |report| {
            let cost = &mut row(report, "monotonic")["cost"];
            (cost["low_ns"], cost["high_ns"]) = (json!(28.0), json!(30.0));
        },
        "outside its own interval",
    ),
    (|report| row(report, "monotonic")["cost"]["median_cycles"] = json!(12.0), "the report says 12"),
    (|report| row(report, "monotonic")["accuracy"]["cycles"] = json!(1.0), "accuracy is 10.0"),
    (|report| report["created"] = json!("2999-01-01T00:00:00Z"), "lies in the future"),
    (|report| report["created"] = json!("yesterday"), "'yesterday' is no time"),
    (|report| report["created"] = json!("1970-01-01T00:00:07Z"), "lies before the first version"),
    (|report| row(report, "monotonic")["id"] = json!("sundial"), "no timer of this program is called so"),
    (|report| row(report, "monotonic")["id"] = json!("acme:clock"), "its name says whose it is"),
    (
        |report| {
            let row = row(report, "monotonic");
            (row["id"], row["runtime"]) = (json!("acme:clock"), json!("Acme 1"));
        },
        "brings no host 'acme'",
    ),
    (|report| report["platform"]["cpu"]["architecture"] = json!("z80"), "runs on no 'z80'"),
    (
        |report| report["provenance"] = json!({"kind": "published", "source": "me", "note": null}),
        "none of the reports that this project made",
    ),
    (
        |report| {
            let row = row(report, "clock");
            row["accuracy"]["ns"] = json!(400.0);
        },
        "is finer than its tick",
    ),
    (
        |report| {
            let cost = &mut row(report, "monotonic")["cost"];
            (cost["low_ns"], cost["high_ns"]) = (json!(30.0), json!(20.0));
        },
        "below its beginning",
    ),
    (|report| row(report, "monotonic")["observations"] = Value::Null, "no samples"),
    (|report| row(report, "monotonic")["observations"]["processes"] = json!(0), "no samples"),
    (|report| report["tool"]["name"] = json!("timerkilometer"), "is not timermeter"),
];

#[test]
fn forgeries_are_refused_with_their_cause() {
    let folder = folder();
    let kept: Value = serde_json::from_str(&fs::read_to_string(KEPT).unwrap()).unwrap();
    for (number, (forge, cause)) in FORGERIES.iter().enumerate() {
        let mut report = kept.clone();
        forge(&mut report);
        assert_ne!(report, kept, "{cause}");
        fs::write(folder.path().join("report.json"), report.to_string()).unwrap();
        let told = timermeter(&["validate", "report.json"], folder.path());
        let text = printed(&told);
        assert_eq!(told.status.code(), Some(3), "{number}: {told:?}");
        assert!(text.contains("report.json: refused") && text.contains(cause), "{number}, {cause}: {text}");
    }
}

#[test]
fn kept_reports_are_accepted() {
    let folder = folder();
    let told = timermeter(&["validate", REPORTS, "--format", "json"], folder.path());
    assert!(told.status.success(), "{told:?}");
    let verdicts: Vec<Value> = serde_json::from_slice(&told.stdout).unwrap();
    assert!(verdicts.len() > 20 && verdicts.iter().all(|verdict| verdict["sound"] == true), "{verdicts:?}");
    // Those whose traces were not kept cannot be held against them.
    let told = timermeter(&["validate", KEPT, "--require-trace"], folder.path());
    assert!(told.status.code() == Some(3) && printed(&told).contains("no trace"), "{told:?}");
}

/// Names that a machine could have.
const SECRETS: [&str; 8] = [
    "host7.acme.example",
    "ntp.acme.example",
    "192.0.2.17",
    "2001:db8::17",
    "acme-rt",
    "/home/alice",
    "alice",
    "#17 SMP acme",
];

/// A run of this machine whose trace says all of these.
fn telling(folder: &Path) -> Recording {
    let probed = timermeter(
        &[
            "probe",
            "--quick",
            "--quiet",
            "monotonic",
            "realtime",
            "rdtsc",
            "--trace",
            "told.trace",
            "-o",
            "told.json",
            "--node",
            SECRETS[0],
        ],
        folder,
    );
    assert!(matches!(probed.status.code(), Some(0 | 3)), "{probed:?}");
    let mut recording = Recording::read(&folder.join("told.trace")).unwrap();
    let platform = &mut recording.platform;
    platform.kernel.release = Some("6.1.0-acme-rt".into());
    platform.kernel.version = Some(SECRETS[7].into());
    platform.cpu.isolated = Some("3-17,19".into());
    let served = |reference: &str| timermeter::model::CommonTime {
        source: "chrony".into(),
        reference: Some(reference.into()),
        reference_id: Some(SECRETS[2].into()),
        asked: "chronyc -c tracking".into(),
        reason: Some(format!("no socket in {}", SECRETS[5])),
        ..Default::default()
    };
    platform.common_time = Some(vec![served(SECRETS[1]), served(SECRETS[3])]);
    let failed = timermeter::model::TimerRow::unmeasured(
        "java",
        "java -cp /home/alice",
        "java",
        timermeter::model::Status::Failed,
    );
    recording.unasked.push(timermeter::model::TimerRow {
        reason: Some("/home/alice/bin/java is not there".into()),
        ..failed
    });
    fs::write(folder.join("run.trace"), recording.pack().unwrap()).unwrap();
    recording
}

#[test]
fn a_contribution_names_nobody_and_is_what_its_trace_analyses_to() {
    let folder = folder();
    let recording = telling(folder.path());
    let args = ["contribute", "--anonymise", "--from", "run.trace", "--output", "given.tar.gz"];
    let told = timermeter(&args, folder.path());
    assert!(told.status.success(), "{told:?}");
    let text = printed(&told);
    assert!(text.contains("platform.kernel.release: \"6.1.0\"") && text.contains("sent nowhere"), "{text}");
    let packed = fs::read(folder.path().join("given.tar.gz")).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
    archive.unpack(folder.path().join("given")).unwrap();
    let mut names = Vec::new();
    for entry in walk(&folder.path().join("given")) {
        let content = fs::read(&entry).unwrap();
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        let content =
            if name == "run.trace" { unpacked(&content) } else { String::from_utf8(content).unwrap() };
        let time = &recording.created[11..19];
        for secret in SECRETS.iter().chain([&time, &"3-17,19"]) {
            assert!(!content.contains(secret), "{secret} in {name}");
            assert!(!text.contains(secret), "{secret} is told");
        }
        // Readings of clocks of the day, in nanoseconds since 1970.
        let epoch = humantime::parse_rfc3339(&recording.created).unwrap();
        let epoch = epoch.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
        let numbers = content.split(|c: char| !c.is_ascii_digit());
        let mut of_today = numbers.filter(|number| number.len() >= 16 && number.starts_with(&epoch[..7]));
        assert_eq!(of_today.next(), None, "the time of day is in {name}");
        names.push(name);
    }
    names.sort_unstable();
    assert_eq!(names, ["LICENSE-CC0", "README.md", "report.json", "run.trace"]);
    let checked = timermeter(&["validate", "given", "--require-trace"], folder.path());
    assert!(
        checked.status.success() && printed(&checked).contains("what its trace analyses to"),
        "{checked:?}"
    );
    scaled_throughout(&walk(&folder.path().join("given")), folder.path());
    let site = timermeter(&["publish", "given", "-o", "site"], folder.path());
    assert!(site.status.success() && folder.path().join("site/index.html").exists(), "{site:?}");
}

/// What tells whose this machine is: its names, its users, its addresses.
fn of_this_machine() -> Vec<String> {
    let told = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output.map(|output| printed(&output)).unwrap_or_default()
    };
    let mut names: Vec<String> =
        ["USER", "LOGNAME", "HOME", "HOSTNAME"].iter().filter_map(|name| std::env::var(name).ok()).collect();
    for (program, args) in
        [("uname", &["-n"][..]), ("hostname", &["-f"]), ("hostname", &["-I"]), ("id", &["-un"])]
    {
        names.extend(told(program, args).split_whitespace().map(str::to_owned));
    }
    names.extend(fs::read_to_string("/etc/machine-id").ok().map(|id| id.trim().to_owned()));
    for card in fs::read_dir("/sys/class/net").into_iter().flatten().flatten() {
        names.extend(fs::read_to_string(card.path().join("address")).ok().map(|mac| mac.trim().to_owned()));
    }
    names.push(env!("CARGO_TARGET_TMPDIR").to_owned());
    // Words that every machine knows tell none.
    let common = ["root", "/root", "localhost", "/", "00:00:00:00:00:00", "nobody", "ci"];
    names.retain(|name| name.len() > 2 && !common.contains(&name.as_str()) && !name.starts_with("127."));
    names.sort_unstable();
    names.dedup();
    names
}

/// The reports of a clone of this repository that nothing was done in; nothing where this is no clone itself.
fn clean_clone(folder: &Path) -> Option<std::path::PathBuf> {
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(folder).output();
    let root = env!("CARGO_MANIFEST_DIR");
    let cloned = git(&["clone", "--quiet", "--shared", "--no-checkout", root, "clone"]);
    if !cloned.is_ok_and(|output| output.status.success()) {
        skipping::skipped("this is no clone of the repository, or git is missing", "run it in one");
        return None;
    }
    let out = git(&["-C", "clone", "checkout", "--quiet", "HEAD", "--", "reports"]).unwrap();
    assert!(out.status.success(), "{out:?}");
    Some(folder.join("clone/reports"))
}

#[test]
fn a_contribution_of_this_machine_tells_nothing_of_it_and_is_published_from_a_clean_clone() {
    let folder = folder();
    let node = "host-of-this-test.example";
    let secrets = [of_this_machine(), vec![node.to_owned()]].concat();
    let timers = ["monotonic", "realtime", "clock"];
    let probe = ["probe", "--quick", "--quiet", "--trace", "run.trace", "-o", "told.json", "--node", node];
    let probed = timermeter(&[&probe[..], &timers].concat(), folder.path());
    assert!(matches!(probed.status.code(), Some(0 | 3)), "{probed:?}");
    // The name was there before it was taken out.
    assert!(fs::read_to_string(folder.path().join("told.json")).unwrap().contains(node));
    let args = ["contribute", "--anonymise", "--from", "run.trace", "--output", "given.tar.gz"];
    let told = timermeter(&args, folder.path());
    assert!(told.status.success(), "{told:?}");
    let Some(reports) = clean_clone(folder.path()) else { return };
    let packed = fs::read(folder.path().join("given.tar.gz")).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        assert!(entry.header().username().unwrap().is_none_or(str::is_empty), "who packed it");
        let path = entry.path().unwrap().into_owned();
        entry.unpack_in(&reports).unwrap();
        reports.join(path)
    });
    let entries: Vec<std::path::PathBuf> = entries.collect();
    assert_eq!(entries.len(), 4, "{entries:?}");
    for path in &entries {
        let content = fs::read(path).unwrap();
        let content = if path.ends_with("run.trace") {
            unpacked(&content)
        } else {
            String::from_utf8(content).unwrap()
        };
        for secret in &secrets {
            assert!(!content.contains(secret), "{secret} in {}", path.display());
            assert!(!path.strip_prefix(&reports).unwrap().to_string_lossy().contains(secret), "{secret}");
        }
    }
    let report = entries.iter().find(|path| path.ends_with("report.json")).unwrap();
    let checked = timermeter(&["validate", "--require-trace", "--", report.to_str().unwrap()], folder.path());
    assert!(checked.status.success(), "{checked:?}");
    let kept = timermeter(&["validate", "clone/reports"], folder.path());
    assert!(kept.status.success(), "{kept:?}");
    let site = timermeter(&["publish", "clone/reports", "-o", "site"], folder.path());
    assert!(site.status.success(), "{site:?}");
    let platform = report.strip_prefix(&reports).unwrap().iter().next().unwrap().to_string_lossy();
    let index = fs::read_to_string(folder.path().join("site/index.html")).unwrap();
    assert!(index.contains(platform.as_ref()), "{platform}");
    for page in walk(&folder.path().join("site")) {
        let content = String::from_utf8_lossy(&fs::read(&page).unwrap()).into_owned();
        assert_eq!(secrets.iter().find(|secret| content.contains(*secret)), None, "{}", page.display());
    }
}

/// A report whose times are all twice as long contradicts nothing but its trace.
fn scaled_throughout(files: &[std::path::PathBuf], folder: &Path) {
    let path = files.iter().find(|path| path.ends_with("report.json")).unwrap();
    let mut report: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let hertz = report["frequency"]["cycles_hz"].as_f64();
    if let Some(hertz) = hertz {
        report["frequency"]["cycles_hz"] = json!(hertz / 2.0);
    }
    for row in report["timers"].as_array_mut().unwrap() {
        for key in ["ns", "low_ns", "high_ns", "ticks"] {
            scale(&mut row["accuracy"], key);
        }
        for key in ["median_ns", "low_ns", "high_ns"] {
            scale(&mut row["cost"], key);
        }
    }
    // No trace lies beside it there.
    fs::create_dir(folder.join("forged")).unwrap();
    fs::write(folder.join("forged/scaled.json"), report.to_string()).unwrap();
    let alone = timermeter(&["validate", "forged/scaled.json"], folder);
    assert!(alone.status.success(), "nothing else tells: {alone:?}");
    let trace = path.with_file_name("run.trace");
    let told = timermeter(&["validate", "forged/scaled.json", "--trace", trace.to_str().unwrap()], folder);
    assert!(told.status.code() == Some(3) && printed(&told).contains("its trace analyses to"), "{told:?}");
}

fn scale(part: &mut Value, key: &str) {
    if let Some(figure) = part.get(key).and_then(Value::as_f64) {
        part[key] = json!(2.0 * figure);
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { found.extend(walk(&entry)) } else { found.push(entry) }
    }
    found
}

/// The text of a trace.
fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}
