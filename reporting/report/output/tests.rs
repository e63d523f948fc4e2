use std::fs;
use std::path::Path;

use super::{OutputError, WholeFile};

fn prepare(path: &Path) -> Result<WholeFile, OutputError> {
    WholeFile::prepare(path)
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn new_file_appears_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let output = prepare(&path).unwrap();
    assert!(!path.exists());
    output.commit(b"whole").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert_eq!(names_in(folder.path()), ["r.json"]);
}

#[test]
fn dropping_leaves_nothing_changed() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.json");
    fs::write(&old, "old").unwrap();
    drop(prepare(&old).unwrap());
    drop(prepare(&folder.path().join("new.json")).unwrap());
    assert_eq!(names_in(folder.path()), ["old.json"]);
    assert_eq!(fs::read(&old).unwrap(), b"old");
}

#[test]
fn replaces_longer_file_completely() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, "a much longer text").unwrap();
    prepare(&path).unwrap().commit(b"short").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"short");
}

#[test]
fn refuses_folders_and_missing_folders() {
    let folder = tempfile::tempdir().unwrap();
    let missing = prepare(&folder.path().join("no/r.json")).unwrap_err();
    assert!(
        missing.to_string().contains("there is no folder"),
        "{missing}"
    );
    assert!(missing.to_string().contains("create it"), "{missing}");
    let is_folder = prepare(folder.path()).unwrap_err();
    assert!(
        is_folder.to_string().contains("it is a folder"),
        "{is_folder}"
    );
    let slash = prepare(&folder.path().join("r.json/")).unwrap_err();
    assert!(slash.to_string().contains("it is a folder"), "{slash}");
    fs::write(folder.path().join("file"), "").unwrap();
    let under_a_file = prepare(&folder.path().join("file/r.json")).unwrap_err();
    assert!(
        under_a_file.to_string().contains("there is no folder"),
        "{under_a_file}"
    );
}

#[test]
fn bare_name_lies_in_current_folder() {
    let name = format!("timermeter-bare-{}.json", std::process::id());
    drop(prepare(Path::new(&name)).unwrap());
    assert!(!Path::new(&name).exists());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};

    use super::{fs, names_in, prepare};
    use std::io::Write;
    use std::path::{Path, PathBuf};

    /// A user and a group other than those of the tests.
    const OTHER: u32 = 65_531;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    /// A folder that everyone may write to, like `/tmp`, with a file of the given mode.
    fn shared_folder(bits: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
        (folder, path)
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
        let folder = tempfile::tempdir().unwrap();
        let (plain, written) = (
            folder.path().join("plain"),
            folder.path().join("written.json"),
        );
        fs::write(&plain, "").unwrap();
        prepare(&written).unwrap().commit(b"x").unwrap();
        assert_eq!(mode(&written), mode(&plain));
    }

    #[test]
    fn replaced_file_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        prepare(&path).unwrap().commit(b"x").unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn drops_set_id_bits() {
        let (_folder, path) = shared_folder(0o7755);
        prepare(&path).unwrap().commit(b"x").unwrap();
        assert_eq!(mode(&path), 0o755);
    }

    #[test]
    fn permissions_of_other_users_are_not_copied() {
        let (folder, path) = shared_folder(0o644);
        if !is_root(chown(&path, Some(OTHER), Some(OTHER))) {
            return;
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o6777)).unwrap();
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        prepare(&path).unwrap().commit(b"x").unwrap();
        let owner = |path| {
            let found = fs::metadata(path).unwrap();
            (found.uid(), found.gid())
        };
        assert_eq!((mode(&path), owner(&path)), (mode(&plain), owner(&plain)));
    }

    #[test]
    fn replaced_file_keeps_its_group() {
        let (_folder, path) = shared_folder(0o640);
        if !is_root(chown(&path, None, Some(OTHER))) {
            return;
        }
        prepare(&path).unwrap().commit(b"x").unwrap();
        assert_eq!(
            (mode(&path), fs::metadata(&path).unwrap().gid()),
            (0o640, OTHER)
        );
    }

    #[test]
    fn links_of_other_users_are_not_followed() {
        let (folder, target) = shared_folder(0o644);
        for to in [target.as_path(), Path::new("/dev/null"), Path::new("none")] {
            let link = folder.path().join("link.json");
            symlink(to, &link).unwrap();
            drop(prepare(&link).unwrap());
            if !is_root(lchown(&link, Some(OTHER), None)) {
                return;
            }
            let error = prepare(&link).unwrap_err().to_string();
            assert!(error.contains("link of another user"), "{error}");
            fs::remove_file(&link).unwrap();
        }
    }

    #[test]
    fn folders_behind_links_of_other_users_are_not_entered() {
        let (folder, _) = shared_folder(0o644);
        let (own, link) = (folder.path().join("own"), folder.path().join("link"));
        fs::create_dir_all(own.join("deep")).unwrap();
        symlink("own", &link).unwrap();
        for path in [
            "link/r.json",
            "link/deep/r.json",
            "own/../link/deep/../r.json",
        ] {
            let path = folder.path().join(path);
            prepare(&path).unwrap().commit(b"x").unwrap();
            if !is_root(lchown(&link, Some(OTHER), None)) {
                return;
            }
            let error = prepare(&path).unwrap_err().to_string();
            assert!(error.contains("link of another user"), "{error}");
            let error = super::super::append(&path).unwrap_err().to_string();
            assert!(error.contains("link of another user"), "{error}");
            // The owner of the folder may put links into it.
            lchown(folder.path(), Some(OTHER), None).unwrap();
            prepare(&path).unwrap();
            lchown(folder.path(), Some(0), None).unwrap();
            lchown(&link, Some(0), None).unwrap();
        }
        // In a folder of this user alone, links of others are followed, as by the kernel.
        lchown(&link, Some(OTHER), None).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        prepare(&link.join("r.json")).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_is_replaced_meanwhile_receives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("chosen")).unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        let output = prepare(&at("chosen/r.json")).unwrap();
        fs::rename(at("chosen"), at("moved")).unwrap();
        symlink("elsewhere", at("chosen")).unwrap();
        output.commit(b"x").unwrap();
        assert_eq!(names_in(&at("moved")), ["r.json"]);
        assert!(names_in(&at("elsewhere")).is_empty());
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        let (link, target) = (
            folder.path().join("link.json"),
            folder.path().join("deep/target.json"),
        );
        symlink("deep/target.json", &link).unwrap();
        for bytes in [b"dangling at first", b"then it is there "] {
            prepare(&link).unwrap().commit(bytes).unwrap();
            assert!(
                fs::symlink_metadata(&link)
                    .unwrap()
                    .file_type()
                    .is_symlink()
            );
            assert_eq!(fs::read(&target).unwrap(), bytes);
        }
        assert_eq!(names_in(&folder.path().join("deep")), ["target.json"]);
        symlink("round", folder.path().join("round")).unwrap();
        let round = prepare(&folder.path().join("round")).unwrap_err();
        assert!(
            round.to_string().ends_with("; choose another path"),
            "{round}"
        );
    }

    #[test]
    fn device_stays_a_device() {
        prepare(Path::new("/dev/null"))
            .unwrap()
            .commit(b"x")
            .unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn open_descriptor_is_not_replaced() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("held");
        let mut held = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap();
        held.write_all(b"before ").unwrap();
        let descriptor = format!("/proc/self/fd/{}", held.as_raw_fd());
        prepare(Path::new(&descriptor))
            .unwrap()
            .commit(b"report")
            .unwrap();
        held.write_all(b" after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before report after");
    }

    #[test]
    fn refuses_read_only_places() {
        let folder = tempfile::tempdir().unwrap();
        let (locked, kept) = (
            folder.path().join("locked"),
            folder.path().join("kept.json"),
        );
        fs::create_dir(&locked).unwrap();
        fs::write(&kept, "kept").unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o444)).unwrap();
        if fs::write(locked.join("probe"), "").is_ok() {
            return; // The superuser can write everywhere.
        }
        for path in [locked.join("r.json"), kept] {
            let error = prepare(&path).unwrap_err();
            assert!(error.to_string().contains("writable"), "{error}");
            assert!(error.to_string().contains("writable"), "{error}");
        }
    }
}
