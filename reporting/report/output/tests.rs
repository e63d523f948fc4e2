use std::fs;
use std::path::Path;

use super::WholeFile;
use crate::scratch::tests::names;

fn prepare(path: &Path) -> WholeFile {
    WholeFile::prepare(path).unwrap()
}

fn replace(path: &Path, bytes: &[u8]) {
    prepare(path).commit(bytes).unwrap();
}

/// Checks that no file can be written here, for this reason.
#[track_caller]
fn assert_refused(path: &Path, reason: &str) {
    let error = WholeFile::prepare(path).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
}

#[test]
fn files_appear_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    for bytes in ["a longer text", "whole"] {
        let output = prepare(&path);
        assert_ne!(fs::read_to_string(&path).unwrap_or_default(), bytes);
        output.commit(bytes.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), bytes);
        drop(prepare(&path));
        drop(prepare(&folder.path().join("new.json")));
        assert_eq!(names(folder.path()), ["r.json"]);
    }
}

#[test]
fn refuses_folders_and_missing_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for (name, reason) in [
        ("no/r.json", "there is no folder"),
        ("no/r.json", "create it"),
        ("", "it is a folder"),
        ("r.json/", "it is a folder"),
        ("file/r.json", "there is no folder"),
    ] {
        assert_refused(&folder.path().join(name), reason);
    }
}

#[test]
fn bare_name_lies_in_current_folder() {
    let name = format!("timermeter-bare-{}.json", std::process::id());
    drop(prepare(Path::new(&name)));
    assert!(!Path::new(&name).exists());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};

    use super::{assert_refused, fs, names, prepare, replace};
    use std::io::Write;
    use std::path::{Path, PathBuf};

    /// A user and a group other than those of the tests.
    const OTHER: u32 = 65_531;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    /// A folder that everyone may write to, like `/tmp`, with a file, of the given mode if there is one.
    fn shared_folder(bits: Option<u32>) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        set_mode(folder.path(), 0o1777);
        fs::write(&path, "old").unwrap();
        if let Some(bits) = bits {
            set_mode(&path, bits);
        }
        (folder, path)
    }

    fn set_mode(path: &Path, bits: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    }

    /// Whether an owner could be changed, for which the tests have to run as root. Says on standard
    /// error, which the test runner does not capture, that a test is skipped.
    fn is_root(changed: std::io::Result<()>) -> bool {
        if changed.is_err() {
            let line = "skipped: another owner: none can be set; run it as root\n";
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        changed.is_ok()
    }

    #[test]
    fn new_file_has_usual_permissions() {
        let (folder, plain) = shared_folder(None);
        let written = folder.path().join("written.json");
        replace(&written, b"x");
        assert_eq!(mode(&written), mode(&plain));
    }

    /// Except the bits that let a file run as another user.
    #[test]
    fn replaced_file_keeps_its_permissions() {
        for (before, after) in [(0o600, 0o600), (0o7755, 0o755)] {
            let (_folder, path) = shared_folder(Some(before));
            replace(&path, b"x");
            assert_eq!(mode(&path), after);
        }
    }

    #[test]
    fn permissions_of_other_users_are_not_copied() {
        let (folder, path) = shared_folder(None);
        if !is_root(chown(&path, Some(OTHER), Some(OTHER))) {
            return;
        }
        set_mode(&path, 0o6777);
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        replace(&path, b"x");
        let owner = |path| {
            let found = fs::metadata(path).unwrap();
            (found.uid(), found.gid())
        };
        assert_eq!((mode(&path), owner(&path)), (mode(&plain), owner(&plain)));
    }

    #[test]
    fn replaced_file_keeps_its_group() {
        let (_folder, path) = shared_folder(Some(0o640));
        if !is_root(chown(&path, None, Some(OTHER))) {
            return;
        }
        replace(&path, b"x");
        let group = fs::metadata(&path).unwrap().gid();
        assert_eq!((mode(&path), group), (0o640, OTHER));
    }

    #[test]
    fn links_of_other_users_are_not_followed() {
        let (folder, target) = shared_folder(None);
        let link = folder.path().join("link.json");
        for to in [target.as_path(), Path::new("/dev/null"), Path::new("none")] {
            symlink(to, &link).unwrap();
            drop(prepare(&link));
            if !is_root(lchown(&link, Some(OTHER), None)) {
                return;
            }
            assert_refused(&link, "link of another user");
            fs::remove_file(&link).unwrap();
        }
    }

    #[test]
    fn folders_behind_links_of_other_users_are_not_entered() {
        let (folder, _) = shared_folder(None);
        let (own, link) = (folder.path().join("own"), folder.path().join("link"));
        fs::create_dir_all(own.join("deep")).unwrap();
        symlink("own", &link).unwrap();
        for path in [
            "link/r.json",
            "link/deep/r.json",
            "own/../link/deep/../r.json",
        ] {
            let path = folder.path().join(path);
            replace(&path, b"x");
            if !is_root(lchown(&link, Some(OTHER), None)) {
                return;
            }
            assert_refused(&path, "link of another user");
            let error = super::super::append(&path).unwrap_err().to_string();
            assert!(error.contains("link of another user"), "{error}");
            // The owner of the folder may put links into it.
            lchown(folder.path(), Some(OTHER), None).unwrap();
            drop(prepare(&path));
            lchown(folder.path(), Some(0), None).unwrap();
            lchown(&link, Some(0), None).unwrap();
        }
        // In a folder of this user alone, links of others are followed, as by the kernel.
        lchown(&link, Some(OTHER), None).unwrap();
        set_mode(folder.path(), 0o755);
        drop(prepare(&link.join("r.json")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_is_replaced_meanwhile_receives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("chosen")).unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        let output = prepare(&at("chosen/r.json"));
        fs::rename(at("chosen"), at("moved")).unwrap();
        symlink("elsewhere", at("chosen")).unwrap();
        output.commit(b"x").unwrap();
        assert_eq!(names(&at("moved")), ["r.json"]);
        assert!(names(&at("elsewhere")).is_empty());
    }

    #[test]
    fn links_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        let (link, target) = (at("link.json"), at("deep/target.json"));
        symlink("deep/target.json", &link).unwrap();
        for bytes in [b"dangling at first", b"then it is there "] {
            replace(&link, bytes);
            assert!(link.is_symlink());
            assert_eq!(fs::read(&target).unwrap(), bytes);
        }
        assert_eq!(names(&at("deep")), ["target.json"]);
        symlink("round", at("round")).unwrap();
        assert_refused(&at("round"), "; choose another path");
        replace(Path::new("/dev/null"), b"x");
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn open_descriptor_is_not_replaced() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("held");
        let mut held = fs::File::options();
        let mut held = held.create(true).append(true).open(&path).unwrap();
        held.write_all(b"before ").unwrap();
        let descriptor = format!("/proc/self/fd/{}", held.as_raw_fd());
        replace(Path::new(&descriptor), b"report");
        held.write_all(b" after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before report after");
    }

    #[test]
    fn refuses_read_only_places() {
        let folder = tempfile::tempdir().unwrap();
        let [locked, kept] = ["locked", "kept.json"].map(|name| folder.path().join(name));
        fs::create_dir(&locked).unwrap();
        fs::write(&kept, "kept").unwrap();
        set_mode(&locked, 0o555);
        set_mode(&kept, 0o444);
        if fs::write(locked.join("probe"), "").is_ok() {
            return; // The superuser can write everywhere.
        }
        for path in [locked.join("r.json"), kept] {
            assert_refused(&path, "writable");
        }
    }
}
