//! Reports one after the other in a stream: lines of JSON, or documents with nothing or anything between them. One that was cut off ends
//! where the next begins, so that it costs no other report.

use std::io::{self, BufRead};
use std::mem;

/// How a report begins, blanks left out: all programs of this name write its schema first. These bytes stand nowhere else in sound
/// JSON: where `{` ended a text, a quotation mark would end it, after which no name can follow.
const BEGINNING: &[u8] = b"{\"schema\"";

/// A document of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Text {
    /// All of it, or as much as there is.
    Whole(Vec<u8>),
    /// It is longer than any report, and was passed over.
    TooLong,
}

/// Takes a stream apart.
pub struct Documents<R> {
    input: R,
    splitter: Splitter,
}

impl<R: BufRead> Documents<R> {
    /// Those of `input`; what is longer than `longest` bytes is passed over.
    pub fn of(input: R, longest: u64) -> Self {
        let longest = usize::try_from(longest).unwrap_or(usize::MAX);
        Self { input, splitter: Splitter { longest, ..Splitter::default() } }
    }

    /// The next document; `None` at the end.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub fn next(&mut self) -> io::Result<Option<Text>> {
        loop {
            let buffer = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                return Ok(self.splitter.rest());
            }
            let (used, found) = self.splitter.feed(buffer);
            self.input.consume(used);
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}

#[derive(Default)]
struct Splitter {
    longest: usize,
    /// Of the document that is being read.
    text: Vec<u8>,
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// Where a report may begin, and how much of its beginning was there.
    opening: Option<(usize, usize)>,
    /// What is too long is not kept.
    dropping: bool,
}

impl Splitter {
    /// Takes bytes until a document ends; returns how many.
    fn feed(&mut self, bytes: &[u8]) -> (usize, Option<Text>) {
        let mut used = 0;
        while used < bytes.len() {
            used += self.plain(&bytes[used..]);
            let Some(&byte) = bytes.get(used) else { break };
            used += 1;
            if let Some(found) = self.take(byte) {
                return (used, Some(found));
            }
        }
        (used, None)
    }

    /// What there is at the end.
    fn rest(&mut self) -> Option<Text> {
        let rest = mem::take(&mut self.text);
        (!rest.is_empty() && !self.dropping).then_some(Text::Whole(rest))
    }

    /// Takes what means nothing, at once; returns how much that is.
    fn plain(&mut self, bytes: &[u8]) -> usize {
        if self.opening.is_some() || self.text.is_empty() || self.escaped {
            return 0;
        }
        let means = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n' | b'{' | b'}' | b'[' | b']');
        let room = self.longest.saturating_sub(self.text.len());
        let length = bytes.iter().position(means).unwrap_or(bytes.len()).min(room);
        self.text.extend_from_slice(&bytes[..length]);
        length
    }

    fn take(&mut self, byte: u8) -> Option<Text> {
        if self.text.is_empty() && self.depth == 0 && byte.is_ascii_whitespace() {
            return None;
        }
        if self.text.len() >= self.longest && !self.dropping {
            self.dropping = true;
            self.text.clear();
            self.opening = None;
            self.follow(byte);
            return Some(Text::TooLong);
        }
        if self.dropping && self.opening.is_none() {
            self.text.clear();
        }
        self.text.push(byte);
        if let Some(begins) = self.begins(byte) {
            return self.begin(begins);
        }
        let ends = self.follow(byte);
        if !ends {
            return None;
        }
        self.opening = None;
        let text = mem::take(&mut self.text);
        (!mem::take(&mut self.dropping)).then_some(Text::Whole(text))
    }

    /// Whether the beginning of a report ends with this byte; where it began.
    fn begins(&mut self, byte: u8) -> Option<usize> {
        self.opening = match self.opening {
            _ if byte == b'{' => Some((self.text.len() - 1, 1)),
            Some((at, 1)) if byte.is_ascii_whitespace() => Some((at, 1)),
            Some((at, matched)) if byte == BEGINNING[matched] => Some((at, matched + 1)),
            _ => None,
        };
        self.opening.take_if(|(_, matched)| *matched == BEGINNING.len()).map(|(at, _)| at)
    }

    /// A report began there, whatever was thought before; what stands before it ends.
    fn begin(&mut self, at: usize) -> Option<Text> {
        let report = self.text.split_off(at);
        let before = mem::replace(&mut self.text, report);
        (self.depth, self.in_string, self.escaped) = (1, false, false);
        let kept = !mem::take(&mut self.dropping) && !before.is_empty();
        kept.then_some(Text::Whole(before))
    }

    /// Whether a document ends with this byte.
    fn follow(&mut self, byte: u8) -> bool {
        if mem::take(&mut self.escaped) {
            return false;
        }
        match byte {
            // No text has a line break in it.
            b'\n' => {
                self.in_string = false;
                return self.depth == 0;
            }
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Documents, Text};
    use proptest::prelude::*;
    use std::io::BufReader;

    /// By buffers of some bytes, as pipes may give them.
    fn documents(stream: &str, buffer: usize, longest: u64) -> Vec<String> {
        let mut documents = Documents::of(BufReader::with_capacity(buffer, stream.as_bytes()), longest);
        std::iter::from_fn(|| documents.next().unwrap())
            .map(|text| match text {
                Text::Whole(text) => String::from_utf8(text).unwrap(),
                Text::TooLong => "too long".into(),
            })
            .collect()
    }

    #[test]
    fn documents_stand_apart_however_they_are_written() {
        let one = "{\"schema\":\"a\",\"text\":\"}{ \\\" [\"}";
        let two = "{\n \"schema\" : \"b\",\n \"list\": [1, {\"c\": 2}]\n}";
        let sorted = "{\"created\":1,\"schema\":2}";
        let cut = format!("{}\n", &two[..35]);
        for (stream, found) in [
            (format!("{one}\n{two}\n{sorted}\n"), vec![one, two, sorted]),
            (format!("{one}{two}{sorted}"), vec![one, two, sorted]),
            (format!("\n\n {one}"), vec![one]),
            (String::new(), vec![]),
            (format!("no report\n{one}"), vec!["no report\n", one]),
            // Cut off in a text, in a number, before a line break and without one.
            (format!("{}{two}", &one[..20]), vec![&one[..20], two]),
            (format!("{}\n{two}", &two[..35]), vec![cut.as_str(), two]),
            (format!("{two}{}", &two[..35]), vec![two, &two[..35]]),
        ] {
            for buffer in [1, 7, 4096] {
                assert_eq!(documents(&stream, buffer, 1000), found, "{stream}");
            }
        }
    }

    #[test]
    fn what_is_too_long_is_passed_over_and_the_next_is_found() {
        let long = format!("{{\"schema\":\"{}\"}}", "x".repeat(500));
        let next = "{\"schema\":\"b\"}";
        for between in ["\n", ""] {
            let stream = format!("{next}{between}{long}{between}{next}{between}{}{next}", &long[..400]);
            for buffer in [1, 64, 4096] {
                assert_eq!(documents(&stream, buffer, 100), [next, "too long", next, "too long", next]);
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(stream in "[{}\\[\\]\"\\\\a\n]{0,80}", buffer in 1_usize..90) {
            let kept: String = documents(&stream, buffer, 1000).concat();
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&kept), solid(&stream));
        }
    }
}
