//! Identifies the operating system's distribution.

use super::Root;
use estimators::model::Os;

/// Identifies the operating system.
pub fn os(root: &Root) -> Os {
    let name = ["/etc/os-release", "/usr/lib/os-release"]
        .into_iter()
        .find_map(|path| root.read_text(path).and_then(|text| pretty_name(&text)));
    Os {
        family: std::env::consts::OS.to_owned(),
        name,
    }
}

/// The name of the distribution: `PRETTY_NAME` of os-release(5), else its `NAME`.
fn pretty_name(os_release: &str) -> Option<String> {
    let assignments = os_release
        .lines()
        .filter_map(|line| line.trim().split_once('='));
    let value = |name| {
        let (_, value) = assignments.clone().find(|(key, _)| *key == name)?;
        Some(value.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

#[cfg(test)]
mod tests {
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
        assert_eq!(name("PRETTY_NAME='A B'"), "A B");
        assert_eq!(name("NAME=Alpine"), "Alpine");
        for nothing in ["", "PRETTY_NAME=", "PRETTY_NAME=\"\"", "PRETTY_NAME", "\0"] {
            assert_eq!(pretty_name(nothing), None, "{nothing:?}");
        }
    }
}
