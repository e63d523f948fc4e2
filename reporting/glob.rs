//! Matches the ids of timers with globs: `*`, `?`, `[abc]`, `{a,b}`.

/// A glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// Parses a glob.
    ///
    /// # Errors
    /// Describes the syntax error.
    pub fn read(text: &str) -> Result<Self, String> {
        fast_glob::validate(text).map_err(|error| error.to_string())?;
        Ok(Self(no_path(text)))
    }

    /// Whether the glob matches the id.
    #[must_use]
    pub fn matches(&self, id: &str) -> bool {
        fast_glob::glob_match(&self.0, no_path(id))
    }
}

/// Replaces slashes, because an id is not a path and `*` matches slashes too.
fn no_path(text: &str) -> String {
    text.replace('/', "\u{1f}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_mean_what_shells_say() {
        for (glob, meant, not_meant) in [
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
            let read = Glob::read(glob).expect(glob);
            assert!(meant.iter().all(|id| read.matches(id)), "{glob}");
            assert!(!not_meant.iter().any(|id| read.matches(id)), "{glob}");
        }
        for glob in ["[", "a[!]", "{a,b", "a\\", "{[a}"] {
            assert!(!Glob::read(glob).expect_err(glob).is_empty());
        }
    }
}
