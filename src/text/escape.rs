//! Text from elsewhere made safe for each language it is printed in. All of it is one line of printable text first
//! ([`plain`]): no newline, no control character, nothing that reorders text.

use crate::text::plain;

/// A cell of a spreadsheet: what would start a formula is led by an apostrophe (OWASP, "CSV Injection").
#[must_use]
pub fn csv(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) { format!("'{text}") } else { text }
}

/// Text that Markdown and the HTML in it leave alone, in a cell of a table too.
#[must_use]
pub fn markdown(text: &str) -> String {
    rewritten(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '!' => out.extend(['\\', c]),
        c => out.push(c),
    })
}

/// Text for HTML, between tags and in quoted attributes.
#[must_use]
pub fn html(text: &str) -> String {
    rewritten(text, |c, out| match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c => out.push(c),
    })
}

/// Text for LaTeX. pdfLaTeX stops at characters its fonts lack, so what lies beyond Latin-1 is written by its number.
#[must_use]
pub fn latex(text: &str) -> String {
    rewritten(text, |c, out| match c {
        '\\' => out.push_str("\\textbackslash{}"),
        '{' | '}' | '$' | '&' | '#' | '%' | '_' => out.extend(['\\', c]),
        '^' => out.push_str("\\textasciicircum{}"),
        '~' => out.push_str("\\textasciitilde{}"),
        '<' => out.push_str("\\textless{}"),
        '>' => out.push_str("\\textgreater{}"),
        '|' => out.push_str("\\textbar{}"),
        '"' => out.push_str("\\textquotedbl{}"),
        '\'' => out.push_str("\\textquotesingle{}"),
        '`' => out.push_str("\\textasciigrave{}"),
        '[' | ']' => out.extend(['{', c, '}']),
        // Two or three of them would join to a dash.
        '-' if out.ends_with('-') => out.push_str("{}-"),
        'µ' | 'μ' => out.push_str("\\textmu{}"),
        '≤' => out.push_str("$\\le$"),
        '±' => out.push_str("$\\pm$"),
        '–' => out.push_str("\\textendash{}"),
        '…' => out.push_str("\\dots{}"),
        '→' => out.push_str("$\\to$"),
        c if is_one_glyph(c) => out.push(c),
        c => *out += &by_number(c),
    })
}

/// How many characters [`latex`] sets for `text`, counted by their width: capitals and what is written by its number take
/// more than a small letter.
#[must_use]
pub fn latex_characters(text: &str) -> usize {
    let quarters = |c: char| match c {
        'M' | 'W' | '@' | '%' | '…' => 7,
        c if c.is_uppercase() => 5,
        '≤' | '±' | '→' | 'μ' | '–' => 5,
        c if is_one_glyph(c) => 4,
        c => 5 * by_number(c).len(),
    };
    plain(text).chars().map(quarters).sum::<usize>().div_ceil(4)
}

fn is_one_glyph(c: char) -> bool {
    c.is_ascii() || ('\u{a1}'..='\u{ff}').contains(&c)
}

fn by_number(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// The text as one printable line, each character as `write` puts it.
fn rewritten(text: &str, write: impl Fn(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        write(c, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::text::escape::{csv, html, latex, latex_characters, markdown};
    use proptest::prelude::*;

    #[test]
    fn known_tricks() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("\t=1+1", "'=1+1"),
            ("\u{202e}@SUM(A1)\r\n", "'@SUM(A1)"),
            ("a\u{1b}[31mred", "ared"),
            ("monotonic", "monotonic"),
        ] {
            assert_eq!(csv(text), written);
        }
        assert_eq!(markdown("| `a`\n<b> & [x](y)"), "\\| \\`a\\` &lt;b&gt; &amp; \\[x\\](y)");
        assert_eq!(html("<script>\"'&</script>"), "&lt;script&gt;&quot;&#39;&amp;&lt;/script&gt;");
        assert_eq!(
            latex("a_b & 50% $x$ \\input{/etc/passwd}"),
            "a\\_b \\& 50\\% \\$x\\$ \\textbackslash{}input\\{/etc/passwd\\}"
        );
        assert_eq!(latex("≤ 1 µs 時"), "$\\le$ 1 \\textmu{}s U+6642");
        assert_eq!(latex_characters("rdtsc"), 5);
        assert_eq!(latex_characters("時"), 8, "it is written by its number");
    }

    proptest! {
        #[test]
        fn csv_never_starts_a_formula(text in "[=+@\t\r\n \u{200b}\u{1b}-]{0,4}\\PC{0,20}") {
            let text = csv(&text);
            prop_assert!(!text.starts_with(['=', '+', '-', '@']) && !text.contains(['\n', '\r', '\t']));
        }

        #[test]
        fn html_has_no_tags_and_no_quotes(text in any::<String>()) {
            prop_assert!(!html(&text).contains(['<', '>', '"', '\'', '\n']));
            let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
            let text = html(&text);
            let sound = text.split('&').skip(1).all(|rest| known.iter().any(|entity| rest.starts_with(entity)));
            prop_assert!(sound, "{}", text);
        }

        #[test]
        fn markdown_has_no_bare_pipe(text in "[|\\\\`a\n<]{0,30}") {
            let text = markdown(&text);
            let mut escaped = false;
            for c in text.chars() {
                prop_assert!(escaped || !matches!(c, '|' | '`' | '<'), "{}", text);
                escaped = !escaped && c == '\\';
            }
            prop_assert!(!escaped && !text.contains('\n'));
        }

        #[test]
        fn latex_is_balanced_and_ordinary(text in any::<String>()) {
            let text = latex(&text);
            let ordinary = |c: char| c.is_ascii() && !c.is_control() || ('\u{a1}'..='\u{ff}').contains(&c);
            prop_assert!(text.chars().all(ordinary), "{}", text);
            let bare = text.replace("\\{", "").replace("\\}", "").replace("\\%", "").replace("\\#", "").replace("\\&", "");
            prop_assert_eq!(bare.matches('{').count(), bare.matches('}').count());
            prop_assert!(!bare.contains(['%', '#', '&']), "{}", text);
        }
    }
}
