//! Standard input and output (`-`), and colours.

use assert_cmd::Command;

use super::{printed, program, run, timermeter};

const REPORT: &str = "tests/data/xeon-2026-11-21.json";

#[test]
fn page_alone_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    timermeter(&["report", REPORT, "-o", file.to_str().unwrap()]).code(0);
    let page = printed(&run(&format!("report {REPORT} -f html")).code(0));
    assert_eq!(page, std::fs::read_to_string(file).unwrap());
    let figure = printed(&run(&format!("report {REPORT} --svg -")).code(0));
    assert!(
        figure.starts_with("<svg") && figure.trim_end().ends_with("</svg>"),
        "{figure}"
    );
    let [plot, again] = ["plot.svg", "again.html"].map(|name| folder.path().join(name));
    let files = [
        "--svg",
        plot.to_str().unwrap(),
        "-o",
        again.to_str().unwrap(),
    ];
    let shown = timermeter(&[&["report", REPORT], &files[..]].concat()).code(0);
    assert_eq!(printed(&shown), "");
    assert_eq!(std::fs::read_to_string(plot).unwrap(), figure);
    assert_eq!(std::fs::read_to_string(again).unwrap(), page);
    run(&format!("report {REPORT} --svg - -f csv")).code(2);
}

#[test]
fn reads_report_from_standard_input() {
    let text = std::fs::read(REPORT).unwrap();
    let from_file = printed(&run(&format!("inspect monotonic --from {REPORT}")).code(0));
    let piped = Command::new(program())
        .args(["inspect", "monotonic", "--from", "-"])
        .write_stdin(text)
        .assert()
        .code(0);
    assert_eq!(printed(&piped), from_file);
    let nothing = Command::new(program())
        .args(["inspect", "monotonic", "--from", "-"])
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
            .args(["inspect", "monotonic", "--from", REPORT])
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
