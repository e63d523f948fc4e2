//! Matches the ids of timers with globs, the patterns of shells: `*`, `?`, `[abc]`, `{a,b}`.

/// The error of a text that is not a valid glob.
pub use fast_glob::Error as BadGlob;

/// A pattern for ids of timers.
#[derive(Debug)]
pub struct Glob(String);

impl Glob {
    /// Parses a glob.
    ///
    /// # Errors
    /// When the text is not a valid glob.
    pub fn parse(text: &str) -> Result<Self, BadGlob> {
        fast_glob::validate(text)?;
        Ok(Self(replace_slashes(text)))
    }

    /// Whether the glob matches the id.
    pub fn matches(&self, id: &str) -> bool {
        fast_glob::glob_match(&self.0, replace_slashes(id))
    }
}

/// Replaces slashes, because `*` should match them, but `fast_glob` treats them as separators of a
/// path.
fn replace_slashes(text: &str) -> String {
    text.replace('/', "\u{1f}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_like_shells() {
        for (glob, matching, other) in [
            (
                "monotonic*",
                &["monotonic", "monotonic-raw"][..],
                &["amonotonic", "mono"][..],
            ),
            ("*", &["", "a", "java:a/b"], &[]),
            ("agent:*", &["agent:a/b/c", "agent:"], &["agents:a"]),
            ("a/b*", &["a/b", "a/bc"], &["a/c", "ab"]),
            ("rdtsc?", &["rdtscp"], &["rdtsc", "rdtscpp"]),
            ("{rdtsc,py*}", &["rdtsc", "py:x[1]"], &["rdtscp"]),
            ("[!a-c]x", &["dx"], &["ax", "x"]),
            ("[]]", &["]"], &["["]),
            (r"a\*", &["a*"], &["ab"]),
            ("a]", &["a]"], &["a"]),
        ] {
            let parsed = Glob::parse(glob).expect(glob);
            assert!(matching.iter().all(|id| parsed.matches(id)), "{glob}");
            assert!(!other.iter().any(|id| parsed.matches(id)), "{glob}");
        }
        for glob in ["[", "a[!]", "{a,b", "a\\", "{[a}"] {
            assert!(Glob::parse(glob).is_err(), "{glob}");
        }
    }
}
