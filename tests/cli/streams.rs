//! Standard input and output (`-`), and colours.

use assert_cmd::Command;

use super::{printed, program, run, timermeter};

const REPORT: &str = "tests/data/xeon-2026-11-21.json";

#[test]
fn page_alone_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    timermeter(&["probe", "--from", REPORT, "-o", file.to_str().unwrap()]).code(0);
    let page = printed(&run(&format!("probe --from {REPORT} -f html")).code(0));
    assert_eq!(page, std::fs::read_to_string(file).unwrap());
}

#[test]
fn reads_report_from_standard_input() {
    let text = std::fs::read(REPORT).unwrap();
    let from_file = printed(&run(&format!("probe monotonic --from {REPORT}")).code(0));
    let piped = Command::new(program())
        .args(["probe", "monotonic", "--from", "-"])
        .write_stdin(text)
        .assert()
        .code(0);
    assert_eq!(printed(&piped), from_file);
    let nothing = Command::new(program())
        .args(["probe", "monotonic", "--from", "-"])
        .write_stdin("")
        .assert();
    let reported = String::from_utf8(nothing.code(1).get_output().stderr.clone()).unwrap();
    assert!(reported.contains("'-'"), "{reported}");
}

#[test]
fn colours_only_when_requested() {
    let coloured = |more: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(program());
        command
            .args(["probe", "monotonic", "--from", REPORT])
            .args(more);
        command
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .envs(variables.iter().copied());
        printed(&command.assert().code(0)).contains('\x1b')
    };
    assert!(!coloured(&[], &[]), "this is no terminal");
    assert!(
        coloured(&["--color", "always"], &[("NO_COLOR", "1")]),
        "who asks gets it"
    );
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(
        &[],
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
    ));
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

/// Output that cannot be written is an error wherever something is printed.
#[cfg(unix)]
mod unusable {
    use std::process::{Command, Output, Stdio};

    use super::{REPORT, program};

    /// Runs the program with redirections of the shell, in which `$file` is a file with a word.
    fn redirected(redirection: &str, args: &[&str]) -> Output {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "kept").unwrap();
        let ended = Command::new("sh")
            .args([
                "-c",
                &format!("exec \"$0\" \"$@\" {redirection}"),
                program(),
            ])
            .args(args)
            .env("file", &file)
            .env("TIMERMETER_HOME", folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("the shell starts");
        assert_eq!(std::fs::read(&file).unwrap(), b"kept", "{args:?}");
        ended
    }

    fn reported(ended: &Output) -> String {
        String::from_utf8_lossy(&ended.stderr).into_owned()
    }

    /// Checks that the program fails with a message.
    fn assert_fails(redirection: &str, args: &[&str], message: &str) {
        let ended = redirected(redirection, args);
        let reported = reported(&ended);
        let run = format!("{args:?} {redirection}: {reported}");
        assert_eq!(ended.status.code(), Some(1), "{run}");
        assert!(reported.contains(message), "{run}");
    }

    const PRINTING: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["help", "probe"],
        &["list"],
        &["list", "-f", "json"],
        &["explain"],
        &["completions", "bash"],
        &["table", REPORT],
        &["table", "--columns", "all", REPORT],
        &["probe", "--from", REPORT, "-f", "html"],
        &["probe", "monotonic", "--from", REPORT],
        &["compare", REPORT, REPORT],
        &["pick", "250ns", "--from", REPORT],
        &["probe", "--quick", "monotonic"],
        &["watch", "1s"],
    ];

    #[test]
    fn unwritable_output_is_error() {
        for args in PRINTING {
            for redirection in ["1<\"$file\"", ">&-"] {
                assert_fails(redirection, args, "standard output is not open for writing");
            }
            if cfg!(target_os = "linux") {
                assert_fails(">/dev/full", args, "No space left");
            }
        }
    }

    #[test]
    fn discarded_output_is_success() {
        for args in PRINTING {
            for redirection in [">/dev/null", "1<>/dev/null"] {
                let ended = redirected(redirection, args);
                assert_eq!(
                    ended.status.code(),
                    Some(0),
                    "{args:?} {redirection}: {ended:?}"
                );
            }
        }
    }

    #[test]
    fn silence_needs_no_output() {
        // Wrong usage is reported as such.
        let ended = redirected(">&-", &["table", "--no-such-flag"]);
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    }

    #[test]
    fn agent_fails_without_output() {
        let ask = "printf '{\"op\":\"hello\"}\\n' | \"$0\" agent";
        for (redirection, status) in [("1</dev/null", 1), (">&-", 1), (">/dev/null", 0)] {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{ask} {redirection}"), program()]);
            let ended = shell.output().expect("the shell starts");
            assert_eq!(
                ended.status.code(),
                Some(status),
                "{redirection}: {ended:?}"
            );
        }
    }

    #[test]
    fn unreadable_input_is_error() {
        for args in [
            &["probe", "monotonic", "--from", "-"][..],
            &["table", "-"],
            &["probe", "--from", "-"],
            &["watch", "--from", "-"],
        ] {
            for redirection in ["<&-", "0>/dev/null"] {
                assert_fails(
                    redirection,
                    args,
                    "'-': standard input is not open for reading",
                );
            }
        }
        // Without `-`, standard input does not matter.
        assert!(redirected("<&-", &["table", REPORT]).status.success());
    }

    /// Messages on a standard error that is full, closed or open for reading only are lost, and the
    /// status stays.
    #[test]
    fn lost_messages_change_no_status() {
        let full = cfg!(target_os = "linux").then_some("2>/dev/full");
        let folder = tempfile::tempdir().unwrap();
        let save = format!("--save={}", folder.path().display());
        for redirection in ["2<\"$file\"", "2>&-"].into_iter().chain(full) {
            for (args, status) in [
                (&["probe", "--quick", "monotonic", "--baseline=mine"][..], 0),
                (&["probe", "--quick", "monotonic", &save], 0),
                (&["table", "no-such-report"], 1),
                (&["no-such-command"], 2),
            ] {
                let ended = redirected(redirection, args);
                assert_eq!(
                    ended.status.code(),
                    Some(status),
                    "{args:?} {redirection}: {ended:?}"
                );
            }
        }
    }
}
