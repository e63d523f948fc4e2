//! Text of the kernel with a field a line.

/// The first value of that name in `/proc/cpuinfo`, `/proc/self/status` and their like: `name : value` a line.
#[must_use]
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::field;
    use proptest::prelude::*;

    #[test]
    fn fields_of_cpuinfo() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC: 9\nmicrocode\t: 0xa101148\npower management:\n\n\
                       processor\t: 1\nmicrocode\t: 0xffff\n";
        assert_eq!(field(cpuinfo, "microcode"), Some("0xa101148"));
        assert_eq!(field(cpuinfo, "model name"), Some("AMD EPYC: 9"));
        assert_eq!(field(cpuinfo, "power management"), None);
        assert_eq!(field(cpuinfo, "model"), None);
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>()) {
            let _ = field(&text, "microcode");
        }
    }
}
