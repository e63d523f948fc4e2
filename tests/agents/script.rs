//! Agents in the language of the shell, and what is expected of them.

use std::cell::RefCell;
use std::ffi::OsString;
use std::rc::Rc;
use std::time::Duration;
use std::{fs, thread};

use timermeter::hosts::connection::Connection;
use timermeter::hosts::hosted::subject;
use timermeter::hosts::process::Command;
use timers::{Answer, Fault, Subject};

const HELLO: &str = r#"{"protocol":1,"runtime":{"name":"sh","version":"1"},"timers":[{"id":"a","label":"A","ns_per_tick":1,"reference":true},{"id":"b","label":"B","ns_per_tick":null}],"ops":["intervals","batches","readings","handoffs","advance"]}"#;

/// Long enough for a loaded machine; agents that answer never wait for it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An agent in the language of the shell, and the file that tells its process id.
pub struct Script {
    /// Where its files are.
    pub folder: tempfile::TempDir,
    /// How it is started.
    pub command: Command,
}

impl Script {
    /// `$HELLO` is a good introduction, `ask` waits for a request.
    pub fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let pid = folder.path().join("pid");
        let script =
            format!("echo $$ > \"$0\"; HELLO='{HELLO}'; ask() {{ read -r request; }}; {body}");
        let args = vec![OsString::from("-c"), script.into(), pid.into()];
        Self {
            folder,
            command: Command::new("test", "sh", args),
        }
    }

    pub fn start(&self, timeout: Duration) -> Answer<Connection> {
        Connection::start(&self.command, None, timeout)
    }

    /// The fault of its introduction.
    pub fn fault(&self, timeout: Duration) -> Fault {
        self.start(timeout)
            .err()
            .expect("it does not introduce itself")
    }

    /// The fault of the answer to a question after a good introduction.
    pub fn later_fault<T: std::fmt::Debug>(
        &self,
        question: impl FnOnce(&mut dyn Subject) -> Answer<T>,
    ) -> Fault {
        let connection = Rc::new(RefCell::new(
            self.start(PATIENCE).expect("it introduces itself"),
        ));
        let fault = question(subject(&connection, "a").as_mut()).expect_err("it does not answer");
        if let Fault::Lost(_) = &fault {
            assert_eq!(
                subject(&connection, "b").readings(1),
                Err(fault.clone()),
                "lost once, lost for good"
            );
            self.left_nobody();
        }
        fault
    }

    /// No process of its group runs any more. A process that has ended but is not yet waited for by
    /// init does not count.
    pub fn left_nobody(&self) {
        let pid =
            fs::read_to_string(self.folder.path().join("pid")).expect("it told its process id");
        assert!(
            within(PATIENCE, || members(pid.trim()).is_empty()),
            "still there: {:?}",
            members(pid.trim())
        );
    }

    /// Waits until it has written this file beside its process id.
    pub fn until_it_wrote(&self, name: &str) {
        assert!(
            within(PATIENCE, || self.folder.path().join(name).exists()),
            "it never wrote {name}"
        );
    }

    /// What `test` makes of the shortest patience, in seconds, in which this machine gets as far as
    /// the test needs: `None` where that was too short for it, as on a loaded one.
    #[track_caller]
    pub fn with_enough_patience<T>(test: impl Fn(u64) -> Option<T>) -> T {
        [1, 4, 16, 64]
            .into_iter()
            .find_map(test)
            .expect("a minute is enough for any machine")
    }
}

/// Whether it comes true within a time.
fn within(time: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    const STEP: Duration = Duration::from_millis(10);
    (0..time.as_millis() / STEP.as_millis()).any(|_| {
        is_true() || {
            thread::sleep(STEP);
            false
        }
    })
}

/// What runs in a process group.
fn members(group: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("there is a /proc").flatten();
    processes
        .filter_map(|process| fs::read_to_string(process.path().join("stat")).ok())
        .filter(|stat| {
            // The name in parentheses may hold anything; state, parent and group follow it.
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

#[track_caller]
pub fn assert_lost(fault: &Fault, words: &[&str]) {
    let Fault::Lost(text) = fault else {
        panic!("{fault:?} is not Lost")
    };
    for word in words {
        assert!(text.contains(word), "`{text}` does not say `{word}`");
    }
}
