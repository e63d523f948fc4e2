//! The recipes for the rate of the counter, on this machine. `check --counter`: `counter_at_boot`.

use predicates::str::contains;

use super::run;

#[test]
fn recipe_finds_rate_or_reason() {
    for id in [
        "redis",
        "valkey",
        "valkey-9.1.0",
        "declared",
        "converging",
        "quanta",
        "two-windows",
        "kernel",
    ] {
        let assert = run(&format!("counter-recipe {id}"));
        let output = assert.get_output();
        if output.status.success() {
            let ns: f64 = String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse()
                .expect("a number");
            assert!(ns >= 0.0, "{id}: {ns}");
        } else {
            assert_eq!(output.status.code(), Some(1), "{id}");
            assert!(!output.stderr.is_empty(), "{id}");
        }
    }
    run("counter-recipe guessing")
        .code(2)
        .stderr(contains("no recipe"));
}
