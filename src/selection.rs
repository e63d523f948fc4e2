//! Selects timers by ids and globs (patterns such as `monotonic*`), also among those of the agents of
//! a run.

use crate::agents::process::TooFewFiles;
use reporting::glob::Glob;
use reporting::text::summarise_names;

mod agents;
mod gather;
mod names;
mod offers;

pub use agents::{AgentName, MissingTimer, Selection, is_available, is_for_other_systems};
pub use names::{meanings, named_runtimes, native_clock};
pub use offers::{Offers, agent_command};

/// The reason why no timers could be selected.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// A pattern selects no timer; the message names the right command if the timer is of another
    /// type.
    #[error("{}", unknown_timer_message(.0))]
    Unknown(#[from] UnknownTimer),
    /// The limit of open files is too low.
    #[error(transparent)]
    OpenFiles(#[from] TooFewFiles),
    /// This program cannot start itself.
    #[error("{0}")]
    Program(std::io::Error),
    /// The folder for the agents of runtimes cannot be created.
    #[error(
        "cannot create a folder for the agents of other runtimes: {0}; set TMPDIR to a writable folder"
    )]
    Folder(std::io::Error),
    /// The user interrupted the program.
    #[error("interrupted")]
    Interrupted,
}

/// The message for an unknown timer; it names the right command if the timer is of another type.
fn unknown_timer_message(error: &UnknownTimer) -> String {
    match error {
        UnknownTimer::Id { id, .. } if timers::find(id).is_some() => {
            format!("`{id}` is a clock: `timermeter probe {id}` characterises it")
        }
        UnknownTimer::Id { id, .. } if timers::waits::find(id).is_some() => {
            format!(
                "`{id}` is a sleep primitive or periodic timer: `timermeter wait {id}` characterises it"
            )
        }
        _ => error.to_string(),
    }
}

/// The reason why a pattern on the command line selects no timer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownTimer {
    /// No timer has this id or matches this glob.
    #[error("no timer {} `{id}`; {}", if is_glob(id) { "matches" } else { "is called" }, suggest_remedy(nearest))]
    Id {
        /// The id or glob.
        id: String,
        /// Similar ids, the nearest first.
        nearest: Vec<String>,
    },
    /// The pattern is neither an id nor a valid glob.
    #[error("`{glob}` is no valid glob: {reason}")]
    InvalidGlob {
        /// The pattern.
        glob: String,
        /// The syntax error.
        reason: String,
    },
}

impl UnknownTimer {
    /// Returns the error message for a pattern that selects no timer of a report, to follow the
    /// path of that report. `ids` are all timers of the report; the message lists some of them if
    /// none is similar.
    pub fn message_for_report(&self, ids: &[&str]) -> String {
        match self {
            Self::Id { id, nearest } if nearest.is_empty() => {
                let matches = if is_glob(id) { "matches" } else { "is called" };
                format!(
                    "no timer in it {matches} `{id}`; it has {}",
                    summarise_names(ids)
                )
            }
            other => other.to_string(),
        }
    }
}

/// Returns those of the `ids` that match a pattern, each once, in the order of `ids`; all of them
/// if there are no patterns.
///
/// # Errors
/// When a pattern is invalid, or matches no id.
pub fn select<'a>(patterns: &[String], ids: &[&'a str]) -> Result<Vec<&'a str>, UnknownTimer> {
    let parsed = patterns
        .iter()
        .map(|pattern| Pattern::parse(pattern, ids))
        .collect::<Result<Vec<_>, _>>()?;
    let mut chosen: Vec<&str> = Vec::new();
    for &id in ids {
        let is_selected = parsed.is_empty() || parsed.iter().any(|pattern| pattern.matches(id));
        if is_selected && !chosen.contains(&id) {
            chosen.push(id);
        }
    }
    Ok(chosen)
}

/// A pattern on the command line.
enum Pattern<'p> {
    Id(&'p str),
    Glob(Glob),
}

impl<'p> Pattern<'p> {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When it matches none of the `ids`.
    fn parse(text: &'p str, ids: &[&'p str]) -> Result<Self, UnknownTimer> {
        if ids.contains(&text) {
            return Ok(Self::Id(text));
        }
        let find = |meaning: &String| ids.iter().find(|id| id.eq_ignore_ascii_case(meaning));
        if let Some(id) = meanings(text).iter().find_map(find) {
            return Ok(Self::Id(id));
        }
        if !is_glob(text) {
            return Err(UnknownTimer::Id {
                id: text.into(),
                nearest: nearest(text, ids),
            });
        }
        let pattern =
            Glob::parse(text)
                .map(Self::Glob)
                .map_err(|why| UnknownTimer::InvalidGlob {
                    glob: text.into(),
                    reason: why.to_string(),
                })?;
        if ids.iter().any(|id| pattern.matches(id)) {
            Ok(pattern)
        } else {
            Err(UnknownTimer::Id {
                id: text.into(),
                nearest: Vec::new(),
            })
        }
    }

    fn matches(&self, id: &str) -> bool {
        match self {
            Self::Id(wanted) => *wanted == id,
            Self::Glob(glob) => glob.matches(id),
        }
    }
}

/// Returns the ids that are most similar to `text`, the nearest first. Compares `text` with each id
/// twice: with the prefix of the runtime (`java:`) and without it.
pub fn nearest(text: &str, ids: &[&str]) -> Vec<String> {
    /// Largest number of ids that are returned.
    const MAX_NEAREST: usize = 3;
    /// Smallest Jaro-Winkler similarity of an id that is returned, from 0 to 1.
    const MIN_SIMILARITY: f64 = 0.8;
    let text = text.to_lowercase();
    let similarity = |id: &str| {
        let bare = id.split_once(':').map_or(id, |(_, bare)| bare);
        [id, bare]
            .map(|name| strsim::jaro_winkler(&text, &name.to_lowercase()))
            .into_iter()
            .fold(0.0, f64::max)
    };
    let mut similar: Vec<(f64, &str)> = ids
        .iter()
        .map(|&id| (similarity(id), id))
        .filter(|&(similarity, _)| similarity >= MIN_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    similar.dedup_by_key(|(_, id)| *id);
    similar
        .into_iter()
        .take(MAX_NEAREST)
        .map(|(_, id)| id.to_owned())
        .collect()
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Returns the end of the error message for an unknown id: what the user can do. `nearest` are the
/// similar ids.
fn suggest_remedy(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return "`timermeter list` shows all timers".into();
    }
    let quoted: Vec<String> = nearest.iter().map(|id| format!("`{id}`")).collect();
    format!("did you mean {}?", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 6] = [
        "rdtsc",
        "rdtscp",
        "monotonic",
        "monotonic-raw",
        "java:nanoTime",
        "py:x[1]",
    ];

    fn select_ids(patterns: &[&str]) -> Result<Vec<&'static str>, UnknownTimer> {
        select(
            &patterns
                .iter()
                .map(|&pattern| pattern.to_owned())
                .collect::<Vec<_>>(),
            &IDS,
        )
    }

    #[test]
    fn selects_each_timer_once() {
        assert_eq!(select_ids(&[]).as_deref(), Ok(IDS.as_slice()));
        assert_eq!(
            select_ids(&["monotonic*", "monotonic", "rdtscp"]),
            Ok(vec!["rdtscp", "monotonic", "monotonic-raw"])
        );
        assert_eq!(
            select_ids(&["py:x[1]"]),
            Ok(vec!["py:x[1]"]),
            "an id may look like a glob"
        );
    }
}
