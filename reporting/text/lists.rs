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

/// Names in which those that differ in a number at their end, each by one more, are told by the first and the last: `ptp0 … ptp3`.
#[must_use]
pub fn runs_of(names: &[String]) -> Vec<String> {
    let parts = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((stem.to_owned(), name[stem.len()..].parse::<u64>().ok()?))
    };
    let follows = |a: &String, b: &String| {
        let next = parts(a).and_then(|(stem, number)| Some((stem, number.checked_add(1)?)));
        next.is_some() && next == parts(b)
    };
    let told = |run: &[String]| match run {
        [first, _, .., last] => vec![format!("{first} … {last}")],
        few => few.to_vec(),
    };
    names.chunk_by(follows).flat_map(told).collect()
}

/// All of a few timers, of many how many there are and the first two.
#[must_use]
pub fn in_short<S: AsRef<str>>(ids: &[S]) -> String {
    match ids {
        [first, second, _, ..] => {
            format!("{} timers ({}, {}, …)", ids.len(), first.as_ref(), second.as_ref())
        }
        few => few.iter().map(S::as_ref).collect::<Vec<_>>().join(", "),
    }
}

/// What was found, without what comes of it: a sentence up to the first colon or semicolon that is not in brackets.
#[must_use]
pub fn first_part(sentence: &str) -> &str {
    let mut depth = 0_i32;
    for (at, c) in sentence.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ':' | ';' if depth == 0 && sentence[at + 1..].starts_with(' ') => return &sentence[..at],
            _ => {}
        }
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_of_it_is_left_out() {
        assert_eq!(first_part("it is a guest (of: KVM); so wait"), "it is a guest (of: KVM)");
        assert_eq!(first_part("slack: 50 µs"), "slack");
        assert_eq!(first_part("it is at 12:30 µs"), "it is at 12:30 µs");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "node")), ["0 nodes", "1 node", "2 nodes"]);
    }

    #[test]
    fn names_that_count_up_are_told_by_their_ends() {
        let names = ["ptp0", "ptp1", "ptp2", "a1", "a2", "b", "x9", "x11"].map(str::to_owned);
        assert_eq!(runs_of(&names), ["ptp0 … ptp2", "a1", "a2", "b", "x9", "x11"]);
        assert_eq!(runs_of(&[]), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_told_is_counted() {
        assert_eq!(and_more(&["a", "b"], 2), "a, b");
        assert_eq!(and_more(&["a".to_owned()], 8), "a and 7 more");
    }
}
