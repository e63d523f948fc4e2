//! Builds a table with a row for each platform (the machine of reports, with its clock source):
//! the machine, the recommended clock, the verdict on its counter and a sleep of 1 ms.
//!
//! The figures of clocks are those of the newest run that has clocks, the sleep is that of the
//! newest run that has sleep primitives.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::document::Render;
use crate::fields::{Kind, cpu_name, field};
use crate::model::{
    Family, Interval, ProvenanceKind, Report, Status, TimerRow, Trust, USUAL_WAIT_NS, value_of,
};
use crate::report::{Collection, ReadError, slug};
use crate::table::Notation::{self, Count, Significant, Time};
use crate::table::{CellValue, Format, Style, Table, TableColumn};
use crate::text::counted;

/// The ids of the ordinary sleep, of which the first that was measured counts.
const SLEEPS: [&str; 2] = ["nanosleep", "std-sleep"];

/// The columns with the key and the heading, and the notation of numbers. On narrow terminals, the
/// columns with the largest number are omitted first; those from [`FOR_PROGRAMS`] on are in CSV and
/// JSON only.
const COLUMNS: [(&str, &str, Notation, u8); 28] = [
    ("node", "node", Significant, 2),
    ("cpu", "CPU core", Significant, 0),
    ("architecture", "architecture", Significant, 7),
    ("hypervisor", "hypervisor", Significant, 3),
    ("os", "OS", Significant, 6),
    ("kernel", "kernel", Significant, 3),
    ("clock_source", "clock source", Significant, 0),
    ("clock", "best clock", Significant, 0),
    ("cost_ns", "cost", Time, 0),
    ("cost_low_ns", "cost, low", Time, 9),
    ("cost_high_ns", "cost, high", Time, 9),
    ("amortised_ns", "amortised cost", Time, 1),
    ("resolution_ns", "resolution", Time, 0),
    ("resolution_low_ns", "resolution, low", Time, 9),
    ("resolution_high_ns", "resolution, high", Time, 9),
    ("counter", "counter", Significant, 2),
    ("counter_trust", "trust", Significant, 1),
    ("syscall_ns", "by system call", Time, 2),
    ("syscall_low_ns", "by system call, low", Time, 9),
    ("syscall_high_ns", "by system call, high", Time, 9),
    ("sleep_ns", "sleep of 1 ms", Time, 1),
    ("sleep_low_ns", "sleep of 1 ms, low", Time, 9),
    ("sleep_high_ns", "sleep of 1 ms, high", Time, 9),
    ("runs", "runs", Count, 4),
    ("last", "last", Significant, 3),
    ("provenance", "provenance", Significant, 4),
    ("source", "source", Significant, 8),
    ("report", "report", Significant, 9),
];
/// The number of the columns that only programs read.
const FOR_PROGRAMS: u8 = 9;

/// Values of columns by their keys, except the ends of intervals, which the figures hold.
type PlatformCells = HashMap<&'static str, CellValue>;

/// What a row keeps of a report, so that ten thousand reports need not fit in memory.
pub struct PlatformRun {
    /// Whether it was published, the CPU, the platform, the architecture, the instance, the clock
    /// source and the node: runs with equal keys are of the same platform.
    key: (bool, [String; 6]),
    created: String,
    machine: PlatformCells,
    /// `None` if the report has no clocks.
    clocks: Option<PlatformCells>,
    sleep: Option<Interval>,
    link: RunLink,
}

/// A link to a report.
#[derive(Clone, Debug)]
pub struct RunLink {
    /// The address or the path of the report.
    pub href: String,
    /// The name of the run, and the kind of its timers.
    pub about: String,
}

/// The rows of the table.
pub struct Platforms {
    /// The rows in display order.
    pub rows: Vec<PlatformRow>,
    /// The errors of files that could not be read.
    pub refused: Vec<ReadError>,
}

/// A platform.
pub struct PlatformRow {
    cells: PlatformCells,
    /// The runs, the one with the figures of clocks first, then the newest first.
    pub runs: Vec<RunLink>,
}

impl PlatformRun {
    /// Keeps what the table needs of a report; `href` is its address.
    pub fn new(report: &Report, href: String) -> Self {
        let platform = &report.platform;
        let is_published = report.provenance.kind == ProvenanceKind::Published;
        let product = platform.product.clone().unwrap_or_default();
        let source = platform.clocksource.current.clone().unwrap_or_default();
        let node = report.node.clone().unwrap_or_default();
        // A machine without a CPU name is called by its model.
        let model = platform.cpu.name().and(platform.product.clone());
        let host: Vec<String> = model
            .into_iter()
            .chain(platform.hypervisor.clone())
            .collect();
        let of_report = |key| (key, field(key).map(|field| field.value(report)).into());
        let architecture = &platform.cpu.architecture;
        Self {
            key: (
                is_published,
                [
                    cpu_name(platform),
                    slug(platform),
                    architecture.clone(),
                    product,
                    source,
                    node,
                ],
            ),
            created: report.created.clone(),
            machine: PlatformCells::from([
                of_report("node"),
                ("cpu", cpu_name(platform).into()),
                ("architecture", architecture.into()),
                (
                    "hypervisor",
                    Some(host.join(" · "))
                        .filter(|text| !text.is_empty())
                        .into(),
                ),
                of_report("os"),
                of_report("kernel"),
                of_report("clock_source"),
                (
                    "last",
                    field("date").map(|field| field.value(report)).into(),
                ),
                of_report("provenance"),
                ("source", (&report.provenance.source).into()),
            ]),
            clocks: best_clock(report).map(|clock| clock_cells(report, clock)),
            sleep: sleep_ns(report),
            link: RunLink::new(report, href),
        }
    }
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

/// The recommended clock; without one, that of the highest Quality or else of the least cost.
fn best_clock(report: &Report) -> Option<&TimerRow> {
    let cost = |row: &TimerRow| value_of(row.cost_ns).or(row.amortised_ns);
    let measured = || report.timers.iter().filter(|row| cost(row).is_some());
    let to_time = report.assessment.to_time.as_ref();
    let recommended = to_time.and_then(|id| measured().find(|row| row.id == *id));
    let best = || measured().find(|row| row.quality.is_some());
    let cheapest = || {
        let costs = measured().filter_map(|row| Some((cost(row)?, row)));
        costs.min_by(|(a, _), (b, _)| a.total_cmp(b))
    };
    recommended.or_else(best).or_else(|| Some(cheapest()?.1))
}

fn clock_cells(report: &Report, clock: &TimerRow) -> PlatformCells {
    let limit = value_of(clock.step_or_limit_ns());
    let step = clock.resolution_ns.map(CellValue::from);
    // The raw counter: of the clocks that read it by an instruction, the one of the shortest id,
    // because the others add a fence or a library.
    let reads_counter = |row: &&TimerRow| {
        let family = row
            .properties
            .as_ref()
            .and_then(|properties| properties.family);
        family == Some(Family::CpuCounter) && row.runtime == "native" && row.status == Status::Ok
    };
    let counter = report
        .timers
        .iter()
        .filter(reads_counter)
        .min_by_key(|row| row.id.len());
    let trust = counter
        .and_then(|row| row.trust.as_ref())
        .map(Trust::in_short);
    let variant = clock
        .properties
        .as_ref()
        .and_then(|properties| properties.syscall_variant.as_ref());
    let by_call = report.timers.iter().find(|row| Some(&row.id) == variant);
    PlatformCells::from([
        ("clock", (&clock.id).into()),
        ("call", (&clock.label).into()),
        ("cost_ns", clock.cost_ns.into()),
        ("amortised_ns", clock.amortised_ns.into()),
        (
            "resolution_ns",
            step.unwrap_or_else(|| CellValue::bounded(limit, true)),
        ),
        ("counter", counter.map(|row| row.id.as_str()).into()),
        ("counter_trust", trust.into()),
        ("syscall_ns", by_call.and_then(|row| row.cost_ns).into()),
    ])
}

/// The median duration of an ordinary sleep of 1 ms, in nanoseconds; `None` if it is unknown.
fn sleep_ns(report: &Report) -> Option<Interval> {
    let rows = || report.waits.iter();
    let mut lengths = SLEEPS
        .iter()
        .find_map(|id| rows().find(|row| row.id == *id))?
        .figures
        .as_ref()?
        .lateness
        .iter();
    let late = lengths.find(|late| late.request_ns as f64 == USUAL_WAIT_NS)?;
    Some(late.p50_ns?.map(|late| USUAL_WAIT_NS + late))
}

impl Platforms {
    /// Reads the reports at `paths`, files and folders.
    pub fn read(paths: &[PathBuf]) -> Self {
        let found = Collection::read(paths, |path, report| {
            PlatformRun::new(&report, path.display().to_string())
        });
        let runs = found.reports.into_iter().map(|kept| kept.content);
        Self {
            refused: found.refused,
            ..Self::group(runs.collect())
        }
    }

    /// Groups runs by platform: measured platforms first, each in the order of their names.
    pub fn group(runs: Vec<PlatformRun>) -> Self {
        let mut groups: BTreeMap<(bool, [String; 6]), Vec<PlatformRun>> = BTreeMap::new();
        for run in runs {
            groups.entry(run.key.clone()).or_default().push(run);
        }
        Self {
            rows: groups
                .into_values()
                .filter_map(PlatformRow::from_runs)
                .collect(),
            refused: Vec::new(),
        }
    }

    /// The number of reports.
    pub fn reports(&self) -> usize {
        self.rows.iter().map(|row| row.runs.len()).sum()
    }

    /// The numbers of platforms and reports, and what a row shows.
    pub fn summary(&self) -> String {
        format!(
            "{} from {}: a row per platform, with the figures of its newest run.",
            counted(self.rows.len(), "platform"),
            counted(self.reports(), "report")
        )
    }

    /// The table of all columns for programs, otherwise of those that have a value.
    fn table(&self, format: Format) -> Table<'_> {
        let is_for_programs = matches!(format, Format::Csv | Format::Json);
        let mut shown = COLUMNS.to_vec();
        shown.retain(|(key, _, _, priority)| {
            let has_value = |row: &PlatformRow| row.is_known(key);
            is_for_programs || *priority < FOR_PROGRAMS && self.rows.iter().any(has_value)
        });
        let column = |(key, heading, notation, omission_priority)| {
            let column = match notation {
                Significant => TableColumn::left(heading),
                notation => TableColumn::right(heading, notation),
            };
            TableColumn {
                key,
                omission_priority,
                folds: true,
                ..column
            }
        };
        let mut table = Table::new(shown.iter().copied().map(column).collect());
        for row in &self.rows {
            let cells = shown.iter().map(|(key, ..)| row.value(key));
            table.rows.push(cells.collect());
        }
        table
    }
}

impl PlatformRow {
    /// Builds the row of runs of one platform; `None` without runs.
    fn from_runs(mut runs: Vec<PlatformRun>) -> Option<Self> {
        runs.sort_by(|a, b| b.created.cmp(&a.created));
        let shown = runs
            .iter()
            .position(|run| run.clocks.is_some())
            .unwrap_or_default();
        let sleep = runs.iter().find_map(|run| run.sleep);
        let mut cells = runs.first()?.machine.clone();
        cells.extend(runs[shown].clocks.clone().unwrap_or_default());
        cells.extend(PlatformCells::from([
            ("sleep_ns", sleep.into()),
            ("runs", u64::try_from(runs.len()).unwrap_or_default().into()),
            ("report", (&runs[shown].link.href).into()),
        ]));
        runs[..=shown].rotate_right(1);
        Some(Self {
            cells,
            runs: runs.into_iter().map(|run| run.link).collect(),
        })
    }

    /// The cell of the column with this key, formatted for people.
    pub fn text(&self, key: &str) -> String {
        COLUMNS
            .iter()
            .find(|(column, ..)| *column == key)
            .map_or_else(String::new, |(_, _, notation, _)| {
                TableColumn::right("", *notation).format_cell(&self.value(key))
            })
    }

    /// Whether the value of the column with this key is known.
    pub fn is_known(&self, key: &str) -> bool {
        self.value(key) != CellValue::Nothing
    }

    /// The value of the column with this key, by which a page sorts rows.
    pub fn value(&self, key: &str) -> CellValue {
        let ends = |suffix: &str| -> Option<(f64, f64)> {
            let key = key.strip_suffix(suffix)?.to_owned() + "_ns";
            match self.cells.get(key.as_str())? {
                CellValue::Figure(figure) => figure.ends(),
                _ => None,
            }
        };
        match (ends("_low_ns"), ends("_high_ns")) {
            (Some((low, _)), _) => low.into(),
            (_, Some((_, high))) => high.into(),
            (None, None) => self.cells.get(key).cloned().into(),
        }
    }
}

impl Render for Platforms {
    fn write(&self, format: Format, style: Style, output: &mut dyn Write) -> io::Result<()> {
        let table = self.table(format);
        if format == Format::Table && style.width.is_some() {
            return output.write_all(table.on_terminal(style, &|_| "").as_bytes());
        }
        table.write(format, output)
    }
}
