//! Timers that wait, as tables: what the terminal, the Markdown page and the spreadsheet share. And
//! conditions of a wait in a few words.
//!
//! Which timers that wait there is no reason to pass over: no other is both less late and cheaper.

mod facts;
mod tables;

pub use facts::{facts_of_period, facts_of_waits};

use super::notes::Notes;
use crate::model::{
    BackgroundLoad, Interval, Lateness, Report, USUAL_WAIT_NS, WaitConditions, WaitFigures,
    WaitRow, beats,
};
use crate::table::{Format, Style, Table, escape_markdown};
use crate::text::numbers::short_time;
use crate::text::{clipped, hang};

/// Narrower terminals have no room for what is not asked for first.
pub(super) const PHONE: usize = 60;

/// A table with what has to be said of it.
pub struct Section {
    /// What it is of.
    pub title: String,
    /// What has to be said of it.
    pub caption: String,
    /// The table, then the same with fewer and fewer columns; none where there are no figures.
    pub tables: Vec<Table<'static>>,
    /// The same for terminals of 40 columns, where it has one.
    pub phone: Option<Table<'static>>,
}

/// Whether a report is of timers that are read, or of none.
#[must_use]
pub fn is_read(report: &Report) -> bool {
    !report.timers.is_empty() || (report.waits.is_empty() && report.periods.is_empty())
}

/// Shows `see` what was found at each length; nothing, once, where there are no figures.
pub fn each_length<'a>(row: &'a WaitRow, mut see: impl FnMut(Option<&'a Lateness>)) {
    let lengths = row
        .figures
        .as_ref()
        .map_or(&[][..], |figures| &figures.lateness);
    lengths.iter().for_each(|late| see(Some(late)));
    if lengths.is_empty() {
        see(None);
    }
}

/// The tables of timers that wait, for pages, where notes stand with the timers.
#[must_use]
pub fn for_page(report: &Report) -> Vec<Section> {
    sections(report, &Notes::none())
}

/// The tables of timers that wait.
pub(super) fn sections(report: &Report, notes: &Notes) -> Vec<Section> {
    [
        tables::waits(report, notes),
        tables::lengths(report),
        tables::periods(report, notes),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Section {
    pub(super) fn on_terminal(&self, style: Style) -> String {
        let style = Style {
            width: Some(style.columns() as u16),
            ..style
        };
        let mut out = String::from("\n");
        hang(&mut out, "", "", &self.caption, style.columns());
        let fitting = self.tables.iter().find(|table| table.fits(style));
        let phone = self.phone.as_ref().filter(|_| style.columns() < PHONE);
        let fitting = fitting.or(phone).or(self.tables.last());
        out.extend(fitting.map(|table| table.on_terminal(style, &|_| "")));
        out
    }

    pub(super) fn markdown(&self) -> String {
        let table = self
            .tables
            .first()
            .map(|table| table.render(Format::Markdown))
            .unwrap_or_default();
        format!(
            "## {}\n\n{}\n\n{table}\n",
            self.title,
            escape_markdown(&self.caption)
        )
    }
}

/// Conditions in a few words each.
fn parts(conditions: &WaitConditions) -> [String; 4] {
    let load = match conditions.load {
        BackgroundLoad::None => "idle",
        BackgroundLoad::SameCpu => "busy CPU",
        BackgroundLoad::OtherCpu => "other CPU busy",
    };
    [
        conditions.slack_ns.map_or_else(
            || "no slack".into(),
            |ns| format!("slack {}", short_time(ns as f64)),
        ),
        format!("policy {}", clipped(&conditions.policy, 40)),
        load.into(),
        conditions
            .cpu
            .map_or_else(|| "any CPU".into(), |cpu| format!("CPU {cpu}")),
    ]
}

/// Those conditions by which some of `among` differ, or those that all of them share.
#[must_use]
pub fn in_short(own: &WaitConditions, among: &[&WaitConditions], shared: bool) -> String {
    let differ: [fn(&WaitConditions, &WaitConditions) -> bool; 4] = [
        |a, b| a.slack_ns != b.slack_ns,
        |a, b| a.policy != b.policy,
        |a, b| a.load != b.load,
        |a, b| a.cpu != b.cpu,
    ];
    let differs = differ.map(|differ| among.iter().any(|other| differ(own, other)));
    let told = parts(own)
        .into_iter()
        .zip(differs)
        .filter(|(_, differs)| *differs != shared);
    told.map(|(part, _)| part).collect::<Vec<_>>().join(", ")
}

/// An id with those of its conditions by which some of `among` differ. One that is not among them
/// could not be asked, and so has none.
#[must_use]
pub fn named(id: &str, own: &WaitConditions, among: &[&WaitConditions]) -> String {
    match in_short(own, among, false) {
        same if same.is_empty() || !among.contains(&own) => id.to_owned(),
        told => format!("{id} ({told})"),
    }
}

/// A quantile of lateness: its name, and where it stands.
pub type Tail = (&'static str, fn(&Lateness) -> Option<Interval>);

const TAILS: [Tail; 3] = [
    ("p99", |late| late.p99_ns),
    ("p90", |late| late.p90_ns),
    ("p50", |late| late.p50_ns),
];

/// The timers of a report that wait, ranked at one length.
pub struct Ranking<'a> {
    /// The length, in nanoseconds.
    pub request_ns: u64,
    /// The rarest latenesses that were seen often enough.
    pub tail: Tail,
    /// Those on the front first, then the others, each by their tail; what was not determined comes
    /// last.
    pub rows: Vec<Ranked<'a>>,
}

/// A timer in a ranking.
#[derive(Clone, Copy)]
pub struct Ranked<'a> {
    /// The timer.
    pub row: &'a WaitRow,
    /// How late it was at the length.
    pub lateness: Option<&'a Lateness>,
    /// Whether no other was clearly less late or cheaper without being clearly worse in the other.
    pub front: bool,
}

impl<'a> Ranking<'a> {
    /// Of all rows that have figures, at the usual length or the one nearest to it. `None` where
    /// there are none.
    #[must_use]
    pub fn of(report: &'a Report) -> Option<Self> {
        let rows = || {
            report
                .waits
                .iter()
                .filter_map(|row| Some((row, row.figures.as_ref()?)))
        };
        let lengths = rows().flat_map(|(_, figures)| figures.by_length());
        let request_ns = Lateness::nearest(lengths, USUAL_WAIT_NS)?.request_ns;
        let ranked = |(row, figures): (&'a WaitRow, &'a WaitFigures)| Ranked {
            row,
            lateness: figures
                .lateness
                .iter()
                .find(|late| late.request_ns == request_ns),
            front: false,
        };
        let mut all: Vec<Ranked> = rows().map(ranked).collect();
        let determined = |tail: &Tail| {
            all.iter()
                .filter(|row| row.lateness.and_then(tail.1).is_some())
                .count()
        };
        let most = determined(&TAILS[2]);
        let common = TAILS
            .into_iter()
            .position(|tail| 2 * determined(&tail) > most)
            .unwrap_or(2);
        let mut tail = TAILS[common];
        mark_front(&mut all, tail);
        // Those that others beat are waited for less often: a rarer one that all the rest have
        // tells these apart.
        let rarer = TAILS[..common].iter().find(|tail| {
            let front = || all.iter().filter(|ranked| ranked.front);
            front().count() > 0 && front().all(|ranked| ranked.lateness.and_then(tail.1).is_some())
        });
        let late = |ranked: &Ranked, tail: Tail| {
            ranked
                .lateness
                .and_then(tail.1)
                .map_or(f64::INFINITY, |known| known.value)
        };
        let others = tail;
        if let Some(&rarer) = rarer {
            tail = rarer;
            mark_front(&mut all, tail);
        }
        all.sort_by(|a, b| {
            let by = |tail| late(a, tail).total_cmp(&late(b, tail));
            b.front.cmp(&a.front).then(by(tail)).then(by(others))
        });
        Some(Self {
            request_ns,
            tail,
            rows: all,
        })
    }
}

/// Marks those on the front at that tail.
fn mark_front(all: &mut [Ranked], tail: Tail) {
    // What waits beside a busy thread is not up against what waits alone.
    let beside = |ranked: &Ranked| (ranked.row.conditions.load, ranked.row.conditions.cpu);
    let known: Vec<_> = all
        .iter()
        .map(|ranked| (beside(ranked), ranked.late_and_cost(tail)))
        .collect();
    for (ranked, (own_beside, own)) in all.iter_mut().zip(&known) {
        let rivals = known
            .iter()
            .filter(|(beside, _)| beside == own_beside)
            .filter_map(|(_, other)| *other);
        ranked.front = own.is_some_and(|own| !rivals.into_iter().any(|other| beats(other, own)));
    }
}

/// How late each timer that waits was, at the median and in nanoseconds, at the usual length or the
/// one nearest to it: named with its conditions where they differ.
#[must_use]
pub fn usual_lateness(report: &Report) -> Vec<(String, f64)> {
    let rows = || {
        report
            .waits
            .iter()
            .filter_map(|row| Some((row, row.figures.as_ref()?)))
    };
    let lengths = rows().flat_map(|(_, figures)| figures.by_length());
    let Some(usual) = Lateness::nearest(lengths, USUAL_WAIT_NS) else {
        return Vec::new();
    };
    let among: Vec<&WaitConditions> = rows().map(|(row, _)| &row.conditions).collect();
    let late = rows().filter_map(|(row, figures)| {
        let lateness = figures
            .lateness
            .iter()
            .find(|late| late.request_ns == usual.request_ns)?;
        let median = lateness
            .p50_ns
            .map(|known| known.value)
            .filter(|median| median.is_finite())?;
        Some((named(&row.id, &row.conditions, &among), median))
    });
    late.collect()
}

impl Ranked<'_> {
    /// Its tail and its CPU time a wait, in nanoseconds.
    fn late_and_cost(&self, tail: Tail) -> Option<[f64; 2]> {
        let lateness = self.lateness?;
        // Too early is as far off as too late.
        Some([tail.1(lateness)?.value.abs(), lateness.cpu_ns?.value])
    }
}
