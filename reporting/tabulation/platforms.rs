//! Joins the reports of a platform to one row: the machine, its recommended clock, its counter and a
//! sleep. A device is a platform of its own.

use std::collections::BTreeMap;
use std::path::Path;

use clap::ValueEnum;

use crate::fields::cpu_name;
use crate::fields::{Field, FieldSource, Kind, Row, Visibility, fields, series};
use crate::table::CellValue;
use crate::text::counted;
use estimators::model::{Device, Report, TimerRow, value_of};

/// What a row of a table is of, if not of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowOf {
    /// CPU model, architecture, hypervisor, series of the kernel and clock source
    Platform,
    /// CPU model and architecture
    Cpu,
}

/// The best clock of a machine, or of a device, in a report, with what else the row of its platform
/// shows.
#[derive(Debug)]
pub struct PlatformRun {
    /// Runs with equal keys are of the same platform. Those that were published come last.
    key: (bool, Vec<String>),
    /// Whether the report has clocks, and when it was measured. The row has the figures of the
    /// greatest.
    age: (bool, String),
    cells: Vec<CellValue>,
    link: RunLink,
}

/// A link to a report.
#[derive(Debug)]
pub struct RunLink {
    /// The address or the path of the report.
    pub href: String,
    /// The name of the run, and the kind of its timers.
    pub about: String,
}

/// A row of the table.
#[derive(Debug)]
pub struct PlatformRow {
    /// The values of the columns.
    pub cells: Vec<CellValue>,
    /// The runs, the one with the figures of clocks first, then the newest first.
    pub runs: Vec<RunLink>,
}

/// A platform for each row, the columns that pages show, and the number of reports.
#[derive(Debug)]
pub struct Platforms {
    /// The columns.
    pub columns: Vec<&'static Field>,
    /// The rows in display order.
    pub rows: Vec<PlatformRow>,
    reports: usize,
}

impl PlatformRun {
    /// Keeps what the columns show of a report at `path`: of its machine, unless it is of devices
    /// only, and of each device.
    pub fn of_report(
        path: &Path,
        href: &str,
        report: &Report,
        by: RowOf,
        columns: &[&Field],
    ) -> Vec<Self> {
        let machine = (!report.is_of_devices()).then_some(None);
        let devices = report.devices().into_iter().map(Some);
        let new = |device: Option<&Device>| {
            let clock = best_clock(report, device);
            let cell = |field: &&Field| cell(field, path, report, device, clock);
            Self {
                key: key(report, device, by),
                age: (clock.is_some(), report.created.clone()),
                cells: columns.iter().map(cell).collect(),
                link: RunLink::new(report, href.to_owned()),
            }
        };
        machine.into_iter().chain(devices).map(new).collect()
    }
}

/// What a platform is known by.
fn key(report: &Report, device: Option<&Device>, by: RowOf) -> (bool, Vec<String>) {
    let platform = &report.platform;
    let device_name = device.map(|device| device.name.clone());
    let cpu = device_name.unwrap_or_else(|| cpu_name(platform));
    let mut key = vec![cpu, platform.cpu.architecture.clone()];
    if by == RowOf::Platform {
        let release = platform.kernel.release.as_deref();
        // The OS stands for a kernel that is not known.
        let system = release.map(series).or_else(|| platform.os.name.clone());
        let source = platform.clocksource.current.clone();
        let source = source.filter(|_| device.is_none());
        let parts = [platform.hypervisor.clone(), system, source];
        key.extend(parts.map(Option::unwrap_or_default));
    }
    (report.is_published(), key)
}

/// The recommended clock of a machine; without one, and of a device, that of the highest Quality or
/// else of the least cost.
fn best_clock<'a>(report: &'a Report, device: Option<&Device>) -> Option<&'a TimerRow> {
    let cost = |row: &TimerRow| value_of(row.cost_ns).or(row.amortised_ns);
    let device = device.map(|device| device.name.as_str());
    let rows = report.timers.iter();
    let measured = || {
        let own = rows.clone().filter(|row| row.device_name() == device);
        own.filter_map(|row| Some((row, cost(row)?)))
    };
    let to_time = report.assessment.to_time.as_ref();
    let recommended = to_time.and_then(|id| measured().find(|(row, _)| row.id == *id));
    let best = || measured().find(|(row, _)| row.quality.is_some());
    let cheapest = || measured().min_by(|(_, a), (_, b)| a.total_cmp(b));
    Some(recommended.or_else(best).or_else(cheapest)?.0)
}

/// The value of a column.
fn cell(
    field: &Field,
    path: &Path,
    report: &Report,
    device: Option<&Device>,
    clock: Option<&TimerRow>,
) -> CellValue {
    match (field.is_of_report(), device) {
        (true, Some(device)) if field.key == "cpu" => device.name.as_str().into(),
        (false, _) if field.key == "timer" => clock.map(name).into(),
        (true, Some(_)) if field.is_of_cpu => CellValue::Nothing,
        (true, _) => field.value(FieldSource::File(path, report)),
        (false, _) => clock.map_or(CellValue::Nothing, |row| field.value(Row::Clock(row))),
    }
}

/// The id; the call of a clock whose id is an abbreviation, as in the paper: that of another runtime
/// without its name.
fn name(clock: &TimerRow) -> &String {
    let is_short = clock.agent().is_none() && clock.runtime != "native";
    if is_short { &clock.label } else { &clock.id }
}

impl RunLink {
    /// Names a run by its file, or by its time if all runs are on one page.
    fn new(report: &Report, href: String) -> Self {
        let path = href.trim_end_matches(".html").trim_end_matches("/report");
        let file = path.rsplit('/').next().filter(|_| !href.starts_with('#'));
        let kind = Kind::main(report).in_words();
        Self {
            about: format!("{} · {kind}", file.unwrap_or(&report.created)),
            href,
        }
    }
}

impl PlatformRow {
    /// Groups runs by platform.
    pub fn group(runs: Vec<PlatformRun>, columns: &[&Field]) -> Vec<Self> {
        let mut groups: BTreeMap<_, Vec<PlatformRun>> = BTreeMap::new();
        for run in runs {
            groups.entry(run.key.clone()).or_default().push(run);
        }
        let groups = groups.into_values();
        groups.map(|runs| Self::from_runs(runs, columns)).collect()
    }

    /// Joins the runs of one platform: the values are those of the newest run that has clocks, but the
    /// sleep is that of the newest run that has one.
    fn from_runs(mut runs: Vec<PlatformRun>, columns: &[&Field]) -> Self {
        runs.sort_by(|a, b| b.age.cmp(&a.age));
        let value = |(index, field): (usize, &&Field)| {
            if field.key == "runs" {
                return CellValue::from(runs.len() as u64);
            }
            let mut cells = runs.iter().map(|run| &run.cells[index]);
            let first = cells.next().cloned().unwrap_or(CellValue::Nothing);
            let mut others = cells.filter(|cell| field.key == "sleep_ns" && **cell != first);
            match first {
                CellValue::Nothing => others.next().cloned().unwrap_or(CellValue::Nothing),
                first => first,
            }
        };
        let cells = columns.iter().enumerate().map(value).collect();
        let runs = runs.into_iter().map(|run| run.link).collect();
        Self { cells, runs }
    }
}

impl Platforms {
    /// The columns of pages.
    pub fn columns() -> Vec<&'static Field> {
        let is_shown = |field: &&Field| {
            let places = [
                Visibility::Always,
                Visibility::Wide,
                Visibility::InDocuments,
            ];
            field.by_platform.is_some_and(|it| places.contains(&it))
        };
        fields().iter().filter(is_shown).collect()
    }

    /// Keeps what pages show of a report at an address.
    pub fn runs(report: &Report, href: &str) -> Vec<PlatformRun> {
        let columns = Self::columns();
        let path = Path::new(href.split('#').next().unwrap_or_default());
        PlatformRun::of_report(path, href, report, RowOf::Platform, &columns)
    }

    /// Groups the runs of pages, from so many reports.
    pub fn group(runs: Vec<PlatformRun>, reports: usize) -> Self {
        let columns = Self::columns();
        Self {
            rows: PlatformRow::group(runs, &columns),
            columns,
            reports,
        }
    }

    /// The numbers of platforms and reports, and what a row shows.
    pub fn summary(&self) -> String {
        format!(
            "{} from {}: a row per platform, with the figures of its newest run. Small figures are 95 % intervals.",
            counted(self.rows.len(), "platform"),
            counted(self.reports, "report")
        )
    }
}
