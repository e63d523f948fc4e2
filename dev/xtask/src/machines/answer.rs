//! Transfers the result files of a machine over its console, the only channel that all machines
//! have: packed, in hexadecimal digits.

use std::path::Path;

use crate::Outcome;

/// The line before the digits.
const BEGIN_MARK: &str = "begin of result files";
/// The line after the digits.
const END_MARK: &str = "end of result files";

/// Returns the busybox script with which the guest writes the files of /out to the console. It
/// sleeps at the end, so that all output leaves the machine before it powers off.
pub fn script() -> String {
    format!(
        "dmesg -n 1
{{ echo '{BEGIN_MARK}'; tar -C /out -c . | gzip | hexdump -v -e '64/1 \"%02x\" \"\\n\"'; echo '{END_MARK}'; }} >/dev/console
sleep 2"
    )
}

/// Unpacks the result files from the console output of a machine into `folder`. Returns the rest of
/// the output.
///
/// # Errors
/// If the output contains no result files, or damaged ones.
pub fn unpack(console: &str, folder: &Path) -> Outcome<String> {
    let parts = console.split_once(BEGIN_MARK).and_then(|(before, rest)| {
        let (digits, after) = rest.split_once(END_MARK)?;
        Some((before, digits, after))
    });
    let (before, digits, after) = parts.ok_or("the console output has no complete result files")?;
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
        .ok_or("other console output is mixed with the result files")?;
    Ok(digit as u8)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    /// Runs the script of the guest in a shell of this machine.
    #[test]
    fn result_files_survive_the_console() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("out")).expect("written");
        let text = "a line of the report\n".repeat(100);
        fs::write(folder.path().join("out/report.json"), &text).expect("written");
        let script = script()
            .replace("/out", "out")
            .replace(">/dev/console", "")
            .replace("dmesg -n 1", "echo a");
        let script = script.replace("sleep 2", "echo b");
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .output();
        let console = String::from_utf8(output.expect("a shell").stdout).expect("text");
        if !console.contains("1f8b") {
            eprintln!("skipped: no gzip or hexdump here");
            return;
        }
        let console = console.replace('\n', "\r\n");
        assert_eq!(
            unpack(&console, folder.path()).expect("complete result files"),
            "a\r\n\r\nb\r\n"
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("report.json")).expect("the unpacked report"),
            text
        );
        assert!(unpack(&console.replace(END_MARK, ""), folder.path()).is_err());
        assert!(unpack(&console.replacen("1f8b", "1f8b\nprintk", 1), folder.path()).is_err());
        assert!(unpack(&console.replacen("1f8b", "", 1), folder.path()).is_err());
    }
}
