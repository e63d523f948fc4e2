//! `inspect`: everything about one timer, with its figures.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::{CommandError, failed, probe, report_of, terminal_style, wait};
use crate::cli::{Cpus, InspectArgs, ProbeArgs, WaitArgs, WaitingArgs};
use crate::input;
use crate::model::{
    Finding, Outcome, PeriodRow, Report, Status, TimerRow, USUAL_WAIT_NS, WaitConditions, WaitRow,
};
use crate::recording::{LONGEST_TRACE, Recording, is_packed};
use crate::report::facts::facts_of_timer;
use crate::report::machine::{facts_of, in_a_line, name};
use crate::report::plot::Plot;
use crate::report::plot::svg::standalone;
use crate::report::terminal::{listed, machine};
use crate::report::waits::{facts_of_period, facts_of_waits, named};
use crate::report::{self, Fact, WholeFile};
use crate::selection::select;
use crate::table::Style;
use crate::text::numbers::short_time;
use crate::text::{clipped, counted, first_part, hang, plain};

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
        None if args
            .timers
            .iter()
            .any(|name| timers::waits::find(name).is_some()) =>
        {
            wait_now(args)?
        }
        None => probe_now(args)?,
    };
    let read = report.timers.iter().map(|row| row.id.as_str());
    let waiting = report.waits.iter().map(|row| row.id.as_str());
    let ticking = report.periods.iter().map(|row| row.id.as_str());
    let ids: Vec<&str> = read.chain(waiting).chain(ticking).collect();
    let wanted_ids = select(&args.timers, &ids).map_err(|error| {
        CommandError::Usage(match &args.from {
            Some(path) => format!("'{}': {}", path.display(), error.among(&ids)),
            None => error.to_string(),
        })
    })?;
    let rows: Vec<&TimerRow> = report
        .timers
        .iter()
        .filter(|row| wanted_ids.contains(&row.id.as_str()))
        .collect();
    let waits: Vec<&WaitRow> = report
        .waits
        .iter()
        .filter(|row| wanted_ids.contains(&row.id.as_str()))
        .collect();
    let mut written = Vec::new();
    if let Some(folder) = &svg {
        let (machine, among) = (name(&report), conditions(&waits));
        for row in &rows {
            written.extend(write_figures(&row.id, Plot::all_of(row), &machine, folder)?);
        }
        for row in &waits {
            let id = named(&row.id, &row.conditions, &among);
            written.extend(write_figures(
                &id,
                Plot::all_of_waits(row),
                &machine,
                folder,
            )?);
        }
    }
    let mut style = terminal_style();
    style.width = Some(style.width.unwrap_or(80).clamp(40, WIDEST));
    let wanted = Wanted {
        whole: args.verbose,
        style,
    };
    let ticks: Vec<&PeriodRow> = report
        .periods
        .iter()
        .filter(|row| wanted_ids.contains(&row.id.as_str()))
        .collect();
    let mut text = String::new();
    for row in &rows {
        wanted.clock(&mut text, row);
    }
    let among = conditions(&waits);
    for row in &waits {
        let names = [&named(&row.id, &row.conditions, &among), &row.label];
        wanted.show(
            &mut text,
            names,
            &facts_of_waits(row),
            || Plot::all_of_waits(row),
            &row.warnings,
        );
    }
    let among: Vec<&WaitConditions> = ticks.iter().map(|row| &row.conditions).collect();
    for row in &ticks {
        let names = [&named(&row.id, &row.conditions, &among), &row.label];
        wanted.show(
            &mut text,
            names,
            &facts_of_period(row),
            Vec::new,
            &row.warnings,
        );
    }
    text += &wanted.end(&report);
    for path in written {
        text += &format!("# written: {}\n", path.display());
    }
    output.write_all(text.as_bytes())?;
    let ended = rows.iter().map(|row| (row.status, &row.id));
    let ended = ended.chain(waits.iter().map(|row| (row.status, &row.id)));
    let ended = ended.chain(ticks.iter().map(|row| (row.status, &row.id)));
    Ok(ended
        .into_iter()
        .all(|(status, id)| status == Status::Ok || !args.timers.contains(id)))
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
            Ok(()) if is_packed(&first) => report_of(
                &Recording::read(path).map_err(failed)?,
                &format!("'{}'", path.display()),
            ),
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
        failed(format!(
            "cannot make the folder '{}': {error}; choose another place",
            path.display()
        ))
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

/// An id as a part of a file name on any system, no two the same: a colon becomes a plus, and what
/// else has to be changed is distinguished by a number that follows from the id.
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

/// What is told of each timer where not all is asked for: what it is good for, and what may be
/// wrong with it.
const BRIEF: [&str; 13] = [
    "status",
    "reason",
    "remedy",
    "Quality",
    "resolution",
    "cost",
    "spread",
    "trust",
    "conditions",
    "granularity",
    "period",
    "rate error",
    "late to its grid",
];
/// Facts of which there may be one a length: the first, the one of the usual length, and the last
/// are told.
const EACH_LENGTH: &str = "lateness";
/// Caveats that are told where not all is asked for.
const CAVEATS: usize = 4;

/// How much is wanted, and how it is to look.
struct Wanted {
    whole: bool,
    style: Style,
}

impl Wanted {
    fn clock(&self, out: &mut String, row: &TimerRow) {
        let plots = || Plot::all_of(row);
        self.show(
            out,
            [&row.id, &row.label],
            &facts_of_timer(row),
            plots,
            &row.warnings,
        );
        if self.whole && plots().is_empty() {
            *out += if row.observations.is_some() {
                "This report holds no figures of it.\n\n"
            } else {
                "Nothing was observed of it.\n\n"
            };
        }
    }

    fn show(
        &self,
        out: &mut String,
        [id, label]: [&String; 2],
        facts: &[Fact],
        plots: impl FnOnce() -> Vec<Plot>,
        warnings: &[Finding],
    ) {
        let id = clipped(id, 200);
        let mut head = String::new();
        hang(
            &mut head,
            "",
            "  ",
            &format!("{id} {}", clipped(label, 200)),
            self.style.columns(),
        );
        // The id is what it begins with.
        *out += &match head.strip_prefix(id.as_str()) {
            Some(rest) => self.style.paint(BOLD, &id) + rest,
            None => head,
        };
        out.push('\n');
        if self.whole {
            *out += &listed("", facts, self.style);
            explain(out, plots(), warnings, self.style);
        } else {
            let brief = brief(facts);
            *out += &listed("", &brief, self.style);
            let is_new = |warning: &&Finding| {
                !brief
                    .iter()
                    .any(|(_, told)| told.contains(&plain(&warning.message())))
            };
            caveats(
                out,
                &warnings.iter().filter(is_new).collect::<Vec<_>>(),
                self.style,
            );
        }
    }

    /// The machine: all of it, or a line.
    fn end(&self, report: &Report) -> String {
        if self.whole {
            return machine(&facts_of(report), self.style);
        }
        let mut out = format!(
            "# {}\n",
            in_a_line(report, self.style.columns().saturating_sub(2))
        );
        hang(
            &mut out,
            "",
            "  ",
            "→ -v: verdicts, evidence, remedies, and what was observed, drawn",
            self.style.columns(),
        );
        out
    }
}

/// The facts that matter most, and verdicts that are not passed.
fn brief(facts: &[Fact]) -> Vec<Fact> {
    let lengths: Vec<&Fact> = facts
        .iter()
        .filter(|(name, _)| *name == EACH_LENGTH)
        .collect();
    let usual = format!("at {}:", short_time(USUAL_WAIT_NS));
    let usual = lengths.iter().find(|(_, told)| told.starts_with(&usual));
    let telling: Vec<&&Fact> = lengths
        .first()
        .into_iter()
        .chain(usual)
        .chain(lengths.last())
        .collect();
    let is_failed = |told: &str| told.starts_with(Outcome::Fail.in_words());
    let is_telling = |fact: &&Fact| match fact.0 {
        EACH_LENGTH => telling.iter().any(|other| ***other == **fact),
        name => BRIEF.contains(&name) || is_failed(&fact.1),
    };
    let short = |(name, told): &Fact| match *name {
        "trust" => (*name, told.split(',').next().unwrap_or_default().to_owned()),
        _ => (*name, told.clone()),
    };
    facts.iter().filter(is_telling).map(short).collect()
}

/// What was found, without what comes of it and what to do.
fn caveats(out: &mut String, warnings: &[&Finding], style: Style) {
    for warning in warnings.iter().take(CAVEATS) {
        let [code, message] =
            [&warning.code, &warning.message()].map(|text| clipped(text, LONGEST));
        hang(
            out,
            "  ",
            "    ",
            &format!("{code}: {}", first_part(&message)),
            style.columns(),
        );
    }
    let more = warnings.len().saturating_sub(CAVEATS);
    if more > 0 {
        *out += &format!("  and {}\n", counted(more, "further caveat"));
    }
    out.push('\n');
}

fn explain(out: &mut String, plots: Vec<Plot>, warnings: &[Finding], style: Style) {
    let width = usize::from(style.width.unwrap_or(WIDEST));
    for plot in plots {
        out.push('\n');
        *out += &plot.terminal(width);
    }
    if !warnings.is_empty() {
        *out += &format!("\n{}\n", style.paint(YELLOW, "caveats"));
    }
    for warning in warnings {
        let [code, message, advice] = [&warning.code, &warning.message(), &warning.advice()]
            .map(|text| clipped(text, LONGEST));
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
        let odd = [
            "a:b",
            "a-b",
            "a+b",
            "a b",
            "a/b",
            ".a-b",
            "../../etc/passwd",
            "=a\nb\u{202e}",
            "",
        ];
        let names = odd.map(file_name);
        for (at, name) in names.iter().enumerate() {
            assert!(
                !names[..at].contains(name) && !name.starts_with('.'),
                "{names:?}"
            );
            assert!(
                name.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)),
                "{names:?}"
            );
        }
    }
}
