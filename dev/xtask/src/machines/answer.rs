//! What a machine hands back: its files, packed and written in hexadecimal digits on the console,
//! the only line that all of them have.

use std::path::Path;

use crate::Outcome;

/// What stands before the digits, and after them.
const BEGINS: &str = "what it hands back:";
const ENDS: &str = "that was all of it";

/// What the guest does for it, in words of busybox: what is in /out, between other things that the
/// console shows. The last words are given time to leave the machine before it ends.
pub fn script() -> String {
    format!(
        "dmesg -n 1
{{ echo '{BEGINS}'; tar -C /out -c . | gzip | hexdump -v -e '64/1 \"%02x\" \"\\n\"'; echo '{ENDS}'; }} >/dev/console
sleep 2"
    )
}

/// Unpacks into `folder` what a machine wrote on its console; returns what else it said.
///
/// # Errors
/// When it handed nothing back, or what it handed back is damaged.
pub fn unpack(said: &str, folder: &Path) -> Outcome<String> {
    let apart = said.split_once(BEGINS).and_then(|(before, rest)| {
        let (digits, after) = rest.split_once(ENDS)?;
        Some((before, digits, after))
    });
    let (before, digits, after) = apart.ok_or("it hands nothing back, or not all of it")?;
    let digits: Vec<u8> = digits
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(digit)
        .collect::<Outcome<_>>()?;
    let packed: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect();
    tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice())).unpack(folder)?;
    Ok(format!("{before}{after}"))
}

fn digit(byte: u8) -> Outcome<u8> {
    let digit = char::from(byte)
        .to_digit(16)
        .ok_or("something else was said between what it hands back")?;
    Ok(digit as u8)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    /// The words of the guest, said by a shell of this machine.
    #[test]
    fn what_the_guest_says_is_unpacked() {
        let place = tempfile::tempdir().expect("there is room");
        fs::create_dir(place.path().join("out")).expect("there is room");
        let text = "what was found\n".repeat(100);
        fs::write(place.path().join("out/report.json"), &text).expect("there is room");
        let script = script()
            .replace("/out", "out")
            .replace(">/dev/console", "")
            .replace("dmesg -n 1", "echo a");
        let script = script.replace("sleep 2", "echo b");
        let said = Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.path())
            .output();
        let said = String::from_utf8(said.expect("there is a shell").stdout).expect("it is text");
        if !said.contains("1f8b") {
            eprintln!("skipped: no gzip or hexdump here");
            return;
        }
        let said = said.replace('\n', "\r\n");
        assert_eq!(
            unpack(&said, place.path()).expect("it is whole"),
            "a\r\n\r\nb\r\n"
        );
        assert_eq!(
            fs::read_to_string(place.path().join("report.json")).expect("it was unpacked"),
            text
        );
        assert!(unpack(&said.replace(ENDS, ""), place.path()).is_err());
        assert!(unpack(&said.replacen("1f8b", "1f8b\nprintk", 1), place.path()).is_err());
        assert!(unpack(&said.replacen("1f8b", "", 1), place.path()).is_err());
    }
}
