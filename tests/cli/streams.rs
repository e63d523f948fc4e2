//! Standard input and output (`-`), and colours.

use predicates::str::contains;

use super::{command, printed, program, run};
use crate::stored::XEON;

#[test]
fn reads_report_from_standard_input() {
    let text = std::fs::read(XEON).unwrap();
    let from_file = printed(&run(&format!("probe monotonic --from {XEON}")).code(0));
    let mut probe = command("probe monotonic --from -");
    let piped = probe.write_stdin(text).assert().code(0);
    assert_eq!(printed(&piped), from_file);
    let nothing = probe.write_stdin("").assert().code(1);
    nothing.stderr(contains("'-'"));
}

#[test]
fn colours_only_when_requested() {
    // The flag, NO_COLOR and CLICOLOR_FORCE. This is no terminal.
    for (flag, off, on, expected) in [
        ("auto", "", "", false),
        ("always", "1", "", true),
        ("auto", "", "1", true),
        ("auto", "", "0", false),
        ("auto", "1", "1", false),
        ("never", "", "1", false),
    ] {
        let mut command = command(&format!("probe monotonic --from {XEON} --color {flag}"));
        for (name, value) in [("NO_COLOR", off), ("CLICOLOR_FORCE", on)] {
            match value {
                "" => command.env_remove(name),
                _ => command.env(name, value),
            };
        }
        let is_coloured = printed(&command.assert().code(0)).contains('\x1b');
        assert_eq!(is_coloured, expected, "{command:?}");
    }
}

/// Output that cannot be written is an error wherever something is printed.
#[cfg(unix)]
mod unusable {
    use std::process::{Command, Stdio};

    use assert_cmd::assert::{Assert, OutputAssertExt};
    use predicates::str::contains;

    use super::program;

    /// Runs the program with redirections of the shell, in which `$file` is a file with a word.
    #[track_caller]
    fn redirected(redirection: &str, line: &str) -> Assert {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "kept").unwrap();
        let script =
            format!("REPORT=tests/data/xeon-2026-11-21.json; exec \"$0\" {line} {redirection}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, program()]).stdin(Stdio::null());
        shell.env("file", &file);
        let ended = shell.env("TIMERMETER_HOME", folder.path()).assert();
        assert_eq!(std::fs::read(&file).unwrap(), b"kept", "{line}");
        ended
    }

    /// Checks that the program fails with a message.
    #[track_caller]
    fn assert_fails(redirection: &str, line: &str, message: &str) {
        redirected(redirection, line)
            .code(1)
            .stderr(contains(message));
    }

    /// The timers are patterns: a busy machine may not reveal the resolution of a timer given by name,
    /// which is another status.
    const PRINTING: [&str; 15] = [
        "--help",
        "--version",
        "help probe",
        "list",
        "list -f json",
        "explain",
        "completions bash",
        "table $REPORT",
        "table --columns all $REPORT",
        "probe --from $REPORT -f html",
        "probe monotonic --from $REPORT",
        "compare $REPORT $REPORT",
        "pick 250ns --from $REPORT",
        "probe --quick monotoni?",
        "watch 100ms",
    ];

    #[test]
    fn unwritable_output_is_error() {
        for line in PRINTING {
            for redirection in ["1<\"$file\"", ">&-"] {
                assert_fails(redirection, line, "standard output is not open for writing");
            }
            if cfg!(target_os = "linux") {
                assert_fails(">/dev/full", line, "No space left");
            }
            for redirection in [">/dev/null", "1<>/dev/null"] {
                redirected(redirection, line).success();
            }
        }
        // Wrong usage is reported as such.
        redirected(">&-", "table --no-such-flag").code(2);
    }

    #[test]
    fn agent_fails_without_output() {
        let ask = "printf '{\"op\":\"hello\"}\\n' | \"$0\" agent";
        for (redirection, status) in [("1</dev/null", 1), (">&-", 1), (">/dev/null", 0)] {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{ask} {redirection}"), program()]);
            shell.assert().code(status);
        }
    }

    #[test]
    fn unreadable_input_is_error() {
        let message = "'-': standard input is not open for reading";
        for line in [
            "probe monotonic --from -",
            "table -",
            "probe --from -",
            "watch --from -",
        ] {
            for redirection in ["<&-", "0>/dev/null"] {
                assert_fails(redirection, line, message);
            }
        }
        // Without `-`, standard input does not matter.
        redirected("<&-", "table $REPORT").success();
    }

    /// Messages on a standard error that is full, closed or open for reading only are lost, and the
    /// status stays.
    #[test]
    fn lost_messages_change_no_status() {
        let full = cfg!(target_os = "linux").then_some("2>/dev/full");
        for redirection in ["2<\"$file\"", "2>&-"].into_iter().chain(full) {
            for (line, status) in [
                ("probe --quick monotoni? --baseline=mine", 0),
                ("probe --quick monotoni? --save=\"$TIMERMETER_HOME\"", 0),
                ("table no-such-report", 1),
                ("no-such-command", 2),
            ] {
                redirected(redirection, line).code(status);
            }
        }
    }
}
