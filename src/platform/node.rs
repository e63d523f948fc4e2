//! What a machine calls itself where it is not named.
//!
//! What runs on the kernel: the distribution.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use timers::os::MachineFacts;

use super::Root;
use crate::model::Os;

/// Digits of a machine-id (machine-id(5)).
const DIGITS: usize = 32;
/// Bytes of the hash that are kept: of 50 000 machines two share a name once in ten thousand million fleets.
/// *Chance*.
const KEPT: usize = 8;

/// The name of the machine whose files are at `root`: a hash of its machine-id, which is the key, and of `salt`, as machine-id(5) wants it of
/// those who hand it on (HMAC-SHA-256, RFC 2104). `None` where there is no machine-id.
#[must_use]
pub fn hashed(root: &Root, salt: &str) -> Option<String> {
    let id = root.content("/etc/machine-id")?;
    if id.len() != DIGITS || !id.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = Hmac::<Sha256>::new_from_slice(id.as_bytes()).ok()?;
    hash.update(b"timermeter.node.v1\0");
    hash.update(salt.as_bytes());
    let digits: String =
        hash.finalize().into_bytes().iter().take(KEPT).map(|byte| format!("{byte:02x}")).collect();
    Some(format!("node-{digits}"))
}

/// The operating system.
#[must_use]
pub fn os(root: &Root, told: &MachineFacts) -> Os {
    let name = ["/etc/os-release", "/usr/lib/os-release"]
        .into_iter()
        .find_map(|path| root.content(path).and_then(|text| pretty_name(&text)));
    Os { family: std::env::consts::OS.to_owned(), name: name.or_else(|| told.os_name.clone()) }
}

/// What the distribution calls itself: `PRETTY_NAME` of os-release(5), else its `NAME`.
#[must_use]
pub fn pretty_name(os_release: &str) -> Option<String> {
    let value = |name| {
        // A later assignment overrides an earlier one, as in the shell.
        let mut assignments = os_release.lines().filter_map(|line| line.trim().split_once('='));
        assignments.rfind(|(key, _)| *key == name).map(|(_, value)| unquoted(value)).filter(|v| !v.is_empty())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

/// A value as the shell would read it: quotes taken off, and outside single quotes a backslash too.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    if let Some(literal) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return literal.to_owned();
    }
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    let mut characters = inner.chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        text.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::platform::node::{Root, hashed};

    #[test]
    fn a_name_goes_by_machine_and_salt_and_tells_neither() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        assert_eq!(hashed(&root, "salt"), None);
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        let name = |id: &str, salt: &str| {
            std::fs::write(folder.path().join("etc/machine-id"), id).unwrap();
            hashed(&root, salt)
        };
        let id = "0123456789abcdef0123456789abcdef\n";
        let first = name(id, "salt").unwrap();
        assert_eq!(name(id, "salt").unwrap(), first);
        // As `hmac.new(id, b"timermeter.node.v1\0salt", "sha256")` of Python has it.
        assert_eq!(first, "node-737455cb2691bf7b");
        assert_ne!(name(id, "pepper").unwrap(), first);
        assert_ne!(name("0123456789abcdef0123456789abcdee", "salt").unwrap(), first);
        for none in ["", "uninitialized\n", "0123"] {
            assert_eq!(name(none, "salt"), None, "{none:?}");
        }
    }

    #[test]
    fn names_of_distributions() {
        let name = |text| pretty_name(text).unwrap_or_default();
        assert_eq!(
            name("NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"),
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
