//! Identifies the operating system's distribution.

use timers::os::MachineFacts;

use super::Root;
use crate::model::Os;

/// Identifies the operating system.
#[must_use]
pub fn os(root: &Root, facts: &MachineFacts) -> Os {
    let name = ["/etc/os-release", "/usr/lib/os-release"]
        .into_iter()
        .find_map(|path| root.read_text(path).and_then(|text| pretty_name(&text)));
    Os {
        family: std::env::consts::OS.to_owned(),
        name: name.or_else(|| facts.os_name.clone()),
    }
}

/// The name of the distribution: `PRETTY_NAME` of os-release(5), else its `NAME`.
#[must_use]
pub fn pretty_name(os_release: &str) -> Option<String> {
    let value = |name| {
        // A later assignment overrides an earlier assignment, as in the shell.
        let mut assignments = os_release
            .lines()
            .filter_map(|line| line.trim().split_once('='));
        assignments
            .rfind(|(key, _)| *key == name)
            .map(|(_, value)| unquote(value))
            .filter(|v| !v.is_empty())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

/// Removes quotes from a value as the shell does, and backslashes outside single quotes.
fn unquote(value: &str) -> String {
    let value = value.trim();
    if let Some(literal) = value
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
    {
        return literal.to_owned();
    }
    let inner = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(value);
    let mut characters = inner.chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        text.extend(if character == '\\' {
            characters.next()
        } else {
            Some(character)
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_distributions() {
        let name = |text| pretty_name(text).unwrap_or_default();
        assert_eq!(
            name(
                "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"
            ),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(name("# PRETTY_NAME=no\nPRETTY_NAME=Arch\n"), "Arch");
        assert_eq!(name("PRETTY_NAME='A \\ B'"), "A \\ B");
        assert_eq!(name(r#"PRETTY_NAME="A \"B\" \$1""#), r#"A "B" $1"#);
        assert_eq!(name("NAME=Alpine"), "Alpine");
        for nothing in ["", "PRETTY_NAME=", "PRETTY_NAME=\"\"", "PRETTY_NAME", "\0"] {
            assert_eq!(pretty_name(nothing), None, "{nothing:?}");
        }
        assert_eq!(name("PRETTY_NAME=\""), "\"");
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), value in any::<String>()) {
            let _ = pretty_name(&text);
            let _ = pretty_name(&format!("PRETTY_NAME={value}"));
        }
    }
}
