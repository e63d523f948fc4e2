#!/bin/sh
# The first step of action.yml: builds timermeter from the checkout that holds this script.
#
# GITHUB_OUTPUT: a file, to which the script appends `program=PATH`.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v cargo >/dev/null; then
    echo "::error::cargo is missing: install Rust 1.88 or later before this step, as by rustup"
    exit 1
fi
# Build in the folder of the checkout and without the settings of the job, because those are for other programs.
cd "$root"
env -u RUSTFLAGS -u CARGO_BUILD_TARGET cargo build --release --locked --bin timermeter --target-dir "$root/target"
echo "program=$root/target/release/timermeter" >>"$GITHUB_OUTPUT"
