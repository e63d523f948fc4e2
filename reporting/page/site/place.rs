//! How a site takes the place of the one before, so that a reader finds one of them, whole; and what others put there
//! stays.

use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use timers::os::files;

use super::manifest::{Foreign, foreign};
use super::{SiteError, parent};
use crate::scratch::{Remains, ScratchFolder};

/// Moves a site to `place`. Returns whether there was one at any moment, if there was one before.
pub(super) fn take(made: ScratchFolder, place: &Path) -> Result<bool, SiteError> {
    let explain = |source| SiteError::Write { path: place.to_owned(), source };
    if fs::symlink_metadata(place).is_err() {
        let moved = made.become_what_it_shall(|made| Ok((fs::rename(made, place)?, Remains::Nothing)));
        return moved.map(|()| true).map_err(explain);
    }
    let Foreign { added, changed } = foreign(place).map_err(explain)?;
    if let Some(path) = changed.into_iter().next() {
        return Err(SiteError::Changed(place.join(path)));
    }
    for path in added {
        keep(&path, place, made.path())?;
    }
    let mode = fs::metadata(place).map_err(explain)?.permissions();
    fs::set_permissions(made.path(), mode).map_err(explain)?;
    made.become_what_it_shall(|made| {
        let at_once = exchange(made, place)?;
        if at_once {
            // What came in the meantime lies where the old site is now.
            for path in foreign(made)?.added {
                let _ = keep(&path, made, place);
            }
        }
        Ok((at_once, if at_once { Remains::Rubbish } else { Remains::Nothing }))
    })
    .map_err(explain)
}

/// Has the new site hold what was put into the old one: the same file under a second name, so that neither a copy nor a
/// moment without it is needed.
fn keep(path: &Path, old: &Path, new: &Path) -> Result<(), SiteError> {
    let (from, to) = (old.join(path), new.join(path));
    let failed = |source| SiteError::Keep { path: from.clone(), source };
    if fs::symlink_metadata(&to).is_ok() {
        return Err(SiteError::Taken(from));
    }
    let mut below = PathBuf::new();
    for part in path.parent().into_iter().flat_map(Path::components) {
        below.push(part);
        folder_like(&old.join(&below), &new.join(&below)).map_err(failed)?;
    }
    if fs::symlink_metadata(&from).map_err(failed)?.is_dir() {
        return folder_like(&from, &to).map_err(failed);
    }
    fs::hard_link(&from, &to).map_err(failed)
}

fn folder_like(from: &Path, to: &Path) -> io::Result<()> {
    if to.is_dir() {
        return Ok(());
    }
    fs::create_dir(to)?;
    let mode: Permissions = fs::metadata(from)?.permissions();
    fs::set_permissions(to, mode)
}

/// Exchanges both folders at once. Where the file system cannot, one after the other, and then says no.
fn exchange(new: &Path, place: &Path) -> io::Result<bool> {
    let at_once = files::exchange(new, place)?;
    if !at_once {
        in_two_steps(new, place)?;
    }
    Ok(at_once)
}

/// The old site lies beside its place until the new one is there, under a name that is not removed as rubbish.
fn in_two_steps(new: &Path, place: &Path) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let free = |number: &u32| {
        let aside = parent(place).join(format!("{name}.old-{number}"));
        fs::symlink_metadata(&aside).is_err().then_some(aside)
    };
    let aside = (1..1_000).find_map(|number| free(&number));
    let aside =
        aside.ok_or_else(|| io::Error::other(format!("too many folders {name}.old-… lie beside it")))?;
    fs::rename(place, &aside)?;
    if let Err(error) = fs::rename(new, place) {
        fs::rename(&aside, place)?;
        return Err(error);
    }
    fs::remove_dir_all(&aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_exchange_the_site_is_replaced_in_two_steps() {
        let base = tempfile::tempdir().unwrap();
        let (new, place) = (base.path().join("new"), base.path().join("site"));
        for folder in [&new, &place] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("name"), folder.to_str().unwrap()).unwrap();
        }
        in_two_steps(&new, &place).unwrap();
        assert_eq!(fs::read_to_string(place.join("name")).unwrap(), new.to_str().unwrap());
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1, "nothing else is left");
    }
}
