//! Judges the resolution of simulated clocks with all kinds of steps.

use std::collections::BTreeMap;
use std::io::Write;

use estimators::figures::resolution;
use estimators::model::Estimate;
use estimators::resolution::Step;
use reporting::format::{Format, Render, Style};
use reporting::parallel;
use serde::Serialize;
use simulate::observer::is_findable;
use simulate::population::{SteppedClock, steps};
use simulate::{Truth, coverage};
use timermeter::campaign::sampling::CampaignPlan;
use timermeter::commands::CommandError;

use super::{Args, DEFAULT_COUNT, MAX_STANDARD_ERRORS, print, progress, table};

/// The number of clocks that the table lists.
const MAX_LISTED: usize = 40;

/// The results for the clocks of one group.
#[derive(Clone, Default, Serialize)]
struct Group {
    clocks: u32,
    /// Clocks whose true step lies outside the interval with an error above 1 %.
    wrong: u32,
    /// Clocks whose step is determined.
    determined: u32,
    /// Clocks whose interval contains the true step.
    covered: u32,
    /// Clocks without a step that has a bound below the truth.
    low_bounds: u32,
    /// Clocks whose step an ideal observer finds.
    findable: u32,
    /// Those of them whose step is not determined.
    refused: u32,
}

#[derive(Serialize)]
struct Outcome {
    seed: u64,
    figures: &'static str,
    all: Group,
    groups: BTreeMap<String, Group>,
    required: Required,
    passed: bool,
    /// A sentence for each unmet requirement.
    failures: Vec<String>,
    /// The clocks with a wrong step or bound, and those whose step was refused.
    misses: Vec<String>,
}

/// What is required of the search for steps.
#[derive(Clone, Copy, Debug, Serialize)]
struct Required {
    /// The largest share of wrong steps.
    wrong: f64,
    /// The largest share of wrong steps in a group.
    wrong_per_group: f64,
    /// The smallest coverage of the intervals.
    covered: f64,
    /// The largest share of refusals among the clocks whose step an ideal observer finds.
    refused: f64,
}

const REQUIRED: Required = Required {
    wrong: 0.003,
    wrong_per_group: 0.01,
    covered: coverage::REQUIRED_OVERALL,
    refused: 0.03,
};

/// Judges the steps and prints the outcome.
///
/// # Errors
/// If a requirement is not met.
pub fn run(args: &Args, output: &mut dyn Write) -> Result<(), CommandError> {
    let plan = if args.quick {
        CampaignPlan::QUICK
    } else {
        // Further processes only narrow the intervals of costs.
        CampaignPlan {
            max_processes: CampaignPlan::DEFAULT.processes + CampaignPlan::DEFAULT.brief,
            ..CampaignPlan::DEFAULT
        }
    };
    let clocks = steps(args.count.unwrap_or(DEFAULT_COUNT) as usize, args.seed);
    let progress = progress(clocks.len());
    let judged = parallel::map(&clocks, |clock| {
        judge(clock, &plan).inspect(|_| progress.inc(1))
    });
    progress.finish_and_clear();
    let (mut all, mut groups, mut misses) = (Group::default(), BTreeMap::new(), Vec::new());
    for (number, (clock, judged)) in clocks.iter().zip(judged).enumerate() {
        let (one, found) = judged.map_err(|fault| {
            CommandError::Failed(format!("cannot probe a simulated timer: {fault}"))
        })?;
        all.add(&one);
        for group in &clock.groups {
            groups
                .entry(group.clone())
                .or_insert_with(Group::default)
                .add(&one);
        }
        if one.wrong + one.low_bounds + one.refused > 0 {
            misses.push(format!(
                "{}: {}: #{number} {found}",
                match (one.wrong, one.low_bounds) {
                    (1, _) => "wrong",
                    (_, 1) => "bound",
                    _ => "refused",
                },
                clock.groups.join(", ")
            ));
        }
    }
    let failures = failures(&all, &groups);
    let outcome = Outcome {
        seed: args.seed,
        figures: plan.name,
        all,
        groups,
        required: REQUIRED,
        passed: failures.is_empty(),
        failures,
        misses,
    };
    print((&outcome, &outcome.failures), args.format, show, output)
}

impl Group {
    fn add(&mut self, other: &Self) {
        for (sum, count) in [
            (&mut self.clocks, other.clocks),
            (&mut self.wrong, other.wrong),
            (&mut self.determined, other.determined),
            (&mut self.covered, other.covered),
            (&mut self.low_bounds, other.low_bounds),
            (&mut self.findable, other.findable),
            (&mut self.refused, other.refused),
        ] {
            *sum += count;
        }
    }
}

/// Returns the result for one clock, and a description.
fn judge(clock: &SteppedClock, plan: &CampaignPlan) -> timers::Answer<(Group, String)> {
    let case = &clock.case;
    let (trace, _) = case.probe(plan)?;
    let truth = Truth::of_timer(&case.timer, &case.surroundings).resolution;
    // In ticks of the timer.
    let truth = truth.unwrap_or(f64::NAN) / case.timer.unit;
    let findable = is_findable(truth, &trace);
    let mut one = Group {
        clocks: 1,
        findable: findable.into(),
        ..Group::default()
    };
    let found = match resolution(&trace) {
        Step::Resolved { step, rule } => {
            let Estimate { value, low, high } = step;
            // A raw counter may run faster or slower than declared.
            let covered = low * (1.0 - 1e-3) <= truth && truth <= high * (1.0 + 1e-3);
            one.determined = 1;
            one.covered = covered.into();
            one.wrong = (!covered && (value / truth - 1.0).abs() > 0.01).into();
            format!("{value:.4} [{low:.4}, {high:.4}] by {rule:?}")
        }
        Step::AtMost { bound, reason } => {
            one.low_bounds = (bound < 0.99 * truth).into();
            one.refused = findable.into();
            format!("at most {bound:.4}: {reason}")
        }
        Step::Unmoved => {
            one.refused = findable.into();
            "unmoved".into()
        }
    };
    let cost = case.timer.base / case.timer.unit / truth;
    let described = format!(
        "{found}; truth {truth:.4}, cost {cost:.2} steps, {:?}, {:?}, reference {}",
        case.timer.jitter, case.timer.updates, case.reference.name
    );
    Ok((one, described))
}

fn failures(all: &Group, groups: &BTreeMap<String, Group>) -> Vec<String> {
    let above = |name: &str, what: &str, part: u32, of: u32, most: f64| {
        let count = f64::from(of);
        let chance = MAX_STANDARD_ERRORS * (most * (1.0 - most) * count).sqrt();
        (f64::from(part) > most * count + chance.max(1.0)).then(|| {
            format!(
                "{name}: {part} of {of} {what}; {:.1} % are allowed",
                100.0 * most
            )
        })
    };
    let mut failures = Vec::new();
    failures.extend(above(
        "all",
        "steps are wrong",
        all.wrong,
        all.clocks,
        REQUIRED.wrong,
    ));
    failures.extend(above(
        "all",
        "steps are refused",
        all.refused,
        all.findable,
        REQUIRED.refused,
    ));
    failures.extend(above(
        "all",
        "intervals do not contain the step",
        all.determined - all.covered,
        all.determined,
        1.0 - REQUIRED.covered,
    ));
    failures.extend(groups.iter().filter_map(|(name, group)| {
        let most = REQUIRED.wrong_per_group;
        above(name, "steps are wrong", group.wrong, group.clocks, most)
    }));
    failures
}

fn show(outcome: &Outcome, output: &mut dyn Write) -> Result<(), CommandError> {
    let mut rows = table(&[
        "clocks",
        "number",
        "wrong",
        "found",
        "covered",
        "low bound",
        "findable",
        "refused",
    ]);
    let all = ("all".to_owned(), outcome.all.clone());
    for (name, group) in outcome.groups.iter().chain([(&all.0, &all.1)]) {
        let counts = [
            group.clocks,
            group.wrong,
            group.determined,
            group.covered,
            group.low_bounds,
            group.findable,
            group.refused,
        ];
        let counts = counts.map(|count| count.to_string().into());
        rows.push([name.as_str().into()].into_iter().chain(counts).collect());
    }
    write!(output, "{}", rows.rendered(Format::Table, Style::default()))?;
    for miss in outcome.misses.iter().take(MAX_LISTED) {
        writeln!(output, "{miss}")?;
    }
    Ok(())
}
