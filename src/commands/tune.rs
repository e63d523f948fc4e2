//! `check --tune`: tells which settings of the kernel would make the machine quieter; changes them and sets them back where it is
//! told to. What they were is written down before the first is changed, so that even half of it can be undone.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CommandError, failed, tell, terminal_style};
use crate::cli::{CheckArgs, ShortFormat};
use crate::input;
use crate::platform::{Root, identify_at, settings};
use crate::report::WholeFile;
use crate::suitability::tuning::{SettingChange, plan};
use crate::suitability::{Finding, Severity, judge};
use crate::table::Style;
use crate::text::json::{Layout, written};
use crate::text::{from_bytes, hang, plain};

/// The schema of the document, and of what is written down.
const SCHEMA: &str = "timermeter.tune.v1";
/// What is written down goes with the next start of the machine, as the settings do.
const RECORD: &str = "/run/timermeter/tuned.json";
const LONGEST_RECORD: u64 = 4 << 20;
/// Findings that are about what is changed here.
const CHANGED: [&str; 2] = ["governor", "turbo"];
pub(super) const AS_ROOT: &str = "run it as root, on the machine itself, where containers may not";

/// What settings were.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    schema: String,
    /// The CPU that is to be quiet: which one has least to do changes from one moment to the next.
    #[serde(default)]
    cpu: Option<u32>,
    settings: Vec<Before>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Before {
    code: String,
    path: String,
    value: String,
}

impl Record {
    /// Writes down what a setting is before it is changed, beside what is written down already, so that `--tune --undo` finds it.
    ///
    /// # Errors
    /// When nowhere can be written.
    pub(super) fn remember(root: &Root, code: &str, path: &str, value: &str) -> Result<Self, CommandError> {
        let record = root.file(RECORD).ok_or_else(|| failed("on this system no setting is known"))?;
        let mut known = read(&record)?.unwrap_or_default();
        if known.settings.iter().all(|before| before.path != path) {
            known.settings.push(Before { code: code.into(), path: path.into(), value: value.into() });
        }
        write(&record, &known).map_err(|why| {
            failed(format!(
                "nothing was changed, as nowhere could be written what settings were: {why}; {AS_ROOT}"
            ))
        })?;
        Ok(known)
    }

    /// Forgets what is as it was.
    pub(super) fn settle(self, root: &Root) {
        if let Some(record) = root.file(RECORD) {
            keep_what_differs(root, &record, self);
        }
    }
}

/// What became of a setting.
#[derive(Debug, Serialize)]
struct Step {
    #[serde(flatten)]
    change: SettingChange,
    /// Null where it was not asked for.
    done: Option<bool>,
    /// Why it was not done.
    reason: Option<String>,
}

#[derive(Serialize)]
struct TuningDocument<'a> {
    schema: &'static str,
    /// The CPU that is to be quiet.
    cpu: Option<u32>,
    changes: &'a [Step],
    /// What is not changed here.
    advice: &'a [Finding],
}

/// Runs the command. Returns whether all that was asked for could be done.
///
/// # Errors
/// When nothing could be done, as without the permission.
pub(super) fn run(args: &CheckArgs, cpu: Option<u32>, output: &mut dyn Write) -> Result<bool, CommandError> {
    let root = args.root.as_ref().map_or_else(Root::system, Root::at);
    let record =
        root.file(RECORD).ok_or_else(|| failed("on this system nothing is known that could be tuned"))?;
    let chosen = || read(&record).ok().flatten().and_then(|known| known.cpu);
    let cpu = args.cpu.or_else(chosen).or(cpu);
    let (steps, advice) = if args.undo {
        (undo(&root, &record)?, Vec::new())
    } else {
        let changes = plan(&settings::settings(&root, cpu), cpu, &settings::online(&root));
        let findings = judge(&identify_at(&root, cpu)).into_iter().filter(|finding| {
            let changed = changes.iter().any(|change| change.code == finding.code);
            !(changed && CHANGED.contains(&finding.code.as_str())) && finding.severity < Severity::Unknown
        });
        let advice = findings.filter(|finding| finding.advice.is_some()).collect();
        let step = |change| Step { change, done: None, reason: None };
        let steps = if args.apply {
            apply(&root, &record, cpu, changes)?
        } else {
            changes.into_iter().map(step).collect()
        };
        (steps, advice)
    };
    match args.format {
        ShortFormat::Json => {
            let document = TuningDocument { schema: SCHEMA, cpu, changes: &steps, advice: &advice };
            writeln!(output, "{}", super::pretty(&document)?)?;
        }
        ShortFormat::Table => {
            output.write_all(page(args, cpu, &steps, &advice, terminal_style()).as_bytes())?
        }
    }
    output.flush()?;
    Ok(steps.iter().all(|step| step.done != Some(false) || step.change.may_be_refused))
}

fn apply(
    root: &Root,
    record: &Path,
    cpu: Option<u32>,
    changes: Vec<SettingChange>,
) -> Result<Vec<Step>, CommandError> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    may_be_written(root, &changes)?;
    let mut known = read(record)?.unwrap_or_default();
    known.cpu = cpu;
    // What stood there before the first time counts.
    for change in &changes {
        if known.settings.iter().all(|before| before.path != change.path) {
            let SettingChange { code, path, from, .. } = change.clone();
            known.settings.push(Before { code, path, value: from });
        }
    }
    write(record, &known).map_err(|why| {
        failed(format!(
            "nothing was changed, as nowhere could be written what settings were: {why}; {AS_ROOT}"
        ))
    })?;
    let steps = changes.into_iter().map(|change| step(root, change)).collect();
    keep_what_differs(root, record, known);
    Ok(steps)
}

/// The last first, so that what depends on an earlier one finds it as it was.
fn undo(root: &Root, record: &Path) -> Result<Vec<Step>, CommandError> {
    let Some(known) = read(record)? else { return Ok(Vec::new()) };
    let change = |before: &Before| SettingChange {
        code: before.code.clone(),
        path: before.path.clone(),
        from: settings::value(root, &before.path).unwrap_or_default(),
        to: before.value.clone(),
        may_be_refused: false,
    };
    let changes: Vec<SettingChange> = known.settings.iter().rev().map(change).collect();
    may_be_written(root, &changes)?;
    let steps = changes.into_iter().map(|change| step(root, change)).collect();
    keep_what_differs(root, record, known);
    Ok(steps)
}

fn step(root: &Root, change: SettingChange) -> Step {
    let reason = settings::set(root, &change.path, &change.to).err().map(|error| error.to_string());
    Step { change, done: Some(reason.is_none()), reason }
}

/// Nothing is begun where nothing can be done.
fn may_be_written(root: &Root, changes: &[SettingChange]) -> Result<(), CommandError> {
    let refused = changes.iter().map(|change| settings::writable(root, &change.path).err());
    let Some(errors) = refused.collect::<Option<Vec<io::Error>>>() else { return Ok(()) };
    match (changes.first(), errors.first()) {
        (Some(change), Some(error)) => {
            Err(failed(format!("nothing was changed: '{}': {error}; {AS_ROOT}", change.path)))
        }
        _ => Ok(()),
    }
}

fn read(record: &Path) -> Result<Option<Record>, CommandError> {
    let cannot = |why: &dyn std::fmt::Display| {
        failed(format!(
            "nothing was changed: cannot read '{}', which says what settings were: {why}",
            record.display()
        ))
    };
    let mut bytes = Vec::new();
    match input::read(record, LONGEST_RECORD, &mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| cannot(&error))?,
    }
    let known: Record = from_bytes(&bytes).map_err(|error| cannot(&error))?;
    // As root, no other file is written because of what stands there.
    let is_setting = |path: &str| {
        (path.starts_with("/sys/") || path.starts_with("/proc/")) && !path.split('/').any(|part| part == "..")
    };
    if known.schema != SCHEMA || known.settings.iter().any(|before| !is_setting(&before.path)) {
        return Err(cannot(&"it is not by this program; remove it, and set back by hand what was changed"));
    }
    Ok(Some(known))
}

fn write(record: &Path, known: &Record) -> Result<(), String> {
    let folder = record.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).map_err(|error| format!("'{}': {error}", folder.display()))?;
    let known = Record { schema: SCHEMA.into(), cpu: known.cpu, settings: known.settings.clone() };
    let text = written(&known, Layout::Indented).map_err(|error| error.to_string())?;
    let file = WholeFile::prepare(record).map_err(|error| error.to_string())?;
    file.commit(text.as_bytes()).map_err(|error| error.to_string())
}

/// Forgets what is as it was: the rest can still be undone. Where that cannot be written, all of it can.
fn keep_what_differs(root: &Root, record: &Path, mut known: Record) {
    known.settings.retain(|before| settings::value(root, &before.path).as_ref() != Some(&before.value));
    let kept = if known.settings.is_empty() {
        fs::remove_file(record).map_err(|error| format!("'{}': {error}", record.display()))
    } else {
        write(record, &known)
    };
    if let Err(why) = kept {
        tell(&format!("what settings were is written down as it was before: {why}"));
    }
}

fn page(args: &CheckArgs, cpu: Option<u32>, steps: &[Step], advice: &[Finding], style: Style) -> String {
    let mut out = match (args.apply, args.undo, steps.is_empty()) {
        (_, true, true) => "Nothing is changed that could be set back.\n",
        (_, true, false) => "Set back to what it was:\n",
        (_, _, true) => "Nothing here has to be changed.\n",
        (true, ..) => "Changed; `timermeter check --tune --undo` sets it back:\n",
        _ => "Would be changed, as root, by `timermeter check --tune --apply`:\n",
    }
    .to_owned();
    let margin = " ".repeat(16);
    let named = |name: &str| format!("  {name:14}");
    let say =
        |out: &mut String, first: &str, text: &str| hang(out, first, &margin, &plain(text), style.columns());
    for steps in steps.chunk_by(alike) {
        let Step { change, reason, .. } = &steps[0];
        let kept = reason.as_ref().map_or_else(String::new, |why| {
            let whose = if change.may_be_refused { "left as it is by the kernel" } else { "FAILED" };
            format!(" ({whose}: {why})")
        });
        let more = if steps.len() > 1 { format!(" and {} more", steps.len() - 1) } else { String::new() };
        say(&mut out, &named(&change.code), &format!("{} → {}{kept}", change.from, change.to));
        say(&mut out, &margin, &format!("{}{more}", change.path));
    }
    if !advice.is_empty() {
        out += "\nNot changed here, but worth a look:\n";
    }
    for Finding { code, advice, .. } in advice {
        say(&mut out, &named(code), advice.as_deref().unwrap_or_default());
    }
    if !args.undo {
        let which = cpu
            .map_or_else(String::new, |cpu| format!("CPU {cpu} is to be quiet: measure with --cpu {cpu}. "));
        let rest = "The layout of address spaces (ASLR) is left as it is. Where irqbalance runs, stop it first: it would move \
                    interrupts back.";
        out.push('\n');
        hang(&mut out, "", "", &(which + rest), style.columns());
    }
    out
}

/// Whether the same was done to both, with the same end.
fn alike(one: &Step, other: &Step) -> bool {
    let (change, another) = (&one.change, &other.change);
    (one.done, &one.reason) == (other.done, &other.reason)
        && (&change.code, &change.from, &change.to) == (&another.code, &another.from, &another.to)
}
