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
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::{fs, names_in, prepare};
    use std::path::Path;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
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
        use std::io::Write;
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
