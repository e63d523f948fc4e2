//! Finds what makes a report invalid: values out of range, duplicate rows, or more values than fit
//! in memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::fields::{Kind, Range, fields, fields_of, rows};
use crate::limits::MAX_TIMERS;
use crate::model::{Distribution, ProcessFigures, Report};
use crate::text::json_error;

/// The ranges of all numbers of a report by a word of their key, as in `steal_share`; those with
/// other keys are in [`Range::INTEGER`]. The range of a [field](crate::fields) may be narrower.
const RANGES: [(&str, Range); 7] = [
    ("share", Range::SHARE),
    ("quality", Range::SHARE),
    ("spread", Range::SHARE),
    ("early", Range::SHARE),
    ("hz", Range::RATE.for_ends()),
    ("processes", Range::PROCESSES),
    ("bin number", Range::BIN),
];

/// Describes the first invalid value or duplicate row of a report; `None` if the report is valid.
#[must_use]
pub fn find_invalid(report: &Report) -> Option<String> {
    let invalid = || first_error(&serde_json::to_string(report).ok()?).map(|it| json_error(&it));
    find_invalid_row_or_field(report).or_else(invalid)
}

/// Describes the first number of a text that is out of range, with its position; `None` if there is
/// none. Keys that `report`, read from the text, does not have are of another version: any number
/// that exists is in their range.
pub(super) fn find_invalid_number(report: &Report, text: &str) -> Option<String> {
    let error = first_error(text)?;
    let mut problem = json_error(&error);
    if error.is_data() {
        let of_known_key = find_invalid(report)?;
        if of_known_key != problem {
            return Some(of_known_key);
        }
    }
    problem += &format!(" (line {}, column {})", error.line(), error.column());
    Some(problem)
}

/// The first number of a document that is out of range, or what is not JSON.
fn first_error(document: &str) -> Option<serde_json::Error> {
    let mut document = serde_json::Deserializer::from_str(document);
    Numbers("").deserialize(&mut document).err()
}

/// Reads all numbers below a key, and refuses the first that is out of range.
#[derive(Clone, Copy)]
struct Numbers<'a>(&'a str);

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for Numbers<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<(), D::Error> {
        document.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        let key = self.0;
        let mut ranges = RANGES.iter();
        let range = ranges.find(|(word, _)| key.split('_').any(|part| part == *word));
        let range = range.map_or(Range::INTEGER, |(_, range)| *range);
        if range.contains(number) {
            return Ok(());
        }
        Err(E::custom(format!(
            "{key} is {number:?}; it has to be {range}"
        )))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            // The keys of a histogram are the numbers of its bins, those of a finding are names.
            if let ("bins", Ok(bin)) = (self.0, key.parse()) {
                Numbers("bin number").visit_f64::<A::Error>(bin)?;
            }
            let is_part = ["value", "low", "high", "step", "at-most"].contains(&&*key);
            let has_names = ["bins", "values"].contains(&self.0);
            let key = if is_part || has_names { self.0 } else { &*key };
            map.next_value_seed(Numbers(key))?;
        }
        Ok(())
    }
}

/// Describes the first invalid value of a field, or a duplicate row.
pub(super) fn find_invalid_row_or_field(report: &Report) -> Option<String> {
    let in_report = fields()
        .iter()
        .find_map(|field| field.describe_invalid_in_report(report));
    let in_rows = || {
        Kind::ALL
            .into_iter()
            .find_map(|kind| find_invalid_row(report, kind))
    };
    in_report.or_else(in_rows)
}

fn find_invalid_row(report: &Report, kind: Kind) -> Option<String> {
    let mut identities = HashSet::new();
    rows(report, kind).into_iter().find_map(|row| {
        if !identities.insert(row.identity()) {
            return Some(format!(
                "two {} are '{}'; names are unique",
                kind.in_words(),
                row.name()
            ));
        }
        if kind == Kind::Periods && row.request_ns() == Some(0) {
            return Some(format!("'{}' has a period of 0", row.name()));
        }
        // A sleep primitive has values for each length, and each length is checked.
        row.by_length().into_iter().find_map(|at_length| {
            let clock = at_length.clock();
            let costs = || clock?.distribution.as_ref();
            let problem = fields_of(kind)
                .find_map(|field| field.describe_invalid_in_row(at_length))
                .or_else(|| find_invalid_costs(costs()?))
                .or_else(|| find_invalid_process(&clock?.processes))?;
            Some(format!("'{}': {problem}", at_length.name_with_length()))
        })
    })
}

/// Describes what is invalid about the costs of single processes; `None` if nothing is.
fn find_invalid_costs(costs: &Distribution) -> Option<String> {
    let lists = [
        ("distribution.process_ns", &costs.process_ns),
        ("distribution.process_cycles", &costs.process_cycles),
    ];
    let [count, with_cycles] = lists.map(|(_, list)| list.len());
    if with_cycles != count && with_cycles > 0 {
        return Some(format!(
            "distribution.process_cycles has {with_cycles} values; it has to have {count}, as many as process_ns"
        ));
    }
    lists.into_iter().find_map(|(key, list)| {
        let invalid = list.iter().find(|&&cost| !Range::ANY.contains(cost))?;
        Some(format!(
            "{key} has {invalid:?}; it has to be {}",
            Range::ANY
        ))
    })
}

/// Describes what is invalid about the figures of single processes; `None` if nothing is.
fn find_invalid_process(processes: &[ProcessFigures]) -> Option<String> {
    processes.iter().find_map(|process| {
        let figures = [
            ("width", process.width),
            ("cost_ns", process.cost_ns),
            ("amortised_ns", Some(process.amortised_ns)),
            ("amortised_cycles", process.amortised_cycles),
            ("spread", process.spread),
        ];
        let mut figures = figures.into_iter();
        let (key, value) =
            figures.find(|(_, value)| value.is_some_and(|value| !Range::ANY.contains(value)))?;
        let value = value.unwrap_or_default();
        Some(format!(
            "processes.{key} has {value:?}; it has to be {}",
            Range::ANY
        ))
    })
}

/// The largest number of timers in a report: twice [`MAX_TIMERS`], because an agent may report as
/// many unavailable timers as it hosts.
pub const MAX_ROWS: usize = 2 * MAX_TIMERS;
/// The largest number of values in a report. A report of the largest size
/// ([`MAX_REPORT_BYTES`](crate::input::MAX_REPORT_BYTES)) has as many if each takes ten bytes; in
/// reports of this program a value takes more.
pub const MAX_VALUES: usize = 1 << 20;

/// Describes the limit that a text exceeds, before it is parsed; `None` if it exceeds none. The
/// rows of a text that exceeds a limit would take a hundred times its size in memory.
///
/// Counting characters needs no memory: a comma separates two values, and each timer has one key
/// `"status"`.
pub(super) fn find_exceeded_limit(text: &str) -> Option<String> {
    if text.bytes().filter(|&byte| byte == b',').count() >= MAX_VALUES {
        return Some(format!(
            "it has more than {MAX_VALUES} values, which no report has"
        ));
    }
    let timers = text.matches("\"status\"").count();
    (timers > MAX_ROWS).then(|| format!("it has more than {MAX_ROWS} timers, which no report has"))
}

#[cfg(test)]
mod tests {
    use crate::report::parse;
    use crate::report::read::tests::SMALL;

    /// A report of a clock with these costs of single processes.
    fn with_costs(lists: &str) -> String {
        let row = format!(
            r#"{{"id":"a","label":"","runtime":"native","status":"ok","findings":[],
            "distribution":{{"modes":[],"within_ns":1,"between_ns":null,"tail_share":0,{lists}}}}}"#
        );
        SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row}]"))
    }

    fn costs(ns: &str, cycles: &str) -> String {
        with_costs(&format!(
            r#""process_ns":[{ns}],"process_cycles":[{cycles}]"#
        ))
    }

    #[test]
    fn refuses_numbers_out_of_range() {
        let platform =
            |more: &str| SMALL.replace(r#""kernel":{}"#, &format!(r#""kernel":{{}},{more}"#));
        let bins = |bins: &str| {
            let row = format!(
                r#"{{"id":"a","label":"","runtime":"native","status":"ok","means":"blocks","conditions":{{"policy":"other","load":"none"}},
                "figures":{{"steps":[],"staircase":[],"processes":1,"waits":9,"lateness":[{{"request_ns":9,"waits":9,"max_ns":1,"early":0,
                "earliest_ns":0,"error_ns":1,"histogram":{{"bins":{bins}}}}}]}}}}"#
            );
            SMALL.replace("\"timers\":[]", &format!("\"timers\":[],\"waits\":[{row}]"))
        };
        let counts = |more: &str| {
            format!(
                r#"{{"intervals":1,"batched_calls":1,"single_calls":1,"backward_steps":0,{more}}}"#
            )
        };
        let observed = |more: &str| {
            let row = format!(
                r#"{{"id":"a","label":"","runtime":"native","status":"ok","observations":{}}}"#,
                counts(more)
            );
            SMALL.replace("\"timers\":[]", &format!("\"timers\":[{row}]"))
        };
        let load = |minutes: &str| {
            platform(&format!(
                r#""load":{{"one_minute":1,"five_minutes":{minutes},"fifteen_minutes":1}}"#
            ))
        };
        for (text, words) in [
            (
                platform(r#""steal_share":1e308"#),
                "steal_share is 1e308; it has to be from 0 to 1",
            ),
            (
                platform(r#""steal_share":-1e308"#),
                "steal_share is -1e308; it has to be from 0 to 1",
            ),
            (
                load("1e308"),
                "five_minutes is 1e308; it has to be from -1.84",
            ),
            (
                observed(r#""processes":4294967295,"disturbed_processes":0"#),
                "'a': processes is 4294967295.0; it has to be from 0 to 1e6",
            ),
            (
                observed(r#""processes":9,"disturbed_processes":4294967295"#),
                "disturbed_processes is 4294967295.0; it has to be from 0 to 1e6 (line ",
            ),
            (
                bins(r#"{"4294967295":1}"#),
                "bin number is 4294967295.0; it has to be from 0 to 400",
            ),
            (
                SMALL.replace(
                    "\"frequency\":{",
                    "\"frequency\":{\"effective_hz_after\":1e300,",
                ),
                "effective_hz_after is 1e300; it has to be from 0 to 1e12",
            ),
        ] {
            let error = parse(&text, "r.json").expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        }
        let all_valid = [
            platform(r#""steal_share":0.5,"waiting":{"timer_slack_ns":18446744073709551615}"#),
            observed(
                r#""processes":300,"disturbed_processes":0,"dropped_windows":{"shared-core":14}"#,
            ),
            bins(r#"{"0":1,"361":2}"#),
        ];
        for text in all_valid {
            parse(&text, "r.json").expect("it is valid");
        }
    }

    #[test]
    fn unknown_keys_have_no_range() {
        let with =
            |more: &str| SMALL.replace(r#""kernel":{}"#, &format!(r#""kernel":{{}},{more}"#));
        let unknown = r#""turbo_share":37,"later":{"many_processes":[1e300,-1e30],"wait_hz":-5}"#;
        parse(&with(unknown), "r.json").expect("a later version may write it");
        // The known keys after unknown ones have their ranges.
        for (known, words) in [
            (r#""steal_share":2"#, "steal_share is 2.0; it has"),
            (
                r#""load":{"one_minute":1,"five_minutes":1e308,"fifteen_minutes":1}"#,
                "five_minutes is 1e308; it has",
            ),
        ] {
            let text = with(&format!("{unknown},{known}"));
            let error = parse(&text, "r.json").expect_err(known).to_string();
            assert!(error.contains(words), "{error}");
        }
        for (more, words) in [
            (r#""later":[1e999]"#, "number out of range (line 3, column "),
            (r#""later":"\ud800""#, "(line 3, column "),
        ] {
            let error = parse(&with(more), "r.json").expect_err(more).to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn takes_costs_of_processes() {
        for valid in [
            with_costs(r#""process_ns":[8.4725,-0.01]"#),
            costs("8.4725,8.4749", "31.4568,31.2624"),
            costs(&["8"; 4096].join(","), ""),
        ] {
            assert!(parse(&valid, "r.json").is_ok(), "{valid}");
        }
    }

    #[test]
    fn refuses_invalid_costs_of_processes() {
        for (text, words) in [
            (
                costs("8,1e300", ""),
                "'a': distribution.process_ns has 1e300; it has to be from -1e18 to 1e18",
            ),
            (
                costs("8,9", "30,-2e18"),
                "distribution.process_cycles has -2e18; it has to be from",
            ),
            (
                costs("8,9", "30"),
                "distribution.process_cycles has 1 values; it has to have 2, as many as process_ns",
            ),
            (
                costs("", "30"),
                "distribution.process_cycles has 1 values; it has to have 0",
            ),
            (costs("8,null", ""), "invalid type: null"),
        ] {
            let error = parse(&text, "r.json").unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
