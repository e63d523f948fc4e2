//! Conditions on what changed: which hold, and which cannot be decided.

use serde::Serialize;

use crate::cli::CompareArgs;
use crate::commands::CommandError;
use crate::comparison::Comparison;
use crate::selection::select;

/// What became of the conditions.
#[derive(Serialize)]
pub(super) struct Gate {
    /// Those that hold, each with what makes it hold.
    conditions: Vec<String>,
    /// Those that cannot be decided, each with the reason.
    untold: Vec<String>,
    exit_status: u8,
}

impl Gate {
    /// Judges the conditions; `complete` where all reports could be read and compared.
    ///
    /// # Errors
    /// When one names no timer.
    pub(super) fn judge(
        args: &CompareArgs,
        comparison: &Comparison,
        complete: bool,
    ) -> Result<Self, CommandError> {
        check(args, comparison)?;
        let (mut conditions, mut untold) = (Vec::new(), Vec::new());
        for condition in &args.fail_if {
            let text = condition.text();
            match (condition.holds(comparison), condition.untold(comparison)) {
                (Some(why), _) => conditions.push(format!("condition holds: {text} ({why})")),
                (None, Some(why)) => {
                    untold.push(format!("condition cannot be decided: {text} ({why})"));
                }
                (None, None) => {}
            }
        }
        let exit_status = match (conditions.is_empty(), untold.is_empty() && complete) {
            (false, _) => 3,
            (true, false) => 4,
            (true, true) => 0,
        };
        Ok(Self {
            conditions,
            untold,
            exit_status,
        })
    }

    /// Nothing could be compared.
    pub(super) fn undecided(error: &CommandError) -> Self {
        Self {
            conditions: Vec::new(),
            untold: vec![error.to_string()],
            exit_status: error.exit_status(),
        }
    }

    /// The conditions that hold, or may hold.
    pub(super) fn lines(&self) -> impl Iterator<Item = &String> {
        self.conditions.iter().chain(&self.untold)
    }

    /// Whether no condition holds.
    ///
    /// # Errors
    /// When none holds as far as is known, and not all is.
    pub(super) fn ended(&self) -> Result<bool, CommandError> {
        match (self.exit_status, self.untold.len()) {
            (0, _) => Ok(true),
            (3, _) => Ok(false),
            (_, 0) => Err(CommandError::Untold(
                "not all reports could be compared, so what changed could not be decided".into(),
            )),
            (_, count) => Err(CommandError::Untold(format!(
                "conditions that could not be decided: {count}"
            ))),
        }
    }
}

/// A condition on a timer that no report has would never hold.
fn check(args: &CompareArgs, comparison: &Comparison) -> Result<(), CommandError> {
    let figures = comparison.figures.iter().map(|compared| &compared.timer);
    let mut names: Vec<&str> = Vec::new();
    for name in comparison.timers.iter().chain(figures) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for condition in &args.fail_if {
        if let Some(glob) = condition.meets_none(names.iter().copied())
            && let Err(unknown) = select(&[glob.to_owned()], &names)
        {
            return Err(CommandError::Usage(format!(
                "--fail-if '{}': {}",
                condition.text(),
                unknown.among(&names)
            )));
        }
    }
    Ok(())
}
