//! The output flags that most commands have: the format, and the files to write.

use std::path::PathBuf;

use clap::builder::{
    FalseyValueParser, PathBufValueParser, PossibleValuesParser, TypedValueParser,
};
use clap::{Arg, Args, Command, ValueEnum};

use super::values;
use reporting::format::Format;
use reporting::report::is_stdout;

/// The flags that all commands have.
#[derive(Debug, Default, Args)]
pub struct CommonArgs {
    /// When to colour the output
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Colour,
    /// Print no progress, no hints and no explanations of columns
    #[arg(long, short, global = true, env = "TIMERMETER_QUIET", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub quiet: bool,
    /// The name of this machine ([`node`]), where something is measured.
    #[arg(skip)]
    pub node: Option<String>,
}

/// The flag for the name of this machine, of commands that measure.
pub(super) fn node() -> Arg {
    Arg::new(NODE)
        .long(NODE)
        .value_name("NAME")
        .value_parser(values::parse_node)
        .help("Name of this machine in reports and answers, for tables and comparisons of many machines")
}

/// The id of this flag.
pub(super) const NODE: &str = "node";

/// When to colour the output.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Colour {
    /// On a terminal unless NO_COLOR is set, and everywhere if CLICOLOR_FORCE is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The output format and files.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Format on standard output
    #[arg(long, short, value_parser = format_parser(Format::REPORT), default_value = "table")]
    pub format: Format,
    /// Also write to this file, in the format of its ending
    ///
    /// Repeatable. The file is written completely or not at all.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = output_parser(Format::REPORT))]
    pub outputs: Vec<OutputFile>,
}

/// An output file with the format of its extension.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Format of the file.
    pub format: Format,
}

/// Restricts the output flags of a command to these formats.
pub(super) fn with_formats(verb: Command, formats: &'static [Format]) -> Command {
    let has = |id: &str| verb.get_arguments().any(|argument| argument.get_id() == id);
    if !has("outputs") {
        return verb;
    }
    verb.mut_arg("format", |argument| {
        argument.value_parser(format_parser(formats))
    })
    .mut_arg("outputs", |argument| {
        argument.value_parser(output_parser(formats))
    })
}

/// A parser that accepts the names of these formats.
fn format_parser(formats: &[Format]) -> impl TypedValueParser<Value = Format> + use<> {
    PossibleValuesParser::new(formats.iter().filter_map(ValueEnum::to_possible_value)).map(|name| {
        Format::from_str(&name, false).expect("the possible values are names of formats")
    })
}

/// A parser that accepts files with the extensions of these formats.
fn output_parser(formats: &'static [Format]) -> impl TypedValueParser<Value = OutputFile> {
    PathBufValueParser::new().try_map(move |path| {
        if is_stdout(&path) {
            return Err(
                "--format determines the format of standard output; name a file".to_owned(),
            );
        }
        let format = Format::from_path(&path, formats)?;
        Ok(OutputFile { path, format })
    })
}
