//! Headless Chromium, where there is one.

use std::fs;
use std::process::{Command, Stdio};

use crate::skipping::{is_installed, lacks};

/// Loads a page with a script of the test in it, and returns what stands in the document
/// afterwards.
pub fn in_browser(page: &str, script: &str) -> Option<String> {
    let names = ["chromium-browser", "google-chrome", "google-chrome-stable"];
    let other = names.into_iter().find(|name| is_installed(name));
    let browser = other.unwrap_or("chromium");
    if lacks(browser, browser) {
        return None;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("page.html");
    // Errors are caught from the very beginning; the checks run after the script of the page.
    let watch = "<script>window.failures = []; addEventListener('error', (e) => failures.push(e.message)); \
                 console.error = (...all) => failures.push(all.join(' '));</script>";
    let check = format!(
        "<script>const reported = {{}}; try {{ {script} }} catch (error) {{ failures.push(String(error)); }} \
         reported.failures = failures; document.body.innerHTML = ''; const pre = document.createElement('pre'); \
         pre.id = 'reported'; pre.textContent = JSON.stringify(reported); document.body.append(pre);</script></body>"
    );
    let page = page.replacen(
        "<meta charset=\"utf-8\">",
        &format!("<meta charset=\"utf-8\">{watch}"),
        1,
    );
    fs::write(&path, page.replacen("</body>", &check, 1)).unwrap();
    const FLAGS: &str = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom \
        --virtual-time-budget=5000 --enable-logging=stderr --disable-extensions";
    let output = Command::new(browser)
        .args(FLAGS.split_whitespace())
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("file://{}", path.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!log.contains(":CONSOLE"), "the console is silent: {log}");
    let dom = String::from_utf8_lossy(&output.stdout);
    let reported = dom
        .split("<pre id=\"reported\">")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next());
    Some(
        reported
            .unwrap_or_else(|| panic!("it ran: {dom}\n{log}"))
            .replace("&amp;", "&")
            .replace("&gt;", ">"),
    )
}
