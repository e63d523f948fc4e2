//! A fleet over time: one folder of reports, parted by their dates.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, timermeter};

/// A folder with the reports of a simulated fleet of two days a week apart, and those two.
fn runs(folder: &Folder) -> [String; 3] {
    timermeter(&["selftest", "--fleet", "40", "--seed", "5", "--save", &folder.arg("fleet")]).success();
    fs::create_dir(folder.file("runs")).unwrap();
    for name in ["before", "after"] {
        fs::rename(folder.file(&format!("fleet/{name}")), folder.file(&format!("runs/{name}"))).unwrap();
    }
    ["runs", "runs/before", "runs/after"].map(|name| folder.arg(name))
}

#[test]
fn sides_by_date_are_those_of_two_folders() {
    let folder = Folder::new();
    let [runs, before, after] = runs(&folder);
    let folders = json(&timermeter(&["compare", &before, &after, "--format", "json"]).success());
    for since in ["2026-11-16", "2026-11-16T06:30:00Z"] {
        let dates = json(&timermeter(&["compare", &runs, "--since", since, "--format", "json"]).success());
        for part in ["nodes", "figures", "where", "unlike", "answers"] {
            assert_eq!(dates[part], folders[part], "{part}");
        }
        assert!(dates["since"].as_str().unwrap().starts_with("2026-11-16T0"), "{}", dates["since"]);
    }
    assert_eq!(folders.get("since"), None);
    timermeter(&["compare", &runs, "--since", "2026-11-16", "--fail-if", "cost[monotonic]>5%"]).code(3);
    let text = printed(&timermeter(&["compare", &runs, "--since", "2026-11-16"]).success());
    assert!(text.contains("40 nodes before 2026-11-16T00:00:00Z and since"), "{text}");
    assert!(text.contains("cost over time") && text.contains('|'), "{text}");
    let markdown =
        printed(&timermeter(&["compare", &runs, "--since", "2026-11-16", "--format", "markdown"]).success());
    assert!(markdown.contains("| group or node |"), "{markdown}");
}

#[test]
fn trends_tell_what_nodes_and_groups_cost() {
    let folder = Folder::new();
    let [runs, ..] = runs(&folder);
    let args = ["compare", &runs, "--since", "2026-11-16", "--all", "--format", "json"];
    let trends = json(&timermeter(&args).success())["trends"].clone();
    assert_eq!(trends["bucket_hours"], 24);
    let list = |of: &str| trends[of].as_array().expect("a list").clone();
    assert_eq!(list("nodes").len(), 40);
    let nodes: u64 = list("groups").iter().map(|group| group["nodes"].as_u64().unwrap()).sum();
    assert_eq!(nodes, 40);
    for trend in list("nodes").iter().chain(&list("groups")) {
        let points = trend["points"].as_array().unwrap();
        let sides: Vec<bool> = points.iter().map(|point| point["since"].as_bool().unwrap()).collect();
        assert_eq!(sides, [false, true], "{trend}");
        assert!(points[0]["percent"].as_f64().unwrap().abs() < 5.0, "{trend}");
        assert!(points[1]["begins"].as_str().unwrap().starts_with("2026-11-20T"), "{trend}");
    }
}

#[test]
fn an_empty_side_and_what_has_no_dates_are_refused() {
    let folder = Folder::new();
    let [runs, before, after] = runs(&folder);
    let since = |place: &str, when: &str| timermeter(&["compare", place, "--since", when]);
    since(&runs, "2026-11-13").code(4).stderr(contains("no report was made before 2026-11-13T00:00:00Z"));
    since(&runs, "2026-11-21")
        .code(4)
        .stderr(contains("no report was made since 2026-11-21T00:00:00Z").and(contains("2026-11-20T")));
    since(&before, "30d").code(4);
    since(&runs, "yesterday").code(2).stderr(contains("as in 30d or 12h"));
    since(&runs, "0d").code(2);
    since(&runs, "99999999d").code(2).stderr(contains("before 1970"));
    since(&folder.arg("fleet/truth.json"), "30d").code(2).stderr(contains("is no folder"));
    timermeter(&["compare", &before, &after, "--since", "30d"]).code(2).stderr(contains("name one"));
    timermeter(&["compare", &runs, "--since", "30d", "--", &after]).code(2);
    // A clock that was never set is of neither side.
    let file = fs::read_dir(&after).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"2026-", "\"1970-", 1)).unwrap();
    let told = timermeter(&["compare", &runs, "--since", "2026-11-16", "--format", "json"]).success();
    let nodes = json(&told.stderr(contains("1 report tells no time")))["nodes"].clone();
    assert_eq!([&nodes["both"], &nodes["only_old"]], [39, 1].map(Value::from).each_ref());
}
