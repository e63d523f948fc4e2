//! Names the libraries that the dynamic linker loads into programs before the C library (ld.so(8)).

use super::Root;

/// Lists the libraries of `LD_PRELOAD` and `/etc/ld.so.preload`.
pub fn preloaded(root: &Root) -> Vec<String> {
    let variable = std::env::var("LD_PRELOAD").unwrap_or_default();
    let file = root.read_text("/etc/ld.so.preload").unwrap_or_default();
    let lists = [variable, file].join(" ");
    let names = lists.split([':', ' ', '\n', '\t']);
    (names.filter(|name| !name.is_empty()).map(str::to_owned)).collect()
}
