//! Firefox, by Marionette: JSON over a socket of this machine, each message led by its length.
//! <https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html>

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use timers::Deadline;

use super::{Browser, LONGEST_MESSAGE, START, command, last_error_output};
use crate::hosts::children::{self, Running};

/// Any port that is free, answer in the profile; and nothing asked, loaded or answer to anybody.
const SETTINGS: &[(&str, &str)] = &[
    ("marionette.port", "0"),
    ("app.normandy.enabled", "false"),
    ("app.update.disabledForTesting", "true"),
    ("browser.aboutwelcome.enabled", "false"),
    ("browser.safebrowsing.downloads.enabled", "false"),
    ("browser.safebrowsing.malware.enabled", "false"),
    ("browser.safebrowsing.phishing.enabled", "false"),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.startup.page", "0"),
    ("datareporting.healthreport.uploadEnabled", "false"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    // Answers may take longer than pages should.
    ("dom.max_script_run_time", "0"),
    ("dom.timeout.enable_budget_timer_throttling", "false"),
    ("extensions.getAddons.cache.enabled", "false"),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("network.proxy.type", "0"),
    (
        "services.settings.server",
        "\"data:,#remote-settings-dummy/v1\"",
    ),
    ("toolkit.telemetry.enabled", "false"),
];
/// The longest that a page may take to answer, in milliseconds: the runner gives up earlier.
const LONGEST_MS: u64 = 3_600_000;
const ASK: &str =
    "const [line, done] = arguments; window.answer(line).then(done, (why) => done(`!${why}`));";
const POLL: Duration = Duration::from_millis(20);

pub(super) struct Firefox {
    _running: Running,
    socket: BufReader<TcpStream>,
    last: u64,
    version: String,
    profile: PathBuf,
}

pub(super) fn start(
    program: &Path,
    profile: &Path,
    url: &str,
    settings: &[(String, String)],
) -> Result<Firefox, String> {
    let own = SETTINGS
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let lines = own
        .chain(settings.iter().cloned())
        .map(|(name, value)| format!("user_pref({name:?}, {value});\n"));
    let written = fs::write(profile.join("user.js"), lines.collect::<String>());
    written.map_err(|error| format!("its profile: {error}"))?;
    let mut command = command(program.as_os_str(), profile)?;
    command
        .args(["--headless", "--no-remote", "--marionette", "--profile"])
        .arg(profile);
    let running = children::start(command, None).map_err(|error| error.to_string())?;
    let port = port(&running, profile)?;
    let failed = |error: std::io::Error| format!("its socket: {error}");
    let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    socket.set_nodelay(true).map_err(failed)?;
    let mut browser = Firefox {
        _running: running,
        socket: BufReader::new(socket),
        last: 0,
        version: String::new(),
        profile: profile.into(),
    };
    browser.receive()?;
    let session = browser.call("WebDriver:NewSession", &json!({}))?;
    browser.version = session["capabilities"]["browserVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    // What is measured is not what others get.
    browser.version.extend(
        settings
            .iter()
            .map(|(name, value)| format!(", {name}={value}")),
    );
    browser.call("WebDriver:SetTimeouts", &json!({ "script": LONGEST_MS }))?;
    browser.call("WebDriver:Navigate", &json!({ "url": url }))?;
    let deadline = Deadline::after(START);
    let is_there = json!({ "script": "return typeof window.answer", "args": [] });
    while browser.call("WebDriver:ExecuteScript", &is_there)?["value"] != "function" {
        if deadline.remaining().is_none() {
            return Err(format!(
                "its page was not there within {} s",
                START.as_secs()
            ));
        }
        thread::sleep(POLL);
    }
    Ok(browser)
}

/// The port that it listens on, once it does.
fn port(running: &Running, profile: &Path) -> Result<u16, String> {
    let deadline = Deadline::after(START);
    loop {
        let answer = fs::read_to_string(profile.join("MarionetteActivePort")).unwrap_or_default();
        if let Ok(port) = answer.trim().parse() {
            return Ok(port);
        }
        if running.has_exited() || deadline.remaining().is_none() {
            return Err(last_error_output(profile));
        }
        thread::sleep(POLL);
    }
}

impl Browser for Firefox {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        let answer = self.call(
            "WebDriver:ExecuteAsyncScript",
            &json!({ "script": ASK, "args": [line] }),
        )?;
        answer["value"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| "the page does not answer".into())
    }
}

impl Firefox {
    fn call(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.last += 1;
        let message = json!([0, self.last, method, params]).to_string();
        let message = format!("{}:{message}", message.len());
        let sent = self.socket.get_mut().write_all(message.as_bytes());
        sent.map_err(|_| last_error_output(&self.profile))?;
        loop {
            let mut answer = self.receive()?;
            if answer[0] != 1 || answer[1] != self.last {
                continue;
            }
            if let Some(why) = answer[2]["message"].as_str() {
                return Err(format!("the browser refuses `{method}`: {why}"));
            }
            return Ok(answer[3].take());
        }
    }

    fn receive(&mut self) -> Result<Value, String> {
        let mut length: u64 = 0;
        loop {
            let mut byte = [0];
            self.socket
                .read_exact(&mut byte)
                .map_err(|_| last_error_output(&self.profile))?;
            match byte[0] {
                b':' => break,
                digit @ b'0'..=b'9' => {
                    length = length
                        .saturating_mul(10)
                        .saturating_add((digit - b'0').into())
                }
                _ => return Err("the browser does not speak Marionette".into()),
            }
        }
        if length > LONGEST_MESSAGE {
            return Err(format!(
                "the browser answers with {length} bytes, which no answer needs"
            ));
        }
        let mut message = vec![0; length as usize];
        self.socket
            .read_exact(&mut message)
            .map_err(|_| last_error_output(&self.profile))?;
        serde_json::from_slice(&message)
            .map_err(|error| format!("the browser does not speak Marionette: {error}"))
    }
}
