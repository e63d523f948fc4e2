//! `publish`: writes a static web site for a folder of reports.

use std::io::Write;

use super::{CommandResult, failed};
use crate::cli::PublishArgs;
use crate::messages::Progress;
use crate::messages::print_message;
use reporting::page::site;
use reporting::report::files;
use reporting::text::counted;

/// Runs the command. Returns `true` if all reports could be read.
///
/// # Errors
/// When no report could be read, or the site cannot be written.
pub fn run(args: &PublishArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let progress = Progress::new(files(&args.reports).len());
    progress.show_step("reports");
    let on_read = || {
        progress.finish_step();
    };
    let site = site::publish(&args.reports, &args.output, &on_read).map_err(failed)?;
    drop(progress);
    for reason in &site.left_out {
        print_message(&format!("left out: {reason}"));
    }
    let reports = counted(site.reports, "report");
    writeln!(
        output,
        "{}: {reports}",
        args.output.join("index.html").display()
    )?;
    Ok(site.left_out.is_empty())
}
