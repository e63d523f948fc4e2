//! The pages that browsers load, from a socket of this machine that ends with this process.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// No head of a request is longer.
const LONGEST_HEAD: u64 = 64 << 10;
/// Longest time of a request.
const PATIENCE: Duration = Duration::from_secs(10);

const PLAIN: &str = "<!doctype html><title>timermeter</title><script src=\"/words.js\"></script>";
const WITH_WORKER: &str =
    "<!doctype html><title>timermeter</title><script src=\"/page.js\"></script>";
/// A page that passes on what its worker says.
const PAGE: &str = "const worker = new Worker('/worker.js');
const ask = (line) => new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); worker.postMessage(line); });
worker.onmessage = () => { globalThis.answer = ask; };
";
const WORKER: &str = "importScripts('/words.js');
onmessage = async ({ data }) => { postMessage(await globalThis.answer(data)); };
postMessage('ready');
";
/// What isolates a page from others, for which it is given finer clocks (HTML, *cross-origin
/// isolation*).
const ISOLATION: &str =
    "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n";

/// Where in a browser clocks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Page {
    /// A page.
    Plain,
    /// A page that is isolated from those of other origins.
    Isolated,
    /// A worker of a page that is not isolated.
    Worker,
}

impl Page {
    /// As the last part of its address.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Isolated => "isolated",
            Self::Worker => "worker",
        }
    }
}

/// Serves them on the port that is returned, for as long as this process is there.
pub(super) fn serve(folder: &Path) -> Result<u16, String> {
    let words = std::fs::read_to_string(folder.join("words.js"))
        .map_err(|error| format!("cannot read its words.js: {error}"))?;
    let failed = |error: io::Error| format!("no socket to serve its page from: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let words: Arc<str> = words.into();
    let listen = move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let words = Arc::clone(&words);
            // A connection that is kept open does not block the next one; one that is broken off is
            // not answered.
            let _ = thread::Builder::new().spawn(move || answer(stream, &words));
        }
    };
    thread::Builder::new().spawn(listen).map_err(failed)?;
    Ok(port)
}

fn answer(mut stream: TcpStream, words: &str) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut head = BufReader::new(stream.try_clone()?.take(LONGEST_HEAD));
    let mut first = String::new();
    head.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? <= 2 {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    const SCRIPT: &str = "text/javascript";
    let (status, kind, text) = match path {
        "/plain" | "/isolated" => ("200 OK", "text/html", PLAIN),
        "/worker" => ("200 OK", "text/html", WITH_WORKER),
        "/page.js" => ("200 OK", SCRIPT, PAGE),
        "/worker.js" => ("200 OK", SCRIPT, WORKER),
        "/words.js" => ("200 OK", SCRIPT, words),
        _ => ("404 Not Found", "text/plain", ""),
    };
    let isolation = if path == "/isolated" { ISOLATION } else { "" };
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n{isolation}Connection: close\r\n\r\n{text}"
    )?;
    stream.flush()
}
