//! Numbers of things, and lists too long to be told.

/// So many of something: "1 node", "2 nodes".
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Names, of which `all` there are: "a, b", or "a, b and 7 more" where not all are told.
#[must_use]
pub fn and_more(names: &[impl AsRef<str>], all: usize) -> String {
    let told = names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match all.saturating_sub(names.len()) {
        0 => told,
        more => format!("{told} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "node")), ["0 nodes", "1 node", "2 nodes"]);
    }

    #[test]
    fn what_is_not_told_is_counted() {
        assert_eq!(and_more(&["a", "b"], 2), "a, b");
        assert_eq!(and_more(&["a".to_owned()], 8), "a and 7 more");
    }
}
