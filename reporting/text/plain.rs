//! Sanitises untrusted text (labels, reasons from agents, names from firmware) for terminals, folds
//! text to a width, and shortens long lists.

use std::time::{Duration, UNIX_EPOCH};

use anstream::adapter::strip_str;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The longest untrusted text, in characters. The longest text of this program itself has about
/// 300.
pub const LONGEST_TEXT: usize = 600;

/// Converts text to one printable line: escape sequences, control characters and characters that
/// reorder or hide text (bidirectional controls, zero-width characters) are removed. Runs of blanks,
/// ends of lines and control characters beyond ASCII become one blank.
pub fn plain(text: &str) -> String {
    // The fast path for most texts: tables of many reports hold millions of cells.
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in strip_str(text).flat_map(str::chars) {
        if c.is_whitespace() || c.is_control() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !reorders_or_hides(c) {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Whether [`plain`] would not change the text, decided for ASCII only: `false` for any text with
/// other characters.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !text.contains("  ")
        && text.trim_ascii() == text
}

/// Formats a number of seconds since 1970 as RFC 3339; before 1970 and from the year 10000 on, which
/// it has no notation for, as `date` of the GNU coreutils reads it: `@-1`.
pub fn date_time(since_1970_s: i64) -> String {
    /// The last second of the year 9999. *Definition*.
    const LAST_S: u64 = 253_402_300_799;
    match u64::try_from(since_1970_s) {
        Ok(seconds @ ..=LAST_S) => {
            humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
        }
        _ => format!("@{since_1970_s}"),
    }
}

/// The ASCII notation of the other characters that this program writes.
const IN_ASCII: [(char, &str); 17] = [
    ('µ', "u"),
    ('±', "+-"),
    ('≤', "<="),
    ('–', "-"),
    ('−', "-"),
    ('—', "-"),
    ('─', "-"),
    ('…', "..."),
    ('→', ">"),
    ('·', "|"),
    ('│', "|"),
    ('└', "+"),
    ('×', "x"),
    ('«', "<"),
    ('»', ">"),
    ('²', "^2"),
    ('√', "sqrt "),
];

/// Converts text for a terminal that shows ASCII only: characters that this program writes get their
/// ASCII notation (`us`, `+-`), all others `?`.
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match IN_ASCII.iter().find(|(known, _)| *known == c) {
            Some((_, notation)) => out += notation,
            None if c.is_ascii() => out.push(c),
            None => out.push('?'),
        }
    }
    out
}

/// Sanitises text as [`plain`] does and truncates it to `limit` characters.
pub fn clipped(text: &str, limit: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= limit {
        return text;
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Shortens a line, with its blanks: replaces the middle of words longer than a usual path, and of lines
/// longer than a screen, with `…`. Words are [`plain`].
pub fn shortened(message: &str) -> String {
    const MAX_WORD_CHARS: usize = 200;
    const MAX_MESSAGE_CHARS: usize = 2_000;
    let words: Vec<String> = message
        .split(' ')
        .map(|word| cut_middle(&plain(word), MAX_WORD_CHARS))
        .collect();
    cut_middle(&words.join(" "), MAX_MESSAGE_CHARS)
}

/// Replaces the middle of a text longer than `max_chars` characters with `…`.
fn cut_middle(text: &str, max_chars: usize) -> String {
    let count = text.chars().count();
    if count <= max_chars {
        return text.to_owned();
    }
    let half = max_chars / 2;
    let (first, last) = (text.chars().take(half), text.chars().skip(count - half));
    first.chain(['…']).chain(last).collect()
}

/// Whether a character is invisible or changes the order of the text around it.
fn reorders_or_hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Units that stay on the line of their number.
const UNITS: [&str; 8] = ["%", "ns", "µs", "ms", "s", "min", "GHz", "ppm"];

/// The width of a text on a terminal, in columns: East Asian wide characters take two columns,
/// combining characters none.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Folds `text` at blanks to lines of at most `width` columns. A longer word is not broken, and a
/// unit stays on the line of its number.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let is_unit = |next: &&str| UNITS.contains(&next.trim_end_matches(is_punctuation));
        let unit =
            words.next_if(|next| word.ends_with(|c: char| c.is_ascii_digit()) && is_unit(next));
        let word = unit.map_or(word.to_owned(), |unit| format!("{word} {unit}"));
        match lines.last_mut() {
            Some(line) if display_width(line) + 1 + display_width(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn is_punctuation(c: char) -> bool {
    ",.;:)".contains(c)
}

/// Words longer than a line are broken on terminals narrower than this, in columns.
const MIN_UNBROKEN_WIDTH: usize = 60;
/// The smallest width for text next to a heading, in columns; with less room, the text moves below
/// the heading.
const MIN_HANGING_WIDTH: usize = 26;

/// Appends `text` to `out` with a hanging indent, folded to `width` columns. The first line begins
/// with `first`, each later line with `next`. If there is too little room next to `first`, the text
/// starts on the line below it.
pub fn hang(out: &mut String, first: &str, next: &str, text: &str, width: usize) {
    let margin = display_width(next).max(display_width(first));
    if width < margin + MIN_HANGING_WIDTH && margin > 8 {
        // `first` is a heading, or only an arrow, perhaps in a comment.
        let comment = if first.starts_with("# ") { "# " } else { "" };
        let head = first[comment.len()..].trim();
        let indent = format!("{comment}    ");
        if head.contains(char::is_alphanumeric) {
            *out += &format!("{comment}{head}\n");
            return hang(out, &indent, &indent, text, width);
        }
        let arrow = format!("{indent}{head} ");
        return hang(out, &arrow, &format!("{indent}  "), text, width);
    }
    let room = width.saturating_sub(margin).max(20);
    // On narrow terminals, long words such as names of calls are broken too.
    let fold_text = if width < MIN_UNBROKEN_WIDTH {
        fold
    } else {
        wrap
    };
    for (number, line) in fold_text(text, room).iter().enumerate() {
        let lead = if number == 0 { first } else { next };
        *out += &format!("{lead}{line}\n");
    }
}

/// Folds `text` as [`wrap`] does, and breaks words that are longer than a line.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    let lines = wrap(text, width).into_iter();
    lines.flat_map(|line| broken(&line, width)).collect()
}

/// Breaks a line after `-` `:` `.` `_` `/` or a blank, so that no part is wider than `width` columns.
fn broken(mut line: &str, width: usize) -> Vec<String> {
    let mut parts = Vec::new();
    loop {
        let mut columns = 0;
        let is_beyond = |(at, c): &(usize, char)| {
            columns += c.width().unwrap_or(0);
            *at > 0 && columns > width
        };
        let Some((end, _)) = line.char_indices().find(is_beyond) else {
            parts.push(line.to_owned());
            return parts;
        };
        let at = line[..end].rfind(['-', ':', '.', '_', '/', ' ']);
        let (part, rest) = line.split_at(at.map_or(end, |at| at + 1));
        parts.push(part.to_owned());
        line = rest;
    }
}

/// Formats a count with its noun, given in the singular: "1 node", "2 nodes".
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Lists up to two names; of more names, returns their number and the first two.
pub fn summarise_names<S: AsRef<str>>(ids: &[S]) -> String {
    match ids {
        [first, second, _, ..] => {
            format!(
                "{} timers ({}, {}, …)",
                ids.len(),
                first.as_ref(),
                second.as_ref()
            )
        }
        few => few.iter().map(S::as_ref).collect::<Vec<_>>().join(", "),
    }
}

/// The heading of a column without its unit: `cost` for `cost (ns)`, `Quality` for `Quality %`.
pub fn without_unit(heading: &str) -> &str {
    let name = heading.split(" (").next().unwrap_or(heading);
    name.trim_end_matches(" %")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_have_any_year() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
            (253_402_300_800, "@253402300800"),
            (i64::MIN, "@-9223372036854775808"),
        ] {
            assert_eq!(date_time(seconds), date);
        }
    }

    #[test]
    fn long_texts_lose_their_middle() {
        let path = format!("cannot read '/{}/end': no such file", "ä".repeat(3_000));
        let short = shortened(&path);
        assert!(short.chars().count() < 300, "{short}");
        assert!(
            short.starts_with("cannot read '/ä") && short.ends_with("ä/end': no such file"),
            "{short}"
        );
        assert!(shortened(&"a b ".repeat(2_000)).chars().count() <= 2_001);
        assert_eq!(shortened(" a\u{202e}  \u{1b}[1mb "), " a  b ");
    }

    #[test]
    fn removes_complete_escape_sequences() {
        for (text, expected) in [
            ("a\u{1b}[31;1mred\u{1b}[0m b", "ared b"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;http://e\u{1b}\\y", "xy"),
            ("x\u{1b}(By\u{1b}cz\u{9b}2J", "xyz 2J"),
            ("cut \u{1b}[", "cut"),
            ("  a\r\nb\tc\0d\u{2028}e  ", "a b cd e"),
            ("x\u{202e}y\u{2066}z\u{200b}w", "xyzw"),
            ("µs – ≤ 時計", "µs – ≤ 時計"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn folds_text_and_names() {
        assert_eq!(wrap("aa bb  cc dd", 5), ["aa bb", "cc dd"]);
        assert_eq!(wrap("toolong a", 3), ["toolong", "a"]);
        // A figure keeps its unit.
        let figure = wrap("up to ±9.5 %; more", 11);
        assert_eq!(figure, ["up to", "±9.5 %;", "more"]);
        for (name, width, folded) in [
            ("monotonic-coarse-syscall", 20, "monotonic-coarse- syscall"),
            ("abcdefgh", 3, "abc def gh"),
            ("short", 10, "short"),
            // Each takes two columns.
            ("時時時", 4, "時時 時"),
        ] {
            assert_eq!(fold(name, width).join(" "), folded);
        }
        assert_eq!(clipped("abcdef", 4), "abc…");
    }

    #[test]
    fn text_moves_below_a_long_heading() {
        let hang_text = |first: &str, text: &str, width| {
            let (mut out, rest) = (String::new(), " ".repeat(first.chars().count()));
            hang(&mut out, first, &rest, text, width);
            out
        };
        for (first, text, width, expected) in [
            (
                "sleep 1 ms      ",
                "takes 1 ms",
                80,
                "sleep 1 ms      takes 1 ms\n",
            ),
            (
                "sleep 1 ms      ",
                "takes 1 ms",
                40,
                "sleep 1 ms\n    takes 1 ms\n",
            ),
            ("               → ", "wait", 40, "    → wait\n"),
            ("# OS            ", "Debian", 40, "# OS\n#     Debian\n"),
            (
                "# frequency     ",
                "unknown",
                40,
                "# frequency\n#     unknown\n",
            ),
        ] {
            assert_eq!(hang_text(first, text, width), expected);
        }
        let long = hang_text(
            "  clock-nanosleep-monotonic  ",
            &"a loop that reads the clock ".repeat(3),
            40,
        );
        assert!(
            long.lines().all(|line| line.chars().count() <= 40),
            "{long}"
        );
    }

    proptest! {
        #[test]
        fn keeps_printable_characters_only(text in any::<String>()) {
            let text = plain(&text);
            prop_assert!(text.chars().all(|c| !c.is_control() && !reorders_or_hides(c)));
            prop_assert_eq!(plain(&text), text.clone());
        }

        #[test]
        fn recognises_plain_text(text in "[ !-~]{0,12}") {
            let folded = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(plain(&text), folded.clone());
            prop_assert_eq!(is_plain(&text), folded == text);
        }

        #[test]
        fn folding_keeps_the_name(name in "[a-z:._-]{0,40}|[a-z時-]{0,40}", width in 2usize..30) {
            let folded = fold(&name, width);
            prop_assert!(folded.iter().all(|line| display_width(line) <= width));
            prop_assert_eq!(folded.concat(), name);
        }
    }

    #[test]
    fn counts_have_singular_and_plural() {
        assert_eq!(
            [0, 1, 2].map(|count| counted(count, "node")),
            ["0 nodes", "1 node", "2 nodes"]
        );
    }
}
