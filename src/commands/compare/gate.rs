//! Conditions on what changed: which hold, and of which that cannot be told.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::CompareArgs;
use crate::commands::CommandError;
use crate::comparison::{Comparison, Condition};
use crate::selection::select;
use crate::table::Format;
use crate::table::escape_markdown as escape;
use crate::text::plain;

/// What became of the conditions.
pub(super) struct Gate {
    /// Those that hold, each with what makes it hold.
    held: Vec<String>,
    /// Those of which it cannot be told, each with the reason.
    untold: Vec<String>,
    /// Whether all reports could be read and compared.
    complete: bool,
}

/// All that conditions can name.
fn named(comparison: &Comparison) -> impl Iterator<Item = &str> {
    let figures = comparison
        .figures
        .iter()
        .map(|compared| compared.timer.as_str());
    comparison.timers.iter().map(String::as_str).chain(figures)
}

/// A condition on a timer that no report has would never hold.
fn check<'t>(
    args: &CompareArgs,
    timers: impl Iterator<Item = &'t str>,
) -> Result<(), CommandError> {
    let timers: Vec<&str> = timers.collect();
    let unmet = args.fail_if.iter().find_map(|condition| {
        condition
            .meets_none(timers.iter().copied())
            .map(|glob| (condition.text(), glob))
    });
    let Some((text, glob)) = unmet else {
        return Ok(());
    };
    let mut names: Vec<&str> = Vec::new();
    timers.into_iter().for_each(|timer| {
        if !names.contains(&timer) {
            names.push(timer);
        }
    });
    let why = select(&[glob.to_owned()], &names)
        .map_or_else(|unknown| unknown.among(&names), |_| String::new());
    Err(CommandError::Usage(format!("--fail-if '{text}': {why}")))
}

impl Gate {
    /// What became of the conditions.
    ///
    /// # Errors
    /// When one names no timer.
    pub(super) fn of(
        args: &CompareArgs,
        comparison: &Comparison,
        complete: bool,
    ) -> Result<Self, CommandError> {
        check(args, named(comparison))?;
        let (mut held, mut untold) = (Vec::new(), Vec::new());
        for condition in &args.fail_if {
            match condition.holds(comparison) {
                Some(why) => held.push(format!("condition holds: {} ({why})", condition.text())),
                None => untold.extend(self::untold(condition, comparison)),
            }
        }
        Ok(Self {
            held,
            untold,
            complete,
        })
    }

    fn exit_status(&self) -> u8 {
        match self {
            Self { held, .. } if !held.is_empty() => 3,
            Self {
                untold, complete, ..
            } if !untold.is_empty() || !complete => 4,
            _ => 0,
        }
    }

    /// A comparison as JSON with what became of its conditions.
    pub(super) fn with(&self, mut comparison: Value) -> Value {
        comparison["conditions"] = json!(self.held);
        comparison["untold"] = json!(self.untold);
        comparison["exit_status"] = json!(self.exit_status());
        comparison
    }

    /// The conditions that hold, or may hold, below what people read.
    pub(super) fn tell(&self, args: &CompareArgs, output: &mut dyn Write) -> io::Result<()> {
        if (self.held.is_empty() && self.untold.is_empty()) || args.output.format == Format::Json {
            return Ok(());
        }
        let mark = if args.output.format == Format::Markdown {
            escape
        } else {
            plain
        };
        writeln!(output)?;
        self.held
            .iter()
            .chain(&self.untold)
            .try_for_each(|told| writeln!(output, "{}", mark(told)))
    }

    /// Whether no condition holds.
    ///
    /// # Errors
    /// When none does as far as can be told, and that is not all.
    pub(super) fn ended(&self) -> Result<bool, CommandError> {
        match self.exit_status() {
            0 => Ok(true),
            3 => Ok(false),
            _ => Err(CommandError::Untold(match self.untold.len() {
                0 => "not all reports could be compared, so that it could not be told what changed"
                    .to_owned(),
                1 => "of a condition it could not be told whether it holds".to_owned(),
                several => {
                    format!("of {several} conditions it could not be told whether they hold")
                }
            })),
        }
    }
}

fn untold(condition: &Condition, comparison: &Comparison) -> Option<String> {
    let why = condition.untold(comparison)?;
    Some(format!(
        "condition could not be told: {} ({why})",
        condition.text()
    ))
}
