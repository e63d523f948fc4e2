//! The Allan deviation against an independent implementation, allantools. Without it there is
//! nothing to test.

use std::io::Write;
use std::process::{Command, Stdio};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use timermeter::rate::allan_deviation;

use crate::skipping;

/// Where `.ci/run` installs it.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/python");

const SCRIPT: &str = "\
import json, sys
import allantools
cases = json.load(sys.stdin)
found = []
for case in cases:
    taus, deviations, _, _ = allantools.oadev(case['phases'], rate=1.0 / case['spacing'], data_type='phase',
                                              taus=[n * case['spacing'] for n in case['strides']])
    found.append([float(d) for d in deviations])
json.dump(found, sys.stdout)
";

fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command
        .args(["-c", script])
        .env("PYTHONPATH", PACKAGES)
        .env("OPENBLAS_NUM_THREADS", "1");
    command
}

#[test]
#[ignore = "long"]
fn as_allantools_computes_it() {
    if !python("import allantools")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        skipping::not_installed(
            "`python3` has no allantools",
            "python3 -m pip install --target target/python allantools",
        );
        return;
    }
    let mut random = StdRng::seed_from_u64(7);
    let spacing = 0.5;
    let strides = [1_usize, 2, 4, 8, 16];
    let cases: Vec<Vec<f64>> = (0..20)
        .map(|case| {
            let (mut rate, mut phase) = (0.0, 0.0);
            (0..100 + 7 * case)
                .map(|_| {
                    // A random walk of the rate, and white noise of the phase.
                    rate += random.random_range(-1e-6..1e-6);
                    phase += spacing * rate;
                    phase + random.random_range(-1e-7..1e-7)
                })
                .collect()
        })
        .collect();
    let input: Vec<_> = cases
        .iter()
        .map(|phases| serde_json::json!({"phases": phases, "spacing": spacing, "strides": strides}))
        .collect();
    let mut child = python(SCRIPT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 was there just now");
    let text = serde_json::to_string(&input).expect("numbers");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("it reads all");
    let output = child.wait_with_output().expect("it ends");
    let theirs: Vec<Vec<f64>> = serde_json::from_slice(&output.stdout).expect("numbers");
    assert_eq!(theirs.len(), cases.len());
    for (phases, theirs) in cases.iter().zip(theirs) {
        assert_eq!(theirs.len(), strides.len());
        let samples: Vec<(f64, f64)> = phases
            .iter()
            .enumerate()
            .map(|(at, phase)| (at as f64 * spacing, *phase))
            .collect();
        for (stride, theirs) in strides.iter().zip(theirs) {
            let (_, ours) =
                allan_deviation(&samples, *stride as f64 * spacing).expect("long enough");
            assert!(
                (ours / theirs - 1.0).abs() < 1e-9,
                "{stride}: {ours} against {theirs}"
            );
        }
    }
}
