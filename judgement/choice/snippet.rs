//! Generates code, in several languages, that measures an operation as a plan specifies: the least and
//! the mean of an operation that can be repeated, or the mean and percentiles of the requests of a service.

use super::clocks::RankedClock;
use super::language::{CODES, COMMON, Language};
use super::recipe::RecipeMethod;
use estimators::numbers::short_time;

/// Total duration of the counted runs with calls in nanoseconds; as many runs before them are not
/// counted: Java compiles a method after some ten thousand calls, Python specialises code after some
/// ten runs. *Judgement*.
const RUNS_NS: f64 = 2e8;
/// Largest number of counted runs with calls. *Judgement*: more make nothing warmer.
const MAX_RUNS: f64 = 1e5;
/// Requests of a service that are kept for percentiles. *Judgement*: a hundred are above the 99th.
const REQUESTS: u64 = 10_000;
/// Largest number of calls in a row in Python. *Judgement*: the difference of a turn, up to 5 ns, is
/// then below a tenth of [`TURN_NS`](super::clock_figures::TURN_NS) a call.
const MAX_UNROLLED: u64 = 1000;

/// The code that is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Its language; if there is none, the first that has code for the clock.
    pub language: Option<Language>,
    /// The requests of a service per second, if it times these, which cannot be repeated.
    pub rate_hz: Option<f64>,
    /// Whether it is a whole program.
    pub whole: bool,
}

/// Generates code that measures with the picked clock. `None` if there is no code for this clock or plan.
pub fn snippet(picked: &RankedClock, wanted: Wanted) -> Option<String> {
    let plan = picked.figures.plan?;
    let (calls, requests) = match plan.method {
        RecipeMethod::Single => (1, 0),
        RecipeMethod::Mean { requests } => (1, requests),
        RecipeMethod::Batch { calls } => (calls, 0),
    };
    let reads = |(language, clocks, _): &&(Language, &str, &str)| {
        let id = match language.runtime() {
            Some(_) => picked.id.rsplit(':').next().unwrap_or_default(),
            None => &picked.id,
        };
        wanted.language.is_none_or(|own| own == *language) && clocks.split(' ').any(|own| own == id)
    };
    let (language, _, own) = CODES.iter().find(reads)?;
    let code = Code { own, wanted };
    let text = code.part(if wanted.whole { "PROGRAM" } else { "CODE" });
    let mut text = text.replace("\n\n\n", "\n\n");
    if text.contains("CLOCK_ID") {
        text = text.replace("CLOCK_ID", clock_name(&picked.label)?);
    }
    for pair in code.part("WORDS").lines() {
        let (word, other) = pair.split_once(" → ")?;
        text = text.replace(word, other);
    }
    let turns = calls.div_ceil(MAX_UNROLLED);
    let unrolled = calls.div_ceil(turns);
    let calls = if *language == Language::Python {
        turns * unrolled
    } else {
        calls
    };
    let runs = (RUNS_NS / plan.campaign_ns).clamp(1.0, MAX_RUNS).ceil() as u64;
    let count = requests.max(REQUESTS);
    for (name, number) in [
        ("UNROLLED", unrolled),
        ("TURNS", turns),
        ("CALLS", calls),
        ("RUNS", runs),
        ("BOUND", 2 * runs),
        ("TWICE", 4 * runs),
        ("COUNT", count),
    ] {
        text = text.replace(name, &number.to_string());
    }
    let span_ns = wanted.rate_hz.map(|hertz| 1e9 * count as f64 / hertz);
    text = text.replace("SPAN", &short_time(span_ns.unwrap_or_default()));
    Some(text.trim_start().to_owned() + "\n")
}

/// The parts that stand for themselves in a text.
const PARTS: &str =
    "HEAD KEEP ARRAY COUNTER SLOT NUMBER SETUP MAIN BODY BEGIN OPERATE END SORT RESULTS EXAMPLE";

/// The code of a language while it is put together.
struct Code {
    own: &'static str,
    wanted: Wanted,
}

impl Code {
    /// A part with all parts in it.
    fn part(&self, name: &str) -> String {
        let begin = format!("@{name}\n");
        let find = |text: &'static str| text.split_once(&begin)?.1.split('@').next();
        let common = find(COMMON).unwrap_or_default();
        let text = find(self.own).unwrap_or(common).replace("COMMON\n", common);
        let unwanted = if self.wanted.rate_hz.is_some() {
            '-'
        } else {
            '+'
        };
        let mut lines = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with(unwanted)) {
            let line = line.strip_prefix(['-', '+']).unwrap_or(line);
            let indent = &line[..line.len() - line.trim_start().len()];
            let mut filled = match line.split_once(" <- ") {
                Some((code, _)) if self.wanted.whole && !["PROGRAM", "EXAMPLE"].contains(&name) => {
                    code.trim_end_matches(['/', '#', ' ']).to_owned()
                }
                _ => line.to_owned(),
            };
            if let (Some((result, value)), "RESULTS") = (line.split_once(' '), name) {
                filled = self
                    .part("PRINT")
                    .replace("NAME", result)
                    .replace("VALUE", value);
            }
            for part in PARTS.split(' ').filter(|part| line.contains(part)) {
                let inner = self.part(part).replace('\n', &format!("\n{indent}"));
                filled = filled.replace(part, &inner);
            }
            if line.is_empty() || !filled.trim().is_empty() {
                lines.push(filled);
            }
        }
        lines.join("\n")
    }
}

/// The name of a clock in C in a label, as in `clock_gettime(CLOCK_MONOTONIC)`.
fn clock_name(label: &str) -> Option<&str> {
    let is_letter = |c: char| c.is_ascii_uppercase() || c == '_';
    let mut words = label.split(|c: char| !is_letter(c));
    words.find(|word| word.starts_with("CLOCK_"))
}
