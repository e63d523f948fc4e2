//! Arguments of `report` and `publish`.

use std::path::PathBuf;

use clap::Args;

use super::{DetailArgs, OutputArgs};

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Reports, or folders of reports
    #[arg(value_name = "REPORT", required = true)]
    pub reports: Vec<PathBuf>,
    /// The output format and files.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The length of the notes below the table.
    #[command(flatten)]
    pub detail: DetailArgs,
    /// Write a plot of the timers of one report, cost over resolution, and print no table
    ///
    /// `-` is standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub svg: Option<PathBuf>,
}

/// Arguments of `publish`.
#[derive(Clone, Debug, Args)]
pub struct PublishArgs {
    /// The folder of reports
    #[arg(value_name = "DIR")]
    pub reports: PathBuf,
    /// The folder of the site
    ///
    /// Files that `publish` wrote there before are replaced; others are kept.
    #[arg(short, long, value_name = "SITE")]
    pub output: PathBuf,
}
