//! Creates agents that are shell scripts, and checks their faults.

use std::ffi::OsString;
use std::time::Duration;
use std::{fs, thread};

use crate::agents::connection::{Connection, SharedConnection};
use crate::agents::process::AgentCommand;
use crate::agents::subject::subject;
use timers::{Answer, Fault};

/// The introduction of an agent with two timers, `a` and `b`, and with keys that nobody knows.
const HELLO: &str = r#"{"protocol":1,"runtime":{"name":"sh","version":"1","vendor":"x"},"colour":"red","timers":[{"id":"a","label":"A","ns_per_tick":1,"reference":true},{"id":"b","label":"B","ns_per_tick":null}],"ops":["intervals","batches","readings","handoffs","advance"]}"#;

/// The timeout of agents, long enough for a loaded machine. Tests that pass do not wait this long.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// An agent that is a shell script and writes its process id to the file `pid`.
pub struct Script {
    /// The folder with the files of the agent.
    pub folder: tempfile::TempDir,
    /// The command that starts the agent.
    pub command: AgentCommand,
}

impl Script {
    /// Creates an agent that runs `body`, in which `$HELLO` is a valid introduction, `ask` waits for a
    /// request, and `changed FROM TO` prints the introduction with TO in place of the first FROM.
    pub fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = format!(
            "echo $$ > \"$0\"; HELLO='{HELLO}'; ask() {{ read -r request; }}
            changed() {{ printf '%s\\n' \"${{HELLO%%\"$1\"*}}$2${{HELLO#*\"$1\"}}\"; }}; {body}"
        );
        let args = vec![OsString::from("-c"), script.into(), pid.into()];
        Self {
            folder,
            command: AgentCommand::new("test", "sh", args),
        }
    }

    /// Starts the agent and reads its introduction.
    pub fn start(&self, timeout: Duration) -> Answer<Connection> {
        Connection::start(&self.command, None, timeout)
    }

    /// Starts the agent, whose introduction is valid.
    #[track_caller]
    pub fn connect(&self) -> SharedConnection {
        self.start(TIMEOUT).unwrap().share()
    }

    /// Starts the agent and returns the fault of its introduction.
    pub fn fault_of_hello(&self, timeout: Duration) -> Fault {
        self.start(timeout).err().expect("no valid introduction")
    }

    /// Starts the agent, whose introduction is valid, and returns the fault of its first answer, by which it is lost.
    pub fn fault_of_readings(&self) -> Fault {
        let connection = self.connect();
        let readings = |timer| subject(&connection, timer).readings(3);
        let fault = readings("a").expect_err("no valid answer");
        let later = readings("b").expect_err("no valid answer");
        assert_eq!(later, fault, "later questions return the same fault");
        self.assert_group_ended();
        fault
    }

    /// Asserts that no process of the agent's process group runs any more. Processes that have
    /// ended but are not reaped yet do not count.
    pub fn assert_group_ended(&self) {
        let pid = fs::read_to_string(self.folder.path().join("pid")).unwrap();
        assert!(
            becomes_true_within(TIMEOUT, || running_processes(pid.trim()).is_empty()),
            "still running: {:?}",
            running_processes(pid.trim())
        );
    }

    /// Waits until the agent has written the file `name` in its folder.
    pub fn wait_for_file(&self, name: &str) {
        assert!(
            becomes_true_within(TIMEOUT, || self.folder.path().join(name).exists()),
            "the agent did not write {name}"
        );
    }

    /// Calls `test` with growing timeouts, in seconds, until `test` returns a value. `test`
    /// returns `None` if the timeout was too short for a loaded machine.
    #[track_caller]
    pub fn with_growing_timeout<T>(test: impl Fn(u64) -> Option<T>) -> T {
        [1, 4, 16, 64]
            .into_iter()
            .find_map(test)
            .expect("64 s suffice on every machine")
    }
}

/// Checks a condition every 10 ms. Returns whether it becomes true within `time`.
fn becomes_true_within(time: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    const STEP: Duration = Duration::from_millis(10);
    (0..time.as_millis() / STEP.as_millis()).any(|_| {
        is_true() || {
            thread::sleep(STEP);
            false
        }
    })
}

/// The lines of `/proc/PID/stat` of the processes that run in a process group.
fn running_processes(group: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read_to_string(process.path().join("stat")).ok())
        .filter(|stat| {
            // The name in parentheses may contain any character; state, parent and group follow it.
            let fields: Vec<&str> = stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect();
            fields.len() > 2 && fields[2] == group && fields[0] != "Z"
        })
        .collect()
}

/// Asserts that the agent was lost and that the message contains all `words`.
#[track_caller]
pub fn assert_lost(fault: &Fault, words: &[&str]) {
    let Fault::Lost(text) = fault else {
        panic!("{fault:?} is not Lost")
    };
    for word in words {
        assert!(text.contains(word), "`{text}` does not contain `{word}`");
    }
}
