//! Provides the files that machines boot: kernels and busybox from packages of Debian, and the
//! program compiled from this repository. Packages are downloaded and unpacked, not installed, by
//! an `apt-get` with its own state.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::list::Emulator;
use crate::Outcome;
use crate::compiled;

/// The package sources. For RISC-V, only unstable has a kernel that the emulator boots.
const PACKAGE_SOURCES: &str = "\
deb [arch=amd64,arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main
deb [arch=amd64,arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security bookworm-security main
deb [arch=riscv64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main
";

/// The parts of all machines.
pub struct Parts<'a> {
    folder: &'a Path,
    rustc: Option<&'a Path>,
    /// Whether existing programs are used without compiling.
    use_compiled: bool,
    /// Architectures whose program was compiled in this run.
    compiled: Vec<&'static str>,
}

impl<'a> Parts<'a> {
    /// Uses the parts in `folder`; compiles the program with `rustc` if it is given.
    pub fn new(folder: &'a Path, rustc: Option<&'a Path>, use_compiled: bool) -> Self {
        Self {
            folder,
            rustc,
            use_compiled,
            compiled: Vec::new(),
        }
    }

    /// Returns the folder of an architecture after it has provided all missing files.
    ///
    /// # Errors
    /// If a file cannot be downloaded or compiled.
    pub fn folder_for(&mut self, emulator: &'static Emulator) -> Outcome<PathBuf> {
        let folder = self.folder.join(emulator.architecture);
        fs::create_dir_all(&folder)?;
        let has = |name: &str| folder.join(name).is_file();
        if !has("kernel") || !has("busybox") {
            let apt = Apt::new(&self.folder.join("apt"))?;
            if !has("kernel") {
                let package = apt.newest_kernel(emulator)?;
                apt.unpack(
                    &package,
                    emulator,
                    &["boot/vmlinuz", "boot/vmlinux", "usr/lib/modules/*/vmlinuz"],
                    &folder.join("kernel"),
                )?;
            }
            if !has("busybox") {
                apt.unpack(
                    "busybox-static",
                    emulator,
                    &["bin/busybox", "usr/bin/busybox"],
                    &folder.join("busybox"),
                )?;
            }
        }
        if !has("provoke") || !self.use_compiled {
            compile_provoke(emulator, &folder.join("provoke"))?;
        }
        if !self.use_compiled && !self.compiled.contains(&emulator.architecture) {
            fs::copy(self.program(emulator)?, folder.join("timermeter"))?;
            self.compiled.push(emulator.architecture);
        }
        Ok(folder)
    }

    /// Compiles the static program, with musl, or with glibc if only that target is installed.
    fn program(&self, emulator: &Emulator) -> Outcome<PathBuf> {
        let root = crate::root()?;
        let rustc = self.rustc.map_or_else(
            || env::var_os("RUSTC").unwrap_or("rustc".into()),
            Into::into,
        );
        let target = emulator.targets.iter().find(|target| {
            let answer = Command::new(&rustc)
                .args(["--print", "target-libdir", "--target", target])
                .output();
            let folder = answer
                .ok()
                .and_then(|answer| String::from_utf8(answer.stdout).ok());
            folder.is_some_and(|folder| Path::new(folder.trim()).is_dir())
        });
        let target = *target.ok_or_else(|| {
            format!(
                "no target of {}: rustup target add {}",
                emulator.architecture, emulator.targets[0]
            )
        })?;
        let folder = compiled::folder(root).join("machines/compiled");
        let variable = |what: &str| {
            format!(
                "CARGO_TARGET_{}_{what}",
                target.to_uppercase().replace('-', "_")
            )
        };
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args([
            "build",
            "--package",
            "timermeter",
            "--release",
            "--locked",
            "--target",
            target,
        ]);
        command
            .arg("--target-dir")
            .arg(&folder)
            .env("RUSTC", &rustc)
            .current_dir(root);
        if target.ends_with("musl") {
            command.env(variable("LINKER"), compiled::LINKER);
        } else {
            command.env(variable("RUSTFLAGS"), "-C target-feature=+crt-static");
            if !target.starts_with(env::consts::ARCH) {
                command.env(variable("LINKER"), cross_compiler(emulator));
            }
        }
        if !command.status()?.success() {
            return Err(format!("timermeter could not be compiled for {target}").into());
        }
        Ok(folder.join(target).join("release/timermeter"))
    }
}

/// Returns the name of Debian's GCC for another architecture.
fn cross_compiler(emulator: &Emulator) -> String {
    format!("{}-linux-gnu-gcc", emulator.architecture)
}

/// Compiles `provoke`, which has the commands that busybox lacks.
fn compile_provoke(emulator: &Emulator, to: &Path) -> Outcome<()> {
    let compiler = match emulator.architecture {
        own if own == env::consts::ARCH => "cc".to_owned(),
        _ => cross_compiler(emulator),
    };
    let source = crate::root()?.join("dev/xtask/src/machines/provoke.c");
    let compiled = Command::new(&compiler)
        .args(["-static", "-O1", "-o"])
        .arg(to)
        .arg(source)
        .status();
    match compiled {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{compiler} cannot link statically: install the static libc").into()),
        Err(error) => Err(format!("{compiler} cannot be started ({error})").into()),
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

/// An `apt-get` with its own state, so that the host gains no foreign architecture.
struct Apt {
    folder: PathBuf,
}

impl Apt {
    fn new(folder: &Path) -> Outcome<Self> {
        fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        for name in ["lists/partial", "cache/archives/partial", "parts"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let at = folder.display();
        fs::write(folder.join("sources.list"), PACKAGE_SOURCES)?;
        let settings = format!(
            "Dir::State::Lists \"{at}/lists\";\nDir::State::status \"/dev/null\";\nDir::Cache \"{at}/cache\";\n\
             Dir::Etc::sourcelist \"{at}/sources.list\";\nDir::Etc::sourceparts \"{at}/parts\";\n\
             APT::Architectures {{ \"amd64\"; \"arm64\"; \"riscv64\"; }};\nAPT::Sandbox::User \"root\";\n"
        );
        fs::write(folder.join("settings"), settings)?;
        let apt = Self { folder };
        apt.run("apt-get", &["-qq", "update"])?;
        Ok(apt)
    }

    /// Runs a tool of apt and returns its output.
    fn run(&self, tool: &str, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new(tool);
        command
            .args(words)
            .env("APT_CONFIG", self.folder.join("settings"))
            .current_dir(&self.folder);
        let output = command.output().map_err(|error| {
            format!(
                "{tool} cannot be started ({error}): provide kernel, busybox and timermeter by hand"
            )
        })?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!(
                "{tool} {}: {}",
                words.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            )
            .into())
        }
    }

    /// Returns the kernel package that the metapackage of the newest kernel depends on.
    fn newest_kernel(&self, emulator: &Emulator) -> Outcome<String> {
        let newest = format!("{}:{}", emulator.kernel, emulator.debian);
        let output = self.run("apt-cache", &["depends", &newest])?;
        let depends = |output: &str, on: &str| {
            let name = output
                .lines()
                .find_map(|line| line.trim().strip_prefix("Depends: ")?.strip_prefix(on))?;
            Some(format!("{on}{}", name.split(':').next().unwrap_or(name)))
        };
        let package = depends(&output, "linux-image-")
            .ok_or_else(|| format!("{newest} depends on no kernel"))?;
        // In newer releases the kernel itself is in a further package.
        let output = self.run(
            "apt-cache",
            &["depends", &format!("{package}:{}", emulator.debian)],
        )?;
        Ok(depends(&output, "linux-binary-").unwrap_or(package))
    }

    /// Copies the file of a package whose path begins with one of `prefixes`, in which `*` matches
    /// any one folder.
    fn unpack(
        &self,
        package: &str,
        emulator: &Emulator,
        prefixes: &[&str],
        to: &Path,
    ) -> Outcome<()> {
        let folder = self.folder.join(format!("{package}-{}", emulator.debian));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let place = folder.join("unpacked");
        self.run(
            "apt-get",
            &["-qq", "download", &format!("{package}:{}", emulator.debian)],
        )?;
        let archive = fs::read_dir(&self.folder)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| {
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                name.starts_with(&format!("{package}_"))
                    && name.ends_with(&format!("_{}.deb", emulator.debian))
            });
        let archive = archive.ok_or_else(|| format!("{package} was not downloaded"))?;
        let [archive, unpacked] = [&archive, &place].map(|path| path.display().to_string());
        self.run("dpkg-deb", &["-x", &archive, &unpacked])?;
        let found = prefixes.iter().find_map(|prefix| {
            let (parent, name) = prefix.rsplit_once('/')?;
            let folders = match parent.split_once("/*") {
                Some((before, _)) => entries(&place.join(before)),
                None => vec![place.join(parent)],
            };
            let mut files = folders.iter().flat_map(|folder| entries(folder));
            files.find(|path| {
                path.file_name()
                    .is_some_and(|file| file.to_string_lossy().starts_with(name))
            })
        });
        fs::copy(
            found.ok_or_else(|| format!("{package} holds no {}", prefixes.join(" or ")))?,
            to,
        )?;
        fs::remove_file(&archive)?;
        Ok(fs::remove_dir_all(&folder)?)
    }
}
