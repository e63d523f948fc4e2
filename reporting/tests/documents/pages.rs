//! Tests of the web pages: their content, and their scripts in headless Chromium if it is
//! installed.

use std::fs;
use std::path::Path;

use estimators::model::Report;
use reporting::fields::Row;
use reporting::format::{Format, Render, Style};
use reporting::page::render;
use reporting::page::site;
use reporting::plot::{plots, ranking};
use reporting::report::read;
use serde_json::json;

use crate::browser::in_browser;
use crate::sample::{nothing_determined, report};
use crate::steering::steers_nothing;

#[test]
fn pages_escape_agent_text() {
    let mut hostile = report();
    for row in &mut hostile.timers {
        row.runtime = "\"><img src=x onerror=alert(1)>".to_owned();
    }
    let script = "</style></script><script>alert(2)</script>";
    let values = estimators::findings::values! { message: script };
    hostile.findings[0].values.extend(values);
    let left_out = ["'<b>.json' is no report".to_owned()];
    let [one, both] = [vec![hostile.clone()], vec![hostile, nothing_determined()]]
        .map(|reports| render(&reports, &left_out).unwrap());
    assert!(one.contains("&#60;script&#62;"), "the label is shown");
    for page in [one, both] {
        // Only the script of the page, and the label as text.
        for (text, count) in [("<script", 1), ("<img", 0), ("<b>", 0)] {
            assert_eq!(page.matches(text).count(), count, "{text}");
        }
        steers_nothing(&page);
    }
}

#[test]
fn page_needs_no_other_files() {
    let page = render(&[report()], &[]).unwrap();
    let before_script = page.split("<script>").next().unwrap();
    // The label of an agent contains an address as text.
    let text = before_script.replace("http://evil", "");
    for outside in [
        "http://",
        "https://",
        "@import",
        "url(",
        "rel=\"stylesheet\"",
    ] {
        assert!(!text.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn draws_plots_of_a_clock() {
    let report = report();
    let titles: Vec<&str> = plots(Row::Clock(&report.timers[0]))
        .iter()
        .map(|plot| plot.title)
        .collect();
    assert_eq!(titles, ["Intervals over work", "Single reads"]);
}

const PLOT_CSS: &str = include_str!("../../templates/plot.css");

#[test]
fn picture_in_readme_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let report = folder.join("reports/amd-epyc-zen-4-kvm-debian-12/2026-11-26/report.json");
    let plot = ranking(&read(&report).unwrap(), (760, 470))
        .unwrap()
        .to_string();
    let (head, marks) = plot.split_once('>').unwrap();
    let drawn =
        format!("{head} xmlns=\"http://www.w3.org/2000/svg\"><style>{PLOT_CSS}</style>{marks}\n");
    let kept = folder.join("docs/ranking.svg");
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(&kept, &drawn).unwrap();
    }
    let is_current = fs::read_to_string(kept).unwrap() == drawn;
    assert!(is_current, "run this test with TIMERMETER_UPDATE=1");
}

#[test]
fn colours_have_contrast() {
    let css = [PLOT_CSS, include_str!("../../templates/page.css")].concat();
    // The relative luminance (WCAG 2.2, the darkest tones a little too bright) of each colour, in light and in
    // dark pages.
    let colours = |name: &str| -> Vec<f64> {
        let name = format!("--{name}: #");
        let declared = css.split(&name).skip(1);
        let channel = |text: &str| {
            let share = f64::from(u8::from_str_radix(text, 16).unwrap()) / 255.0;
            ((share + 0.055) / 1.055).powf(2.4)
        };
        let luminance = |text: &str| {
            let [red, green, blue] = [0, 2, 4].map(|at| channel(&text[at..at + 2]));
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let whole = declared.filter(|text| text.as_bytes()[6] == b';');
        whole.map(luminance).collect()
    };
    for (text, grounds, least) in [
        ("ink", "ground panel band note", 7.0),
        ("dim", "ground panel", 4.5),
        ("link", "ground panel", 4.5),
        ("data", "ground panel band", 4.5),
        ("median", "panel", 4.5),
    ] {
        for ground in grounds.split(' ') {
            let contrast = |(a, b): (f64, f64)| (a.max(b) + 0.05) / (a.min(b) + 0.05);
            let pairs = colours(text).into_iter().zip(colours(ground));
            let good = pairs.filter(|pair| contrast(*pair) >= least);
            assert_eq!(good.count(), 2, "{text} on {ground}");
        }
    }
}

fn write(report: &Report, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, report.rendered(Format::Json, Style::default())).unwrap();
}

#[test]
fn site_has_index_and_pages() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (reports, destination) = (folder.path().join("reports"), folder.path().join("site"));
    write(&report(), &reports.join("amd/2026-11-20/report.json"));
    let mut other = report();
    other.platform.cpu.model = Some("Another <CPU> & \"more\"".to_owned());
    write(&other, &reports.join(r"a b&\..\c.json"));
    fs::write(reports.join("broken.json"), "{").unwrap();
    let site = site::publish(&reports, &destination, &|| ()).unwrap();
    assert_eq!((site.reports, site.left_out.len()), (2, 1));
    let index = fs::read_to_string(destination.join("index.html")).unwrap();
    assert!(
        index.contains("broken.json") && index.contains("Another"),
        "{index}"
    );
    let links = index.split("href=\"").map(|rest| rest.split('"').next());
    let pages = links.flatten().filter(|link| link.starts_with("reports/"));
    let pages: Vec<&str> = pages.collect();
    assert_eq!(pages.len(), 2, "a row for each platform: {pages:?}");
    for page in pages {
        let page = page
            .replace("%20", " ")
            .replace("%26", "&")
            .replace("%5C", r"\");
        let text = fs::read_to_string(destination.join(&page)).unwrap();
        let (_, nav) = text.split_once("<nav").unwrap();
        let home = nav.split('"').find(|word| word.ends_with("index.html"));
        let page = destination.join(page);
        let home = page.with_file_name(home.unwrap()).canonicalize().unwrap();
        assert_eq!(home, destination.join("index.html").canonicalize().unwrap());
        read(&page.with_extension("json")).unwrap();
    }
    // An existing folder is never replaced.
    let within = reports.join("site");
    for (to, words) in [(&destination, "name a new folder"), (&within, "outside")] {
        let error = site::publish(&reports, to, &|| ()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    write(&report(), &reports.join("amd/2026-11-20/report.JSON"));
    let twice = site::publish(&reports, &folder.path().join("twice"), &|| ()).unwrap_err();
    assert!(
        twice.to_string().contains("two reports have the address"),
        "{twice}"
    );
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "a temporary folder remains");
}

const IDS: &str =
    "const ids = () => [...document.querySelectorAll('#r0-0 tbody tr')].filter((row) => !row.hidden)\
                   .map((row) => row.cells[0].dataset.v);
                   const button = (key) => document.querySelector(`#r0-0 [data-key=${key}]`);
                   const order = (key) => button(key).closest('th').getAttribute('aria-sort');";

#[test]
fn tables_sort_and_filter() {
    let script = IDS.to_owned()
        + "button('cost').click(); reported.cheapest = ids(); reported.first = order('cost');
           button('cost').click(); reported.costliest = ids(); reported.second = order('cost');
           button('quality').click(); reported.best = ids(); reported.third = [order('cost'), order('quality')];
           const filter = document.getElementById('filter'); filter.value = 'coarse SYSCALL';
           filter.dispatchEvent(new Event('input')); reported.some = ids();
           reported.closed = [...document.querySelectorAll('details.timer')].filter((d) => !d.hidden).length;
           reported.shown = document.getElementById('shown').textContent; reported.hash = location.hash;
           filter.value = ''; filter.dispatchEvent(new Event('input')); reported.all = ids().length;
           // A page without a window may be unable to take the focus.
           button('quality').dispatchEvent(new FocusEvent('focus')); const tip = document.getElementById('tip');
           reported.tip = [tip.hidden, tip.textContent.slice(0, 8)];
           dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' })); reported.away = tip.hidden;";
    let page = render(&[report()], &[]).unwrap();
    let Some(reported) = in_browser(&page, &script) else {
        return;
    };
    let reported: serde_json::Value = serde_json::from_str(&reported).unwrap();
    let timers = report().timers;
    let mut costs: Vec<(f64, &str)> = timers
        .iter()
        .filter_map(|row| Some((row.cost_ns?.value, row.id.as_str())))
        .collect();
    let shown =
        |key: &str| -> Vec<String> { serde_json::from_value(reported[key].clone()).unwrap() };
    // Unknown ones come last in both orders.
    for (key, sign) in [("cheapest", 1.0), ("costliest", -1.0)] {
        costs.sort_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)));
        let known: Vec<&str> = costs.iter().map(|(_, id)| *id).collect();
        assert_eq!(shown(key)[..known.len()], known);
    }
    assert_eq!(shown("best")[0], timers[0].id);
    let count = timers.iter().filter(|row| row.status.has_figures()).count();
    for (key, expected) in [
        ("failures", json!([])),
        ("first", json!("ascending")),
        ("second", json!("descending")),
        ("third", json!(["none", "descending"])),
        ("some", json!(["monotonic-coarse-syscall"])),
        ("closed", json!(1)),
        ("shown", json!(format!("1 of {count} rows"))),
        (
            "hash",
            json!("#sort=quality&order=descending&filter=coarse+SYSCALL"),
        ),
        ("all", json!(count)),
        ("tip", json!([false, "Figure o"])),
        ("away", json!(true)),
    ] {
        assert_eq!(reported[key], expected, "{key}");
    }
}

#[test]
fn tables_fit_and_have_names() {
    let mut wide = report();
    wide.timers[0].label = "quanta::Clock::raw()".to_owned();
    let script = "document.body.style.width = '1280px';
        const all = (selector) => [...document.querySelectorAll(selector)];
        reported.cut = all('.scroll').filter((area) => area.scrollWidth > area.clientWidth).length;
        reported.broken = all('table bdi').filter((name) => !name.textContent.includes(' ')\
            && name.textContent.length < 40 && name.getClientRects().length > 1)
            .map((name) => name.textContent);
        const named = (element) => element.getAttribute('aria-label')
            ?? document.getElementById(element.getAttribute('aria-labelledby'))?.textContent;
        reported.title = document.querySelector('h1').getClientRects().length;
        reported.row = all('.card .figures').every((list) => list.lastElementChild.offsetTop === list.offsetTop);
        const shown = () => all('.tabs').map((tabs) => all('.copy').findIndex((one) => tabs.contains(one) && one.offsetHeight));
        const before = shown(); all('.tabs').forEach((tabs) => tabs.querySelectorAll('label')[1].click());
        reported.tabs = before.every((first, at) => shown()[at] === first + 1);
        reported.unnamed = all('svg, table, [role=region], section').filter((element) => !named(element)).length;";
    let nodes = [0, 1, 2].map(|index| Report {
        node: Some(format!("node-{index:03}")),
        ..report()
    });
    for page in [vec![wide], nodes.to_vec()].map(|reports| render(&reports, &[]).unwrap()) {
        let Some(reported) = in_browser(&page, script) else {
            return;
        };
        let expected =
            r#"{"cut":0,"broken":[],"title":1,"row":true,"tabs":true,"unnamed":0,"failures":[]}"#;
        assert_eq!(reported, expected);
    }
}

/// Stored reports of a guest, of runtimes, of waits, of periodic timers, of a GPU, and published ones.
const STORED: [&str; 6] = [
    "amd-epyc-zen-3-kvm-debian-12/2026-11-27",
    "amd-epyc-zen-4-kvm-debian-12/2026-11-28",
    "amd-epyc-zen-5-kvm-debian-12/2026-11-23-3",
    "amd-epyc-zen-5-kvm-debian-12/2026-11-23-4",
    "intel-xeon-emerald-rapids-kvm-ubuntu-24-04-3-lts/2026-11-27",
    "redis-10604-c5-large-kvm-clock/2022-04-21",
];

#[test]
fn narrow_pages_are_whole_and_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports");
    let pages = STORED.map(|name| {
        let report = read(&folder.join(name).join("report.json")).unwrap();
        render(&[report], &[]).unwrap()
    });
    let pages = serde_json::to_string(&pages).unwrap().replace("</", "<\\/");
    let script = format!(
        "reported.wrong = []; const pages = {pages};
         for (const [page, html] of pages.entries()) {{
           const frame = document.createElement('iframe'); frame.style.width = '390px';
           document.body.append(frame); const inner = frame.contentDocument;
           inner.open(); inner.write(html); inner.close();
           const root = inner.documentElement, all = (selector) => [...inner.querySelectorAll(selector)];
           const check = (what, holds) => holds || reported.wrong.push([page, what, root.scrollWidth, root.scrollHeight]);
           const visible = () => all('table tbody tr').filter((row) => row.getClientRects().length).length;
           check('short', root.scrollHeight < 6500);
           check('twelve rows', visible() <= 12);
           all('.more input').forEach((box) => box.click());
           check('all rows', visible() === all('table tbody tr').length);
           all('details').forEach((details) => {{ details.open = true; }});
           check('text wraps', all('p, li, dd').every((text) => text.scrollWidth <= text.clientWidth));
           check('lines whole', all('pre').every((code) => frame.contentWindow.getComputedStyle(code).whiteSpace === 'pre'));
           check('whole', root.scrollWidth === root.clientWidth);
           const box = (element) => element.getBoundingClientRect();
           check('plots whole', all('svg').every((plot) => all('text').every((text) => !plot.contains(text)
             || box(text).left >= box(plot).left - 1 && box(text).right <= box(plot).right + 1)));
           frame.remove();
         }}"
    );
    let blank = "<meta charset=\"utf-8\"><body></body>";
    let Some(reported) = in_browser(blank, &script) else {
        return;
    };
    assert_eq!(reported, r#"{"wrong":[],"failures":[]}"#);
}
