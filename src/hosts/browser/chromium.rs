//! Chromium, by the DevTools protocol: JSON over a pipe, each message ended by a zero byte.
//! <https://chromedevtools.github.io/devtools-protocol/>

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use timers::Deadline;

use super::{Browser, LONGEST_MESSAGE, START, command, last_error_output};
use crate::hosts::children::{self, Running};

/// The pipes of the protocol are the files 3 and 4.
const WITH_PIPES: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null";
/// Nothing is loaded, nothing asked at first start, nothing answer to anybody, and timers are those
/// of a page that is looked at.
const FLAGS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--mute-audio",
];
const POLL: Duration = Duration::from_millis(20);

pub(super) struct Chromium {
    connection: Connection,
    session: String,
    version: String,
}

/// With its sandbox, where that can be had; the super-user gets none.
pub(super) fn start(program: &Path, profile: &Path, url: &str) -> Result<Chromium, String> {
    let (mut connection, version, has_sandbox) = match connect(program, profile, &[]) {
        Ok((connection, version)) => (connection, version, true),
        Err(_) if !children::interrupted() => {
            let (connection, version) = connect(program, profile, &["--no-sandbox"])?;
            (connection, version, false)
        }
        Err(why) => return Err(why),
    };
    let product = version["product"].as_str().unwrap_or_default();
    let version = product.rsplit('/').next().unwrap_or_default();
    let version = format!(
        "{version}{}",
        if has_sandbox {
            ""
        } else {
            ", without its sandbox, which it cannot have here"
        }
    );
    let target = connection.call("Target.createTarget", &json!({ "url": url }), None)?;
    let target = json!({ "targetId": target["targetId"], "flatten": true });
    let session = connection.call("Target.attachToTarget", &target, None)?;
    let session = session["sessionId"]
        .as_str()
        .ok_or("it has no page")?
        .to_owned();
    let mut browser = Chromium {
        connection,
        session,
        version,
    };
    let deadline = Deadline::after(START);
    while browser.evaluate("typeof answer") != Ok("function".into()) {
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

/// Starts it and asks for its name and version.
fn connect(program: &Path, profile: &Path, flags: &[&str]) -> Result<(Connection, Value), String> {
    let mut command = command("sh".as_ref(), profile)?;
    command
        .args(["-c", WITH_PIPES, "sh"])
        .arg(program)
        .args(FLAGS)
        .args(flags);
    let mut folder = std::ffi::OsString::from("--user-data-dir=");
    folder.push(profile);
    command
        .arg(folder)
        .arg("about:blank")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut running = children::start(command, None).map_err(|error| error.to_string())?;
    let (input, output, _) = running.pipes();
    let (Some(input), Some(output)) = (input, output) else {
        return Err("it has no pipes".into());
    };
    let output = BufReader::new(output);
    let mut connection = Connection {
        _running: running,
        input,
        output,
        last: 0,
        profile: profile.into(),
    };
    let version = connection.call("Browser.getVersion", &json!({}), None)?;
    Ok((connection, version))
}

impl Browser for Chromium {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        self.evaluate(&format!("answer({})", json!(line)))
    }
}

impl Chromium {
    fn evaluate(&mut self, expression: &str) -> Result<String, String> {
        let params =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self
            .connection
            .call("Runtime.evaluate", &params, Some(&self.session))?;
        match answer["result"]["value"].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!(
                "the page does not answer: {}",
                answer["result"]["description"]
            )),
        }
    }
}

struct Connection {
    _running: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    profile: PathBuf,
}

impl Connection {
    /// Calls a method; what else the browser tells meanwhile is not looked at.
    fn call(
        &mut self,
        method: &str,
        params: &Value,
        session: Option<&str>,
    ) -> Result<Value, String> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let (Some(session), Some(message)) = (session, message.as_object_mut()) {
            message.insert("sessionId".into(), session.into());
        }
        let message = format!("{message}\0");
        let sent = self
            .input
            .write_all(message.as_bytes())
            .and_then(|()| self.input.flush());
        sent.map_err(|_| last_error_output(&self.profile))?;
        loop {
            let mut message = Vec::new();
            let read = (&mut self.output)
                .take(LONGEST_MESSAGE)
                .read_until(0, &mut message);
            if read.is_err() || message.pop() != Some(0) {
                return Err(last_error_output(&self.profile));
            }
            let Ok(mut answer) = serde_json::from_slice::<Value>(&message) else {
                continue;
            };
            if answer["id"] != self.last {
                continue;
            }
            if let Some(why) = answer["error"]["message"].as_str() {
                return Err(format!("the browser refuses `{method}`: {why}"));
            }
            return Ok(answer["result"].take());
        }
    }
}
