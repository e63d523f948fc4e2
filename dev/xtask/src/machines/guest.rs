//! Builds the file system in memory from which a machine boots: the program, busybox, and a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::answer;
use super::list::Machine;
use crate::Outcome;

/// The commands of busybox that the scripts use.
const BUSYBOX_COMMANDS: &str =
    "mount dmesg adjtimex poweroff true tar gzip hexdump sleep date kill echo cp cat";

/// Returns the script that the kernel starts.
fn script(machine: &Machine) -> String {
    format!(
        "#!/bin/busybox sh
export PATH=/bin HOME=/tmp
for name in {BUSYBOX_COMMANDS}; do busybox ln -s busybox /bin/$name; done
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
dmesg
outside() {{ echo \"from outside: $*\" >/dev/console; }}
probe() {{ timermeter probe --quick --quiet --format json \"$@\" >/out/report.json; }}
{}
{}
poweroff -f
",
        machine.script,
        answer::script()
    )
}

/// Writes the file system.
///
/// # Errors
/// If one of its files is missing, or `cpio` is.
pub fn write(to: &Path, parts: &Path, machine: &Machine) -> Outcome<()> {
    let root = to.with_extension("root");
    let _ = fs::remove_dir_all(&root);
    for folder in ["bin", "proc", "sys", "dev", "tmp", "out"] {
        fs::create_dir_all(root.join(folder))?;
    }
    for name in ["timermeter", "busybox", "provoke"] {
        let from = parts.join(name);
        fs::copy(&from, root.join("bin").join(name))
            .map_err(|error| format!("{}: {error}", from.display()))?;
    }
    let init = root.join("init");
    fs::write(&init, script(machine))?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755))?;
    let archive = fs::File::create(to)?;
    let mut packed = Command::new("sh");
    packed
        .args(["-c", "find . | cpio -o -H newc --quiet"])
        .current_dir(&root);
    let ended = packed.stdin(Stdio::null()).stdout(archive).status()?;
    fs::remove_dir_all(&root)?;
    if ended.success() {
        Ok(())
    } else {
        Err("the initramfs cannot be packed: apt install cpio".into())
    }
}
