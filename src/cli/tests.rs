use super::{Cli, CompareArgs, ProbeArgs, Verb};
use crate::platform::frequency::CyclesFrom;
use clap::CommandFactory;
use reporting::format::Format;
use std::path::PathBuf;

fn parse(words: &[&str]) -> Result<Verb, clap::Error> {
    let words = [&["timermeter"], words].concat();
    let cli = Cli::from_words(words.into_iter().map(Into::into).collect())?;
    Ok(cli.command.expect("a command"))
}

fn probe(words: &[&str]) -> ProbeArgs {
    match parse(&[&["probe"], words].concat()) {
        Ok(Verb::Probe(args)) => args,
        other => panic!("{words:?}: {other:?}"),
    }
}

fn usage_error(words: &[&str]) -> String {
    let error = parse(words).expect_err("it should be refused");
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

#[test]
fn command_definition_is_valid() {
    Cli::command().debug_assert();
}

#[test]
fn agents_are_split_as_by_a_shell() {
    for (text, name, command) in [
        ("java -cp 'a b' Agent", None, "java|-cp|a b|Agent"),
        ("c#=mono agent.exe", Some("c#"), "mono|agent.exe"),
        // No name: this belongs to the command.
        ("./run --mode=fast", None, "./run|--mode=fast"),
        ("/opt/a=b/run", None, "/opt/a=b/run"),
    ] {
        let run = probe(&["--agent", text]).run;
        let agent = &run.agents.agents[0];
        assert_eq!(
            (agent.name.as_deref(), &*agent.command.join("|")),
            (name, command)
        );
        assert_eq!(run.cycles, CyclesFrom::Effective);
    }
}

#[test]
fn save_takes_no_separate_value() {
    let args = probe(&["--save", "monotonic"]);
    assert_eq!(args.run.timers, ["monotonic"]);
    assert_eq!(args.run.save.as_deref(), Some("reports".as_ref()));
    let args = probe(&["--save=kept"]);
    assert_eq!(args.run.save.as_deref(), Some("kept".as_ref()));
}

#[test]
fn times_among_timers_are_lengths() {
    let wait = |words: &[&str]| match parse(&[&["wait"], words].concat()) {
        Ok(Verb::Wait(args)) => (args.run.timers.clone(), args.lengths_ns.clone(), args.every),
        other => panic!("{words:?}: {other:?}"),
    };
    for (words, timers, lengths, every) in [
        (&["100us"][..], &[][..], &[100_000][..], None),
        (
            &["x*", "1ms..2ms,1s", "--slack", "1ns"],
            &["x*"],
            &[1_000_000, 2_000_000, 1_000_000_000],
            None,
        ),
        (&["--every", "2ms", "x"], &["x"], &[], Some(2_000_000)),
    ] {
        assert_eq!(
            wait(words),
            (
                timers.iter().map(|it| (*it).to_owned()).collect(),
                lengths.to_vec(),
                every
            )
        );
    }
    for (words, problem) in [
        (&["wait", "61s"][..], "from 2ns to 60s"),
        (&["wait", "1ms", "--every", "2ms"], "one period"),
        (&["wait", "--every", "1ns"], "from 1us to 60s"),
    ] {
        let error = usage_error(words);
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn compare_takes_options_anywhere() {
    fn compare(words: &[&str]) -> CompareArgs {
        match parse(&[&["compare"], words].concat()) {
            Ok(Verb::Compare(args)) => args,
            other => panic!("{words:?}: {other:?}"),
        }
    }
    let old = ["a", "b"].map(PathBuf::from);
    let new = ["c", "-"].map(PathBuf::from);
    let condition = ["--fail-if", "cost[a]>5%"];
    let options = ["--all", "-f", "json", "-ox.md", "--fail-if=trust[b]<0"];
    for place in 0..=5 {
        let mut words = vec!["a", "b", "--", "c", "-"];
        words.splice(place..place, condition.into_iter().chain(options));
        let args = compare(&words);
        assert_eq!(args.sides(), Ok((&old[..], &new[..])), "{words:?}");
        assert!(args.all && args.output.format == Format::Json, "{words:?}");
        assert_eq!(args.output.outputs[0].path, PathBuf::from("x.md"));
        let globs: Vec<_> = args.fail_if.iter().map(|it| &it.glob).collect();
        assert_eq!(globs, ["a", "b"]);
    }
    assert!(compare(&["a"]).probes() && !compare(&["a", "--", "c"]).probes());
    assert_eq!(compare(&["a"]).sides(), Ok((&old[..1], &[][..])));
    assert_eq!(compare(&["a", "b"]).sides(), Ok((&old[..1], &old[1..])));
    for unclear in [
        &["a", "b", "c"][..],
        &["a", "--"],
        &["--", "a"],
        &["a", "--", "b", "--", "c"],
    ] {
        assert!(compare(unclear).sides().is_err(), "{unclear:?}");
    }
    // `--` keeps its meaning in other commands.
    let measure = parse(&["measure", "--", "compare", "--", "x"]);
    assert!(
        matches!(measure, Ok(Verb::Measure(args)) if args.operations == ["compare", "--", "x"])
    );
}

#[test]
fn flags_stand_before_and_after_the_command() {
    for words in [
        &["-q", "-f", "json", "-oa.json", "probe", "x"][..],
        &["-qf", "json", "-o", "a.json", "--color=never", "probe", "x"],
        &["--output", "a.json", "probe", "--quiet", "-fjson", "x"],
        &[
            "probe", "x", "-q", "-f", "json", "--color", "never", "-o", "a.json",
        ],
    ] {
        let words = [&["timermeter"], words].concat();
        let cli = Cli::from_words(words.iter().map(Into::into).collect()).unwrap();
        assert!(cli.common.quiet, "{words:?}");
        let Some(Verb::Probe(args)) = cli.command else {
            panic!("{words:?}")
        };
        assert_eq!(args.run.timers, ["x"], "{words:?}");
        assert_eq!(args.run.output.format, Format::Json, "{words:?}");
        assert_eq!(args.run.output.outputs.len(), 1, "{words:?}");
    }
    let from = Cli::from_words(["timermeter", "--from", "probe"].map(Into::into).into());
    assert!(from.unwrap().command.is_none());
    let named = ["timermeter", "--node", "a", "check"].map(Into::into);
    let named = Cli::from_words(named.into()).unwrap();
    assert_eq!(named.common.node.as_deref(), Some("a"));
    assert!(usage_error(&["table", "r.json", "--node", "a"]).contains("--node"));
}
