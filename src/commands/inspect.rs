//! `inspect`: everything about one timer, with its figures.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::{CommandError, failed, probe, report_of, terminal_style, wait};
use crate::cli::{Cpus, InspectArgs, ProbeArgs, WaitArgs, WaitingArgs};
use crate::input;
use crate::model::{PeriodRow, Report, Status, TimerRow, WaitConditions, WaitRow, Warning};
use crate::recording::{LONGEST_TRACE, Recording, is_packed};
use crate::report::facts::facts_of_timer;
use crate::report::machine::{facts_of, name};
use crate::report::plot::Plot;
use crate::report::plot::svg::standalone;
use crate::report::terminal::{listed, machine};
use crate::report::waits::{facts_of_period, facts_of_waits, named};
use crate::report::{self, Fact, WholeFile};
use crate::selection::select;
use crate::table::Style;
use crate::text::{clipped, hang};

/// Lines wider than this are hard to read; figures are not drawn wider.
const WIDEST: u16 = 100;
const LONGEST: usize = 600;

/// Runs the command. Returns whether all timers that were asked for by name could be characterised.
///
/// # Errors
/// When no timer is called so, the report cannot be read, or a figure cannot be written.
pub fn run(args: &InspectArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let svg = args.svg.as_deref().map(folder).transpose()?;
    let report = match &args.from {
        Some(path) => read(path)?,
        None if args.timers.iter().any(|name| timers::waits::find(name).is_some()) => wait_now(args)?,
        None => probe_now(args)?,
    };
    let read = report.timers.iter().map(|row| row.id.as_str());
    let waiting = report.waits.iter().map(|row| row.id.as_str());
    let ticking = report.periods.iter().map(|row| row.id.as_str());
    let ids: Vec<&str> = read.chain(waiting).chain(ticking).collect();
    let wanted = select(&args.timers, &ids).map_err(|error| {
        CommandError::Usage(match &args.from {
            Some(path) => format!("'{}': {}", path.display(), error.among(&ids)),
            None => error.to_string(),
        })
    })?;
    let rows: Vec<&TimerRow> = report.timers.iter().filter(|row| wanted.contains(&row.id.as_str())).collect();
    let waits: Vec<&WaitRow> = report.waits.iter().filter(|row| wanted.contains(&row.id.as_str())).collect();
    let mut written = Vec::new();
    if let Some(folder) = &svg {
        let (machine, among) = (name(&report), conditions(&waits));
        for row in &rows {
            written.extend(write_figures(&row.id, Plot::all_of(row), &machine, folder)?);
        }
        for row in &waits {
            let id = named(&row.id, &row.conditions, &among);
            written.extend(write_figures(&id, Plot::all_of_waits(row), &machine, folder)?);
        }
    }
    let mut style = terminal_style();
    style.width = Some(style.width.unwrap_or(80).clamp(40, WIDEST));
    let mut text = String::new();
    for row in &rows {
        describe(&mut text, row, style);
    }
    let among = conditions(&waits);
    for row in &waits {
        let id = named(&row.id, &row.conditions, &among);
        describe_waiting(&mut text, [&id, &row.label], &facts_of_waits(row), style);
        explain(&mut text, Plot::all_of_waits(row), &row.warnings, style);
    }
    let ticks: Vec<&PeriodRow> =
        report.periods.iter().filter(|row| wanted.contains(&row.id.as_str())).collect();
    let among: Vec<&WaitConditions> = ticks.iter().map(|row| &row.conditions).collect();
    for row in &ticks {
        let id = named(&row.id, &row.conditions, &among);
        describe_waiting(&mut text, [&id, &row.label], &facts_of_period(row), style);
        explain(&mut text, Vec::new(), &row.warnings, style);
    }
    text += &machine(&facts_of(&report), style);
    for path in written {
        text += &format!("# written: {}\n", path.display());
    }
    output.write_all(text.as_bytes())?;
    let ended = rows.iter().map(|row| (row.status, &row.id));
    let ended = ended.chain(waits.iter().map(|row| (row.status, &row.id)));
    let ended = ended.chain(ticks.iter().map(|row| (row.status, &row.id)));
    Ok(ended.into_iter().all(|(status, id)| status == Status::Ok || !args.timers.contains(id)))
}

fn conditions<'a>(rows: &[&'a WaitRow]) -> Vec<&'a WaitConditions> {
    rows.iter().map(|row| &row.conditions).collect()
}

/// A report, or the report of a trace: what the file is tells its first bytes.
fn read(path: &Path) -> Result<Report, CommandError> {
    let mut first = [0; 4];
    if path != Path::new("-") {
        let begins = input::open(path).and_then(|mut file| file.read_exact(&mut first));
        return match begins {
            Ok(()) if is_packed(&first) => {
                report_of(&Recording::read(path).map_err(failed)?, &format!("'{}'", path.display()))
            }
            _ => report::read(path).map_err(failed),
        };
    }
    // It can be read once only.
    let (mut bytes, name) = (Vec::new(), "standard input");
    input::read(path, LONGEST_TRACE, &mut bytes)
        .map_err(|error| failed(format!("cannot read {name}: {error}")))?;
    if is_packed(&bytes) {
        return report_of(&Recording::unpack(&bytes, name).map_err(failed)?, name);
    }
    report::parse(&String::from_utf8_lossy(&bytes), name).map_err(failed)
}

fn probe_now(args: &InspectArgs) -> Result<Report, CommandError> {
    let probe = ProbeArgs {
        timers: args.timers.clone(),
        quick: true,
        context: true,
        agents: args.agents.clone(),
        cpu: args.cpu,
        ..ProbeArgs::default()
    };
    let (recording, _) = probe::record(&probe)?;
    recording.report().map_err(failed)
}

/// Characterises timers that wait.
fn wait_now(args: &InspectArgs) -> Result<Report, CommandError> {
    let wanted = WaitArgs::first_look(WaitingArgs {
        timers: args.timers.clone(),
        agents: args.agents.clone(),
        cpu: args.cpu.map(Cpus::One),
        ..WaitingArgs::default()
    });
    let (recording, _) = wait::record(&wanted)?;
    recording.report().map_err(failed)
}

/// The folder for the figures, made where it is missing.
fn folder(path: &Path) -> Result<PathBuf, CommandError> {
    fs::create_dir_all(path).map_err(|error| {
        failed(format!("cannot make the folder '{}': {error}; choose another place", path.display()))
    })?;
    Ok(path.to_owned())
}

fn write_figures(
    id: &str,
    plots: Vec<Plot>,
    machine: &str,
    folder: &Path,
) -> Result<Vec<PathBuf>, CommandError> {
    let mut written = Vec::new();
    for plot in plots {
        let path = folder.join(format!("{}-{}.svg", file_name(id), plot.name));
        let title = format!("{} of {} on {machine}", plot.title, clipped(id, LONGEST));
        let text = standalone(&plot.svg().map_err(failed)?, &title);
        let file = WholeFile::prepare(&path).map_err(failed)?;
        file.commit(text.as_bytes()).map_err(failed)?;
        written.push(path);
    }
    Ok(written)
}

/// An id as a part of a file name on any system, no two the same: a colon becomes a plus, and what else has to be changed
/// is distinguished by a number that follows from the id.
fn file_name(id: &str) -> String {
    let fit = |c: char| match c {
        ':' => '+',
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
        _ => '-',
    };
    let name: String = id.chars().take(80).map(fit).collect();
    let name = name.trim_start_matches('.');
    if name.replace('+', ":") == id {
        return name.to_owned();
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    format!("{name}-{:08x}", hasher.finish() as u32)
}

const BOLD: &str = "1";
const YELLOW: &str = "33";

fn describe(out: &mut String, row: &TimerRow, style: Style) {
    *out += &style.paint(BOLD, &clipped(&row.id, 200));
    *out += &format!("  {}\n\n", clipped(&row.label, 200));
    *out += &listed("", &facts_of_timer(row), style);
    let plots = Plot::all_of(row);
    if plots.is_empty() {
        *out += if row.observations.is_some() {
            "\nThis report holds no figures: it was written by an older version, or published elsewhere.\n"
        } else {
            "\nNothing was observed of it.\n"
        };
    }
    explain(out, plots, &row.warnings, style);
}

fn describe_waiting(out: &mut String, [id, label]: [&str; 2], facts: &[Fact], style: Style) {
    *out += &style.paint(BOLD, &clipped(id, 200));
    *out += &format!("  {}\n\n", clipped(label, 200));
    *out += &listed("", facts, style);
}

fn explain(out: &mut String, plots: Vec<Plot>, warnings: &[Warning], style: Style) {
    let width = usize::from(style.width.unwrap_or(WIDEST));
    for plot in plots {
        out.push('\n');
        *out += &plot.terminal(width);
    }
    if !warnings.is_empty() {
        *out += &format!("\n{}\n", style.paint(YELLOW, "caveats"));
    }
    for warning in warnings {
        let [code, message, advice] =
            [&warning.code, &warning.message, &warning.advice].map(|text| clipped(text, LONGEST));
        hang(out, "  ", "    ", &format!("{code}: {message}"), width);
        hang(out, "    → ", "      ", &advice, width);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn ids_are_file_names() {
        assert_eq!(file_name("java:nanoTime"), "java+nanoTime");
        assert_eq!(file_name("monotonic-raw"), "monotonic-raw");
        let odd = ["a:b", "a-b", "a+b", "a b", "a/b", ".a-b", "../../etc/passwd", "=a\nb\u{202e}", ""];
        let names = odd.map(file_name);
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name) && !name.starts_with('.'), "{names:?}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)), "{names:?}");
        }
    }
}
