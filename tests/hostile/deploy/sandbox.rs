//! A folder in which the scripts of `deploy/` run, with shell scripts in place of `timermeter` and
//! other programs.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::folder::Folder;
use crate::stored::MBP53;

/// The name of the replacement of `timermeter`, with characters that a shell interprets.
pub const TIMERMETER: &str = "it's a \"meter\"";
/// The names of files that injected commands would create begin with this prefix.
const INJECTED: &str = "PWNED";

/// The working folder of the scripts. Its subfolder `bin` is the first in their `PATH`.
pub struct Sandbox(Folder);

impl Sandbox {
    /// Creates a folder without programs.
    pub fn new() -> Self {
        let sandbox = Self(Folder::new());
        fs::create_dir(sandbox.file("bin")).unwrap();
        sandbox
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.file(name)
    }

    /// Writes a shell script with the given body to `bin`.
    pub fn add_program(&self, name: &str, body: &str) {
        self.0.script(&format!("bin/{name}"), body);
    }

    /// Puts a script in place of `timermeter`: it records its arguments, stores [`MBP53`] as the
    /// result of each probe, runs `gate` as the verb of this name, and prints a table otherwise.
    pub fn add_timermeter(&self, gate: &str) {
        let record = record_arguments("timermeter");
        let script = format!(
            r#"{record}
case ${{1-}} in
probe) mkdir -p "${{3#--save=}}/p/d" && cp '{MBP53}' "${{3#--save=}}/p/d/report.json" ;;
gate) {gate} ;;
esac
printf 'clock source tsc\n# no heading\n'"#
        );
        self.add_program(TIMERMETER, &script);
    }

    /// The command that runs a script of `deploy/` in the folder.
    pub fn deploy_script(&self, name: &str, args: &[&str]) -> Command {
        let mut path = self.file("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        // A shell cannot trap signals that are ignored when it starts, as under `nohup`.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM,HUP");
        command.arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("deploy")
                .join(name),
        );
        command
            .args(args)
            .current_dir(self.file(""))
            .env("PATH", path)
            .env("SANDBOX", self.file(""))
            .env("TIMERMETER", self.file("bin").join(TIMERMETER))
            .stdin(Stdio::null());
        command
    }

    /// The arguments of all calls of a program that runs [`record_arguments`], each as a line
    /// `<argument>`.
    pub fn arguments_of(&self, program: &str) -> String {
        fs::read_to_string(self.file(&format!("{program}.arguments"))).unwrap_or_default()
    }

    /// Checks that no name and no argument was executed as a command.
    #[track_caller]
    pub fn assert_nothing_injected(&self) {
        let mut created = self.0.names();
        created.retain(|name| name.as_bytes().starts_with(INJECTED.as_bytes()));
        assert!(
            created.is_empty(),
            "created by injected commands: {created:?}"
        );
    }
}

/// A line of a shell script that appends its arguments to a file, in one write because several
/// scripts run at the same time.
pub fn record_arguments(program: &str) -> String {
    format!(r#"printf '<%s>\n' "$@" >>"$SANDBOX/{program}.arguments""#)
}
