//! What a machine calls itself where it is not named.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Root;

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

#[cfg(test)]
mod tests {
    use super::{Root, hashed};

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
}
