//! Sites of many reports: what stands out comes first, no node is lost, and the index works in a real browser.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use timermeter::model::{Bulk, Outcome, Report};
use timermeter::page::site::{self, Pages, Site, SiteError, Wanted};
use timermeter::report::json::dense;
use timermeter::report::read;

use crate::browser::in_browser;

/// A kept run of this program.
const KEPT: &str = "tests/data/xeon-2026-11-21.json";
/// Timers that a node of a large fleet has.
const FEW_TIMERS: usize = 3;
/// This many nodes differ; the others are like one of them.
const UNLIKE: usize = 22;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// A node of a fleet of two kinds; each costs a little more or less than the others.
fn node(base: &Report, number: usize) -> Report {
    let mut report = base.clone();
    report.created = "2026-11-20T12:00:00Z".into();
    report.platform.cpu.model = Some(["AMD EPYC 9R14", "Intel Xeon 8488C"][number % 2].into());
    report.platform.kernel.release = Some("6.1.0-28".into());
    report.platform.clocksource.current = Some("tsc".into());
    more_expensive(&mut report, 1.0 + 0.001 * (number * 7 % 11) as f64);
    report
}

fn more_expensive(report: &mut Report, times: f64) {
    for cost in report.timers.iter_mut().filter_map(|row| row.cost.as_mut()) {
        for figure in [&mut cost.median_ns, &mut cost.low_ns, &mut cost.high_ns] {
            *figure = figure.map(|ns| ns * times);
        }
    }
}

/// One of each oddity, by name, the gravest first.
const ODD: [&str; 4] = ["drifting", "fallen", "in-1970", "slow"];

fn oddity(report: &mut Report, name: &str) {
    match name {
        "drifting" => {
            let row = report.timers.iter_mut().find(|row| row.verdicts.is_some()).expect("it was judged");
            let verdicts = row.verdicts.as_mut().expect("it was judged");
            verdicts.stable.outcome = Outcome::Fail;
            verdicts.stable.finding = "it drifts by 40 ppm".into();
        }
        "fallen" => report.platform.clocksource.current = Some("hpet".into()),
        "in-1970" => report.created = "1970-01-01T00:02:00Z".into(),
        _ => more_expensive(report, 3.0),
    }
}

/// A kept run, without its bulk and without a fault of trust, so that nothing stands out by itself.
fn sound() -> Report {
    let mut report = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(KEPT)).expect("a kept run");
    for row in &mut report.timers {
        row.figures = None;
        let Some(verdicts) = &mut row.verdicts else { continue };
        verdicts.stable.allan = Bulk::default();
        verdicts.thread_safe.offsets.clear();
        for outcome in
            [&mut verdicts.monotonic.outcome, &mut verdicts.thread_safe.outcome, &mut verdicts.stable.outcome]
        {
            *outcome = Outcome::Pass;
        }
    }
    report
}

/// Writes a number of nodes, each into a folder of its own, and those that are odd.
fn fleet(base: &Report, place: &Path, nodes: usize) {
    let write = |name: &str, text: &str| {
        fs::create_dir_all(place.join(name)).unwrap();
        fs::write(place.join(name).join("report.json"), text).unwrap();
    };
    let texts: Vec<String> = (0..UNLIKE).map(|number| dense(&node(base, number))).collect();
    for number in 0..nodes {
        write(&format!("node-{number:05}"), &texts[number % UNLIKE]);
    }
    for (number, name) in ODD.iter().enumerate() {
        let mut report = node(base, number);
        oddity(&mut report, name);
        write(name, &dense(&report));
    }
}

fn published(reports: &Path, place: &Path, pages: Option<Pages>) -> Result<Site, SiteError> {
    site::publish(reports, place, Wanted { pages, ..Wanted::default() }, &|| ())
}

fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if path.is_dir() { pages_below(&path) } else { vec![path] };
    let files = entries.flat_map(of);
    files.filter(|path| path.extension().is_some_and(|ending| ending == "html")).collect()
}

/// The pages of the list of all nodes.
fn lists(site: &Path) -> Vec<PathBuf> {
    let is_list = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("nodes");
    pages_below(site).into_iter().filter(is_list).collect()
}

/// The names of the nodes that a page lists.
fn names(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let rows = text.split("<tr><th scope=\"row\" data-v=\"").skip(1);
    rows.filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect()
}

/// The links of a page to other files of the site.
fn links(page: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(page).unwrap();
    let hrefs = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let of_site = |href: &&str| !href.starts_with(['#', '.']) && !href.contains(':');
    let up = |href: &&str| href.starts_with("../");
    let all: Vec<&str> = hrefs.collect();
    let both = all.iter().filter(|href| of_site(href) || up(href));
    both.map(|href| page.parent().unwrap().join(href)).collect()
}

#[test]
fn what_stands_out_comes_first_and_no_link_is_dead() {
    let folder = folder();
    let (reports, place) = (folder.path().join("reports"), folder.path().join("site"));
    fleet(&sound(), &reports, 60);
    for pages in [Pages::Telling, Pages::All] {
        let made = published(&reports, &place, Some(pages)).unwrap();
        let fleet = made.fleet.expect("they are many");
        assert_eq!((made.reports, fleet.odd), (64, 4));
        assert_eq!(fleet.groups, 3, "two kinds of machines, and the one on hpet");
        let index = fs::read_to_string(place.join("index.html")).unwrap();
        let at = |text: &str| index.find(text).unwrap_or_else(|| panic!("{text}:\n{index}"));
        let order = ODD.map(|name| at(&format!("data-v=\"{name}\"")));
        assert!(
            order.is_sorted() && order[3] < at("id=\"groups\"") && at("id=\"groups\"") < at("id=\"quality\"")
        );
        assert!(index.contains("it has <code>hpet</code>"), "{index}");
        let all = pages_below(&place);
        for link in all.iter().flat_map(|page| links(page)) {
            assert!(link.is_file(), "{}", link.display());
        }
        // A page for each, or for the odd ones and one of each group.
        let count = pages_below(&place.join("reports")).len();
        assert_eq!(count, fleet.pages);
        assert_eq!(count, if pages == Pages::All { 64 } else { 4 + 2 }, "{fleet:?}");
        let nodes = fs::read_to_string(place.join("nodes.html")).unwrap();
        for number in 0..60 {
            assert!(nodes.contains(&format!("<bdi>node-{number:05}</bdi>")), "{number}");
        }
        let page = fs::read_to_string(place.join("reports/drifting/report.html")).unwrap();
        assert!(page.contains("It stands out") && page.contains("it drifts by 40 ppm"));
    }
}

#[test]
fn what_is_broken_costs_nobody_else_its_place() {
    let folder = folder();
    let (reports, place) = (folder.path().join("reports"), folder.path().join("site"));
    fleet(&sound(), &reports, 50);
    let text = fs::read_to_string(reports.join("node-00003/report.json")).unwrap();
    fs::write(reports.join("node-00003/report.json"), &text[..text.len() / 2]).unwrap();
    fs::write(reports.join("node-00004/report.json"), "").unwrap();
    // Two runs of one node, and a second node of the same name.
    for other in ["node-00005/2026-11-21.json", "rack-2/node-00006/report.json"] {
        fs::create_dir_all(reports.join(other).parent().unwrap()).unwrap();
        fs::write(reports.join(other), dense(&node(&sound(), 5))).unwrap();
    }
    let made = published(&reports, &place, None).unwrap();
    assert_eq!((made.reports, made.left_out.len()), (54, 2), "{:?}", made.left_out);
    let index = fs::read_to_string(place.join("index.html")).unwrap();
    assert!(index.contains("node-00003/report.json") && index.contains("node-00004/report.json"));
    let names = names(&place.join("nodes.html"));
    assert_eq!(names.len(), 54);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 54, "no two are called alike: {names:?}");
    for name in [
        "node-00005/2026-11-21",
        "node-00005/report",
        "node-00006/report",
        "rack-2/node-00006/report",
        "in-1970",
    ] {
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
}

#[test]
fn a_site_that_cannot_be_written_leaves_the_one_before() {
    let folder = folder();
    let (reports, place) = (folder.path().join("reports"), folder.path().join("site"));
    fleet(&sound(), &reports, 50);
    published(&reports, &place, None).unwrap();
    let index = fs::read(place.join("index.html")).unwrap();
    fs::write(place.join("groups/1.html"), "mine now").unwrap();
    fs::remove_dir_all(reports.join("slow")).unwrap();
    let error = published(&reports, &place, None).unwrap_err();
    assert!(matches!(error, SiteError::Changed(_)), "{error}");
    assert_eq!(fs::read(place.join("index.html")).unwrap(), index);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished stays");
}

/// What a script of a page told.
fn told(name: &str, page: &Path, fragment: &str, script: &str) -> Option<Value> {
    let told = in_browser(name, &fs::read_to_string(page).unwrap(), fragment, script)?;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["failures"], json!([]), "{told}");
    Some(told)
}

const ROWS: &str = "const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].filter((row) => !row.hidden);
    const names = (id) => rows(id).map((row) => row.querySelector('th').dataset.v);
    const type = (id, text) => { const field = document.getElementById(id); field.value = text;
        field.dispatchEvent(new Event('input')); };
    const shown = () => [...document.querySelectorAll('section[data-figure]')].filter((section) => !section.hidden)
        .map((section) => section.dataset.figure);";

#[test]
fn the_index_of_a_fleet_sorts_and_filters_in_a_browser() {
    let folder = folder();
    let (reports, place) = (folder.path().join("reports"), folder.path().join("site"));
    fleet(&sound(), &reports, 60);
    published(&reports, &place, None).unwrap();
    let script = ROWS.to_owned()
        + "told.first = document.querySelector('main table').id; told.odd = names('odd'); told.shown = shown();
           document.querySelector('#odd [data-key=odd-node]').click(); told.sorted = names('odd');
           document.querySelector('#groups [data-key=groups-nodes]').click();
           told.nodes = rows('groups').map((row) => Number(row.cells[1].textContent));
           type('filter', 'XEON tsc'); told.xeon = rows('groups').length; told.cost = rows('cost').length;
           type('filter', 'hpet'); told.hpet = [names('odd'), rows('groups').length]; type('filter', '');
           const figure = document.getElementById('figure'); figure.value = 'cost';
           figure.dispatchEvent(new Event('change')); told.turned = shown(); told.hash = location.hash;
           type('timers', 'coarse syscall');
           told.columns = [...document.querySelectorAll('#cost thead th')]
               .filter((head) => getComputedStyle(head).display !== 'none').length;
           const costs = () => rows('cost').map((row) => Number(row.cells[1].dataset.v));
           document.querySelector('#cost [data-key=c1]').click(); told.costs = costs();";
    let Some(told) = told("the index of a fleet", &place.join("index.html"), "", &script) else { return };
    assert_eq!((&told["first"], &told["odd"]), (&json!("odd"), &json!(ODD)));
    let mut sorted = ODD;
    sorted.sort_unstable();
    assert_eq!(told["sorted"], json!(sorted));
    assert_eq!(told["nodes"], json!([32, 31, 1]));
    assert_eq!((&told["xeon"], &told["cost"]), (&json!(1), &json!(1)));
    assert_eq!(told["hpet"], json!([["fallen"], 1]));
    assert_eq!((&told["shown"], &told["turned"]), (&json!(["quality"]), &json!(["cost"])));
    assert!(told["hash"].as_str().unwrap().contains("figure=cost"), "{told}");
    assert_eq!(told["columns"], json!(3), "the groups, and the timers that fit: {told}");
    let costs: Vec<f64> = serde_json::from_value(told["costs"].clone()).unwrap();
    assert!(costs.len() == 3 && costs.is_sorted(), "{costs:?}");
    // A link brings all of that back.
    let script = ROWS.to_owned() + "told.shown = shown(); told.odd = names('odd');";
    let again = self::told("links", &place.join("index.html"), "#figure=accuracy&filter=hpet", &script);
    let again = again.expect("as before");
    assert_eq!((&again["shown"], &again["odd"]), (&json!(["accuracy"]), &json!(["fallen"])));
}

#[test]
fn ten_thousand_reports_are_seen_in_a_browser() {
    const NODES: usize = 10_000;
    let folder = folder();
    let (reports, place) = (folder.path().join("reports"), folder.path().join("site"));
    let mut small = sound();
    small.timers.retain(|row| row.cost.is_some() && row.verdicts.is_some());
    small.timers.truncate(FEW_TIMERS);
    fleet(&small, &reports, NODES - ODD.len());
    let made = published(&reports, &place, None).unwrap();
    let fleet = made.fleet.expect("they are many");
    assert_eq!((made.reports, fleet.odd), (NODES, ODD.len()));
    for page in pages_below(&place) {
        let bytes = fs::metadata(&page).unwrap().len();
        assert!(bytes < 1_000_000, "{}: {bytes}", page.display());
    }
    let listed: Vec<String> = lists(&place).iter().flat_map(|page| names(page)).collect();
    assert_eq!(listed.len(), NODES);
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), NODES);
    for link in lists(&place).iter().flat_map(|page| links(page)) {
        assert!(link.is_file(), "{}", link.display());
    }
    let script = ROWS.to_owned()
        + "told.first = document.querySelector('main table').id; told.odd = names('odd');
           type('filter', 'slow'); told.slow = names('odd');
           document.querySelector('#groups [data-key=groups-nodes]').click();";
    let Some(told) = told("a large fleet", &place.join("index.html"), "", &script) else { return };
    assert_eq!((&told["first"], &told["odd"]), (&json!("odd"), &json!(ODD)));
    assert_eq!(told["slow"], json!(["slow"]));
    let script = ROWS.to_owned()
        + "told.all = rows('nodes').length; document.querySelector('#nodes [data-key=nodes-odd]').click();
           told.odd = names('nodes').slice(0, 4).sort(); type('filter', 'node-0042'); told.some = names('nodes');";
    let all = self::told("all nodes", &place.join("nodes.html"), "", &script).expect("as before");
    // The last of them is on another page.
    assert_eq!(all["all"], json!(1_000));
    assert_eq!(all["odd"].as_array().unwrap()[..3], json!(ODD[..3]).as_array().unwrap()[..]);
    let expected: Vec<String> = (420..430).map(|number| format!("node-{number:05}")).collect();
    let mut some: Vec<String> = serde_json::from_value(all["some"].clone()).unwrap();
    some.sort();
    assert_eq!(some, expected);
}
