//! Selects timers by ids and globs.

use crate::glob::Glob;
use crate::text::in_short;

/// The reason why a word on the command line matches no timer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownTimer {
    /// No timer has this id or matches this glob.
    #[error("no timer {} `{id}`; {}", if is_glob(id) { "matches" } else { "is called" }, advice(nearest))]
    Id {
        /// The id or glob.
        id: String,
        /// Similar ids, the nearest first.
        nearest: Vec<String>,
    },
    /// The word is neither an id nor a valid glob.
    #[error("`{glob}` is no glob: {reason}")]
    NoGlob {
        /// The word.
        glob: String,
        /// The syntax error.
        reason: String,
    },
}

impl UnknownTimer {
    /// The error message. If there are no similar ids, the message lists some of `ids`, which are
    /// all existing ones.
    #[must_use]
    pub fn among(&self, ids: &[&str]) -> String {
        match self {
            Self::Id { id, nearest } if nearest.is_empty() => {
                let matches = if is_glob(id) { "matches" } else { "is called" };
                format!("no timer in it {matches} `{id}`; it has {}", in_short(ids))
            }
            other => other.to_string(),
        }
    }
}

/// The ids among `ids` that match the patterns, each once, in the order of `ids`; all of them if
/// there is no pattern.
///
/// # Errors
/// When a pattern matches no id.
pub fn select<'a>(patterns: &[String], ids: &[&'a str]) -> Result<Vec<&'a str>, UnknownTimer> {
    let wanted = patterns
        .iter()
        .map(|pattern| Pattern::read(pattern, ids))
        .collect::<Result<Vec<_>, _>>()?;
    let mut chosen: Vec<&str> = Vec::new();
    for &id in ids {
        let meant = wanted.is_empty() || wanted.iter().any(|pattern| pattern.matches(id));
        if meant && !chosen.contains(&id) {
            chosen.push(id);
        }
    }
    Ok(chosen)
}

enum Pattern<'p> {
    Id(&'p str),
    Glob(Glob),
}

impl<'p> Pattern<'p> {
    /// Parses a pattern, which must match at least one id.
    fn read(text: &'p str, ids: &[&str]) -> Result<Self, UnknownTimer> {
        if ids.contains(&text) {
            return Ok(Self::Id(text));
        }
        if !is_glob(text) {
            return Err(UnknownTimer::Id {
                id: text.into(),
                nearest: nearest(text, ids),
            });
        }
        let pattern = Glob::parse(text)
            .map(Self::Glob)
            .map_err(|why| UnknownTimer::NoGlob {
                glob: text.into(),
                reason: why,
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
            Self::Id(own) => *own == id,
            Self::Glob(glob) => glob.matches(id),
        }
    }
}

/// The ids most similar to `text`, with or without the prefix of their runtime.
#[must_use]
pub fn nearest(text: &str, ids: &[&str]) -> Vec<String> {
    /// Largest number of similar ids that are returned.
    const MAX_NEAREST: usize = 3;
    /// Smallest similarity of two words that count as similar.
    const MIN_SIMILARITY: f64 = 0.8;
    let text = text.to_lowercase();
    let likeness = |id: &str| {
        let bare = id.split_once(':').map_or(id, |(_, bare)| bare);
        [id, bare]
            .map(|name| strsim::jaro_winkler(&text, &name.to_lowercase()))
            .into_iter()
            .fold(0.0, f64::max)
    };
    let mut similar: Vec<(f64, &str)> = ids
        .iter()
        .map(|&id| (likeness(id), id))
        .filter(|&(likeness, _)| likeness >= MIN_SIMILARITY)
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

fn advice(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return "`timermeter list` shows all there are".into();
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

    fn selected(patterns: &[&str]) -> Result<Vec<&'static str>, UnknownTimer> {
        select(
            &patterns
                .iter()
                .map(|&pattern| pattern.to_owned())
                .collect::<Vec<_>>(),
            &IDS,
        )
    }

    #[test]
    fn patterns_pick_each_timer_once() {
        assert_eq!(selected(&[]).as_deref(), Ok(IDS.as_slice()));
        assert_eq!(
            selected(&["monotonic*", "monotonic", "rdtscp"]),
            Ok(vec!["rdtscp", "monotonic", "monotonic-raw"])
        );
        assert_eq!(selected(&["java:*"]), Ok(vec!["java:nanoTime"]));
        assert_eq!(selected(&["{rdtsc,py*}"]), Ok(vec!["rdtsc", "py:x[1]"]));
        assert_eq!(
            selected(&["py:x[1]"]),
            Ok(vec!["py:x[1]"]),
            "an id is an id, whatever it looks like"
        );
    }

    #[test]
    fn unknown_ids_name_what_exists() {
        let message = |pattern| {
            selected(&[pattern])
                .expect_err("there is no such timer")
                .to_string()
        };
        let text = message("monotonc");
        assert!(
            text.starts_with("no timer is called `monotonc`; did you mean `monotonic`, "),
            "{text}"
        );
        assert!(
            message("nanotime").contains("did you mean `java:nanoTime`"),
            "{}",
            message("nanotime")
        );
        assert_eq!(
            message("zzz"),
            "no timer is called `zzz`; `timermeter list` shows all there are"
        );
        assert_eq!(
            message("zzz*"),
            "no timer matches `zzz*`; `timermeter list` shows all there are"
        );
        let unknown = select(&["zzz".to_owned()], &IDS).expect_err("there is no such timer");
        let text = unknown.among(&IDS);
        assert_eq!(
            text,
            "no timer in it is called `zzz`; it has 6 timers (rdtsc, rdtscp, …)"
        );
        let unknown = select(&["monotonc".to_owned()], &IDS).expect_err("there is no such timer");
        assert!(
            unknown.among(&IDS).contains("did you mean `monotonic`"),
            "{}",
            unknown.among(&IDS)
        );
        assert!(
            message("[").starts_with("`[` is no glob: "),
            "{}",
            message("[")
        );
        assert!(
            selected(&["rdtsc", "zzz"]).is_err(),
            "one good pattern does not excuse a bad one"
        );
    }
}
