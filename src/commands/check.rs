//! `check`: judges whether the machine is fit to be measured. It changes nothing.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::{CommandError, failed, terminal_style};
use crate::cli::CheckArgs;
use crate::input;
use crate::model::Platform;
use crate::platform;
use crate::report::read;
use crate::suitability::waiting::Watched;
use crate::suitability::{self, Finding, Severity};
use crate::table::{Format, Style};
use crate::text::{first_part, hang, plain};
use crate::watching::{kept, tally};

/// Years of watching, unless something happens each second.
const LONGEST_WATCH: u64 = 64 << 20;

#[derive(Serialize)]
struct Checked {
    date: String,
    fit: bool,
    findings: Vec<Finding>,
    platform: Platform,
}

/// Runs the command. Returns whether nothing is a problem.
///
/// # Errors
/// When the CPU cannot be had, the report cannot be read, or the output cannot be written.
pub fn run(args: &CheckArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    let (platform, date) = match &args.from {
        Some(file) => read(file)
            .map(|report| (report.platform, report.created))
            .map_err(failed)?,
        None => {
            let cpu = match args.cpu {
                Some(cpu) => super::usable(cpu).map(|()| Some(cpu))?,
                None => platform::quietest_cpu(&timers::allowed_cpus().unwrap_or_default()),
            };
            if args.sources {
                return super::sources::run(args, output);
            }
            (
                platform::identify(cpu),
                humantime::format_rfc3339_seconds(timers::date()).to_string(),
            )
        }
    };
    let mut findings = suitability::judge(&platform);
    if args.from.is_none() {
        findings.extend(watched());
        findings.sort_by_key(|finding| finding.severity);
    }
    let fit = suitability::fit(&findings);
    match args.output.format {
        Format::Json => writeln!(
            output,
            "{}",
            super::pretty(&Checked {
                date,
                fit,
                findings,
                platform
            })?
        )?,
        _ if args.verbose => write!(output, "{}", table(&findings, terminal_style()))?,
        _ => write!(output, "{}", in_short(&findings, terminal_style()))?,
    }
    Ok(fit)
}

/// What the last watch that was kept saw; none where none was.
fn watched() -> Option<Finding> {
    let mut bytes = Vec::new();
    input::read(&super::watch::place()?, LONGEST_WATCH, &mut bytes).ok()?;
    let kept = kept::read(&String::from_utf8_lossy(&bytes));
    let lasted = |end: kept::End| {
        humantime::format_duration(Duration::from_secs(end.watched_s.max(0.0) as u64)).to_string()
    };
    let (date, lasted, events) = (kept.last?.date, kept.end.map(lasted), tally(&kept.events));
    Some(suitability::waiting::watched(&Watched {
        date,
        lasted,
        events,
    }))
}

/// What is judged of the clocks themselves: all else is of what stands around them.
const OF_CLOCKS: [&str; 2] = ["clock-source", "tsc"];

/// Whether the clocks are good, problems with what to do, and of notes what was found.
fn in_short(findings: &[Finding], style: Style) -> String {
    let of_clocks = || {
        findings
            .iter()
            .filter(|finding| OF_CLOCKS.contains(&finding.code.as_str()))
    };
    let bad = of_clocks().find(|finding| finding.severity == Severity::Problem);
    let told = bad.or_else(|| of_clocks().find(|finding| finding.code == OF_CLOCKS[0]));
    let mut out = String::new();
    if let Some(finding) = told {
        let word = match finding.severity {
            Severity::Problem => "not good",
            Severity::Unknown => "unknown",
            Severity::Note | Severity::Ok => "good",
        };
        hang(
            &mut out,
            "",
            "  ",
            &format!("The clock is {word} — {}.", plain(&finding.message)),
            style.columns(),
        );
    }
    let shown: Vec<&Finding> = findings
        .iter()
        .filter(|finding| matches!(finding.severity, Severity::Problem | Severity::Note))
        .collect();
    let widest = shown
        .iter()
        .map(|finding| finding.code.len())
        .max()
        .unwrap_or(0);
    for finding in shown {
        let is_told = told.is_some_and(|told| told.code == finding.code);
        let message = if is_told {
            "as above"
        } else {
            &finding.message
        };
        let text = if finding.severity == Severity::Problem {
            message
        } else {
            first_part(message)
        };
        out += &lines(
            finding,
            text,
            finding
                .advice
                .as_deref()
                .filter(|_| finding.severity == Severity::Problem),
            widest,
            style,
        );
    }
    hang(
        &mut out,
        "",
        "",
        &format!("{} → -v: all of it", summary(findings)),
        style.columns(),
    );
    out
}

/// One finding after the other, and how many there are of each severity.
#[must_use]
pub fn table(findings: &[Finding], style: Style) -> String {
    let widest = findings
        .iter()
        .map(|finding| finding.code.len())
        .max()
        .unwrap_or(0);
    let each = findings.iter().map(|finding| {
        lines(
            finding,
            &finding.message,
            finding.advice.as_deref(),
            widest,
            style,
        )
    });
    each.collect::<String>() + "\n" + &summary(findings) + "\n"
}

/// A finding, its severity painted.
fn lines(
    finding: &Finding,
    message: &str,
    advice: Option<&str>,
    widest: usize,
    style: Style,
) -> String {
    let margin = " ".repeat(9 + widest + 2);
    let first = format!("{:9}{:widest$}  ", finding.severity.word(), finding.code);
    let mut text = String::new();
    hang(&mut text, &first, &margin, &plain(message), style.columns());
    if let Some(advice) = advice {
        let (arrow, below) = (format!("{margin}→ "), format!("{margin}  "));
        hang(&mut text, &arrow, &below, &plain(advice), style.columns());
    }
    // The severity is the first word of its lines.
    let (word, rest) = text.split_at(finding.severity.word().len());
    style.paint(colour(finding.severity), word) + rest
}

fn colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Problem => "31",
        Severity::Note => "33",
        Severity::Unknown => "2",
        Severity::Ok => "32",
    }
}

fn summary(findings: &[Finding]) -> String {
    let count = |severity| {
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let many =
        |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!(
        "{}, {}, {} not shown, {} ok. Nothing was changed.",
        many(count(Severity::Problem), "problem"),
        many(count(Severity::Note), "note"),
        count(Severity::Unknown),
        count(Severity::Ok),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Vec<Finding> {
        let long = "the clock source is hpet: ".repeat(12);
        let finding = |severity, message: &str, advice: Option<&str>| Finding {
            code: "clock-source".into(),
            severity,
            message: message.into(),
            advice: advice.map(str::to_owned),
        };
        vec![
            finding(Severity::Problem, &long, Some(&long)),
            finding(Severity::Unknown, "hostile \u{1b}[2J\u{202e}text", None),
        ]
    }

    #[test]
    fn lines_fit_the_terminal() {
        for width in [80, 120] {
            let text = table(
                &findings(),
                Style {
                    width: Some(width),
                    colour: false,
                },
            );
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{line}");
            }
            assert!(
                text.contains("\nunknown  clock-source  hostile text\n"),
                "{text}"
            );
            assert!(
                text.ends_with("1 problem, 0 notes, 1 not shown, 0 ok. Nothing was changed.\n"),
                "{text}"
            );
        }
    }

    #[test]
    fn in_short_it_begins_with_the_clock_and_has_remedies_of_problems_only() {
        let mut findings = findings();
        findings.push(Finding {
            code: "ntp".into(),
            severity: Severity::Note,
            message: "it is slewed (now: a little), so: wait".into(),
            advice: Some("wait".into()),
        });
        let text = in_short(
            &findings,
            Style {
                width: Some(80),
                colour: false,
            },
        );
        assert!(
            text.starts_with("The clock is not good — the clock source is hpet: "),
            "{text}"
        );
        assert!(
            text.contains("\nnote     ntp           it is slewed (now: a little), so\n"),
            "{text}"
        );
        assert!(
            text.contains("→ the clock source is hpet") && !text.contains("hostile"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn colour_where_it_is_wanted() {
        let text = |colour| {
            table(
                &findings(),
                Style {
                    width: None,
                    colour,
                },
            )
        };
        assert!(text(true).starts_with("\u{1b}[31mproblem\u{1b}[0m  clock-source  "));
        assert!(!text(false).contains('\u{1b}'));
    }
}
