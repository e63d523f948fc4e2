//! Tests the verdicts on simulated counters: each fault is identified, sound counters pass, and
//! recipes for the rate have their documented errors.

use std::collections::BTreeSet;
use std::ops::Range;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{CounterFault, CounterMachine, CounterModel};
use timermeter::campaign::counter::{CounterPlan, observe};
use timermeter::counter::{CounterInput, CounterJudgement, CounterVerdict, RecipeRow, judge};
use timermeter::findings::counter::CounterCase;
use timermeter::model::Severity;
use timermeter::model::{CounterFacts, KernelLog, Platform};
use timermeter::rate::counter::{CounterFindings, EXPECTED_FOR_DETECTION, TestedEffect, findings};
use timermeter::text::numbers::significant;
use timers::raw::RateRecipe;

const PLAN: CounterPlan = CounterPlan {
    readings: 40_000,
    ..CounterPlan::USUAL
};

/// A machine with the clock source `hpet`. The kernel does not vouch for the counter, so the
/// verdict depends on observations only.
fn platform() -> Platform {
    let mut platform = Platform::default();
    platform.cpu.architecture = "x86_64".into();
    platform.cpu.invariant_tsc = Some(true);
    (platform.tsc.constant, platform.tsc.nonstop) = (Some(true), Some(true));
    platform.clocksource.current = Some("hpet".into());
    platform.clocksource.available = ["tsc", "hpet"].map(str::to_owned).to_vec();
    platform
}

fn judged(found: &CounterFindings) -> CounterJudgement {
    let log = KernelLog::Read {
        from_the_start: true,
        distrust: Vec::new(),
        rate_hz: None,
    };
    let (platform, facts) = (
        platform(),
        CounterFacts {
            log,
            ..CounterFacts::default()
        },
    );
    let ids = ["rdtsc", "rdtsc-lfence"];
    judge(&CounterInput {
        ids,
        evidence: CounterCase {
            platform: &platform,
            facts: &facts,
            found,
        },
        rows: &[],
        recipes: &[],
    })
}

fn found(model: &CounterModel, seed: u64) -> CounterFindings {
    let mut machine = CounterMachine::new(model.clone(), seed);
    findings(&observe(&mut machine, &PLAN), None)
}

/// A realistic machine with 2 to 8 CPUs and a counter of 24 MHz to 4 GHz.
fn model(random: &mut StdRng) -> CounterModel {
    let hz: f64 = if random.random_bool(0.2) {
        random.random_range(24e6..1e8)
    } else {
        random.random_range(1e9..4e9)
    };
    CounterModel {
        read_ns: random.random_range(5.0..25.0),
        clock_ns: random.random_range(30.0..60.0),
        handoff_ns: random.random_range(40.0..250.0),
        ..CounterModel::sound(hz.round(), random.random_range(2..9))
    }
}

fn smallest_detectable(tested: Option<TestedEffect>) -> f64 {
    tested.expect("the effect was tested").detectable
}

/// A random time in the middle half of the observation, so the effect lasts long enough.
fn moment(random: &mut StdRng, watched_ns: f64) -> f64 {
    watched_ns * random.random_range(0.25..0.75)
}

/// Adds a fault to the counter. It is three times as large as the smallest fault of its kind that
/// is detectable according to the findings for the sound machine.
type Plant = fn(&mut CounterModel, &CounterFindings, &mut StdRng);

/// The kinds of faults, each with the code of the expected finding.
const KINDS: [(&str, Plant); 11] = [
    ("stuck", |model, _, _| {
        model.faults.push(CounterFault::Stuck)
    }),
    ("order", |model, sound, _| {
        let share = 3.0 * EXPECTED_FOR_DETECTION / sound.backward.1 as f64;
        model.faults.push(CounterFault::Backward {
            share,
            ns: 3.0 * (model.read_ns + 1e9 / model.hz),
        });
    }),
    ("one-rate", |model, sound, random| {
        let cpu = random.random_range(0..model.cpus);
        let smallest = sound
            .cpu_rates
            .iter()
            .map(|rate| rate.tested.detectable)
            .fold(0.0, f64::max);
        model.faults.push(CounterFault::Rate {
            cpu,
            ppm: either(3.0 * smallest, random),
        });
    }),
    ("cpus", |model, sound, random| {
        let cpu = random.random_range(0..model.cpus);
        let smallest = sound
            .offsets
            .iter()
            .map(|offset| 2.0 * offset.uncertainty_ns)
            .fold(0.0, f64::max);
        model.faults.push(CounterFault::Offset {
            cpu,
            ns: either(3.0 * smallest, random),
        });
    }),
    ("between-cpus", |model, sound, _| {
        let between = sound.across_cpus.expect("there are several CPUs");
        let share = 3.0 * EXPECTED_FOR_DETECTION / between.handoffs as f64;
        model.faults.push(CounterFault::Between {
            share,
            ns: 3.0 * between.usual_ns,
        });
    }),
    ("asleep", |model, sound, _| {
        model.faults.push(CounterFault::Asleep {
            ppm: 3.0 * smallest_detectable(sound.sleep_rate_loss),
        })
    }),
    ("leap", |model, sound, random| {
        let at_ns = moment(random, sound.observed_ns);
        model.faults.push(CounterFault::Leap {
            at_ns,
            ns: 3.0 * smallest_detectable(sound.sudden_gain),
        });
    }),
    ("freeze", |model, sound, random| {
        let at_ns = moment(random, sound.observed_ns);
        model.faults.push(CounterFault::Freeze {
            at_ns,
            ns: 3.0 * smallest_detectable(sound.sudden_loss),
        });
    }),
    ("change", |model, sound, random| {
        let at_ns = moment(random, sound.observed_ns);
        model.faults.push(CounterFault::Change {
            at_ns,
            ppm: either(3.0 * smallest_detectable(sound.lasting_change), random),
        });
    }),
    ("declared", |model, sound, random| {
        let off = either(3.0 * smallest_detectable(sound.declared), random);
        model.declared_hz = Some(model.hz * (1.0 - off * 1e-6));
    }),
    ("cost", |model, _, _| model.read_ns = 3.0 * model.clock_ns),
];

fn either(size: f64, random: &mut StdRng) -> f64 {
    if random.random() { size } else { -size }
}

/// The code of the first problem, or of the first note if there is no problem.
fn code_of(counter: &CounterJudgement) -> Option<&str> {
    let notes = ["declared", "cost"];
    let first = &counter.findings.first()?;
    let note = counter.findings.iter().find(|finding| {
        finding.severity == Severity::Note && notes.contains(&finding.code.as_str())
    });
    Some(if first.severity == Severity::Problem {
        &first.code
    } else {
        &note?.code
    })
}

#[test]
fn identifies_each_fault_kind() {
    assert_faults_identified(0..3);
}

#[test]
#[ignore = "takes ten seconds"]
fn identifies_faults_of_many_seeds() {
    assert_faults_identified(3..20);
}

fn assert_faults_identified(seeds: Range<u64>) {
    let mut all = Vec::new();
    for (kind, plant) in KINDS {
        let mut missed = Vec::new();
        for seed in seeds.clone() {
            let mut random = StdRng::seed_from_u64(1_000 + seed);
            let mut model = model(&mut random);
            let sound = found(&model, seed);
            plant(&mut model, &sound, &mut random);
            let counter = judged(&found(&model, 7_000 + seed));
            if code_of(&counter) != Some(kind) {
                missed.push((
                    seed,
                    code_of(&counter).map(str::to_owned),
                    model.faults.clone(),
                ));
            }
        }
        all.extend(missed.into_iter().map(|missed| (kind, missed)));
    }
    // If nine random events are expected, none occurs with a probability of 1 in 8000.
    assert!(all.is_empty(), "{all:?}");
}

#[test]
fn sound_counters_are_safe() {
    for seed in 0..20 {
        let mut random = StdRng::seed_from_u64(seed);
        let counter = judged(&found(&model(&mut random), seed));
        assert_eq!(
            counter.verdict,
            CounterVerdict::Safe,
            "seed {seed}: {:?}",
            counter.findings
        );
    }
}

#[test]
fn rate_is_within_its_uncertainty() {
    for seed in 0..20 {
        let mut random = StdRng::seed_from_u64(seed);
        let model = model(&mut random);
        let rate = found(&model, seed).rate.expect("the counter has a rate");
        let off = (1e9 / rate.ns_per_tick / model.hz - 1.0).abs();
        assert!(
            off <= rate.uncertainty,
            "seed {seed}: off by {off}, known to {}",
            rate.uncertainty
        );
    }
}

fn recipe(id: &str) -> RateRecipe {
    let recipe = RateRecipe::ALL.into_iter().find(|recipe| recipe.id == id);
    recipe.expect("the recipe is known")
}

/// The errors of the rates that 20 processes on this machine find, in ppm.
fn run_recipe(recipe: RateRecipe, model: &CounterModel) -> RecipeRow {
    run_recipe_times(20, recipe, model)
}

fn run_recipe_times(starts: u64, recipe: RateRecipe, model: &CounterModel) -> RecipeRow {
    let outcomes: Vec<_> = (0..starts)
        .map(|seed| (recipe.ns_per_tick)(&mut CounterMachine::new(model.clone(), seed)))
        .map(|outcome| outcome.map_err(|why| why.to_string()))
        .collect();
    RecipeRow::from_outcomes(recipe.id, recipe.label, &outcomes, (1e9 / model.hz, 0.0))
}

fn worst(row: &RecipeRow) -> f64 {
    row.worst_ppm.expect("a process finds a rate").abs()
}

#[test]
fn recipe_errors_match_documentation() {
    let model = CounterModel {
        declared_hz: Some(2_596e6),
        ..CounterModel::sound(2_595_961_234.0, 4)
    };
    // Redis uses whole ticks per microsecond: 2595.961 becomes 2595.
    let row = run_recipe(recipe("redis"), &model);
    assert!(
        (worst(&row) - 1e6 * 0.961_234 / 2_595.0).abs() < 1.0,
        "{row:?}"
    );
    // Redis takes the rate in the name of the processor, because it differs by less than 0.1 % from
    // the rate that 10 ms show.
    let named = CounterModel {
        named_mhz: Some(2_594),
        ..model.clone()
    };
    let row = run_recipe(recipe("redis"), &named);
    assert!(
        (worst(&row) - 1e6 * 1.961_234 / 2_594.0).abs() < 1.0,
        "{row:?}"
    );
    // Valkey reads whole microseconds and calculates with a fraction of 24 bits.
    for id in ["valkey", "valkey-9.1.0"] {
        let row = run_recipe(recipe(id), &model);
        assert!(
            row.without == 0 && (1.0..300.0).contains(&worst(&row)),
            "{row:?}"
        );
    }
    let row = run_recipe(recipe("declared"), &model);
    assert!(
        (row.median_ppm.unwrap() + 1e6 * (1.0 - 2_595.961_234 / 2_596.0)).abs() < 0.1,
        "{row:?}"
    );
    // Ten estimates of some microseconds each soon agree to 10⁻⁴, and the result is hardly better.
    let row = run_recipe(recipe("converging"), &model);
    assert!(
        row.without == 0 && (1.0..500.0).contains(&worst(&row)),
        "{row:?}"
    );
    for (recipe, most) in [
        (recipe("quanta"), 100.0),
        (recipe("two-windows"), 20.0),
        (recipe("kernel"), 0.01),
    ] {
        let row = run_recipe(recipe, &model);
        assert!(row.without == 0 && worst(&row) < most, "{row:?}");
    }
}

/// Counters with one fault each, large enough to matter, and the name of the fault in the table.
/// The measuring thread moves to another CPU every millisecond on average.
fn faults() -> [(&'static str, CounterModel); 17] {
    let sound = CounterModel {
        read_ns: 20.0,
        clock_ns: 60.0,
        moved_every_ns: 1e6,
        declared_hz: Some(2.596e9),
        ..CounterModel::sound(2_595_961_234.0, 2)
    };
    let with = |fault| CounterModel {
        faults: vec![fault],
        ..sound.clone()
    };
    let at_ns = 2e4;
    [
        ("none", sound.clone()),
        (
            "nothing is declared",
            CounterModel {
                declared_hz: None,
                kernel_ns_per_tick: None,
                ..sound.clone()
            },
        ),
        (
            "declared 500 ppm too fast",
            CounterModel {
                declared_hz: Some(1.0005 * sound.hz),
                ..sound.clone()
            },
        ),
        (
            "the name says 2.597 GHz",
            CounterModel {
                named_mhz: Some(2_597),
                ..sound.clone()
            },
        ),
        (
            "another clock source (`kvm-clock`)",
            CounterModel {
                clock_source: "kvm-clock",
                ..sound.clone()
            },
        ),
        (
            "one CPU 1 µs behind",
            with(CounterFault::Offset { cpu: 1, ns: -1e3 }),
        ),
        (
            "one CPU 0.5 s behind",
            with(CounterFault::Offset { cpu: 1, ns: -0.5e9 }),
        ),
        (
            "one CPU 0.5 s ahead",
            with(CounterFault::Offset { cpu: 1, ns: 0.5e9 }),
        ),
        (
            "one CPU 100 ppm faster",
            with(CounterFault::Rate { cpu: 1, ppm: 100.0 }),
        ),
        (
            "1 % of readings 1 µs too low",
            with(CounterFault::Backward {
                share: 0.01,
                ns: 1e3,
            }),
        ),
        (
            "1 % of readings after another CPU's 1 µs too low",
            with(CounterFault::Between {
                share: 0.01,
                ns: 1e3,
            }),
        ),
        (
            "2 ms forward 20 µs after the start",
            with(CounterFault::Leap { at_ns, ns: 2e6 }),
        ),
        (
            "stops for 2 ms 20 µs after the start",
            with(CounterFault::Freeze { at_ns, ns: 2e6 }),
        ),
        (
            "1000 ppm slower while the thread sleeps",
            with(CounterFault::Asleep { ppm: 1e3 }),
        ),
        (
            "1000 ppm faster from 20 µs on",
            with(CounterFault::Change { at_ns, ppm: 1e3 }),
        ),
        (
            "1000 ppm faster after a minute",
            with(CounterFault::Change {
                at_ns: 6e10,
                ppm: 1e3,
            }),
        ),
        ("does not move", with(CounterFault::Stuck)),
    ]
}

/// The effect of a fault on the starts of a program: the largest error of a measured second,
/// relative to the true rate without the fault.
fn outcome(row: &RecipeRow) -> String {
    let refused = row.without;
    let minus = |figure: &str| figure.replace('-', "−");
    let worst = row.worst_ppm.map(|ppm| match ppm {
        ppm if ppm <= -999_999.5 => "time stands still".to_owned(),
        ppm if ppm >= 1e6 => "time races".to_owned(),
        ppm if ppm.abs() < 0.05 => "0".to_owned(),
        ppm if ppm.abs() >= 1e4 => minus(&format!("{} %", significant(1e-4 * ppm, 2))),
        ppm => minus(&significant(ppm, 2)),
    });
    match (worst, row.why.as_deref()) {
        (None, Some(why)) if why.contains("would not start") => "does not start".into(),
        (None, _) => "refuses".into(),
        (Some(worst), _) if refused == 0 => worst,
        (Some(worst), _) => format!("{worst}; {refused} of {} refuse", row.processes),
    }
}

/// `TIMERMETER_UPDATE=1 cargo test --test main counter::` writes the table.
#[test]
fn documented_recipe_faults_are_current() {
    const BEGIN: &str = "<!-- faults of recipes -->\n";
    const END: &str = "<!-- end of the faults of recipes -->\n";
    let mut table = format!(
        "| fault | {} |\n|---|{}\n",
        RateRecipe::ALL
            .map(|recipe| format!("`{}`", recipe.id))
            .join(" | "),
        "---|".repeat(RateRecipe::ALL.len())
    );
    for (fault, model) in faults() {
        // A stuck counter gives the same outcome at each start.
        let is_stuck = model.faults.contains(&CounterFault::Stuck);
        let starts = if is_stuck { 1 } else { 10 };
        let cells =
            RateRecipe::ALL.map(|recipe| outcome(&run_recipe_times(starts, recipe, &model)));
        table += &format!("| {fault} | {} |\n", cells.join(" | "));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/counter.md");
    let page = std::fs::read_to_string(path).expect("the page is readable");
    let (before, rest) = page.split_once(BEGIN).expect("the table has a beginning");
    let (documented, after) = rest.split_once(END).expect("the table has an end");
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        let page = format!("{before}{BEGIN}{table}{END}{after}");
        std::fs::write(path, page).expect("the page is writable");
    } else {
        assert_eq!(documented, table, "the table of docs/counter.md");
    }
    // The table contains each kind of fault. A new kind needs a row, and a number here.
    let number = |fault: &CounterFault| match fault {
        CounterFault::Offset { .. } => 0,
        CounterFault::Rate { .. } => 1,
        CounterFault::Backward { .. } => 2,
        CounterFault::Between { .. } => 3,
        CounterFault::Leap { .. } => 4,
        CounterFault::Freeze { .. } => 5,
        CounterFault::Asleep { .. } => 6,
        CounterFault::Change { .. } => 7,
        CounterFault::Stuck => 8,
    };
    let rows = faults();
    let all = rows.iter().flat_map(|(_, model)| &model.faults);
    let kinds: BTreeSet<i32> = all.map(number).collect();
    assert!(kinds.into_iter().eq(0..9), "{rows:?}");
}
