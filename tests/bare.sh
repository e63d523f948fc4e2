#!/usr/bin/env bash
# Runs README's test command in a clean clone, where only Rust, a C compiler, a shell and the coreutils are on the PATH and HOME is empty:
#
#     tests/bare.sh [USER]
#
# Tests that need more must say what they skip, and pass. Crates come from CARGO_HOME of the caller, which `cargo fetch` completes first. If
# the caller is root, USER (for instance nobody) runs the tests of the same build once more. The last line is the time of the first run.
set -euo pipefail
user=${1-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck disable=SC2016 # The backquotes are those of README.md.
pattern='`(cargo [^`]+)` tests timermeter itself'
[[ $(<"$root/README.md") =~ $pattern ]] || { echo "README.md does not say which command tests timermeter" >&2; exit 1; }
command=${BASH_REMATCH[1]}
git clone --quiet "$root" "$folder/clone"
cd "$folder/clone"
cargo fetch --quiet --locked
toolchain=$(rustc --print sysroot)
crates=${CARGO_HOME:-$HOME/.cargo}
if [ -n "$user" ]; then
    # Both where USER may read them: links to the files, or copies on another file system.
    for kept in toolchain crates; do
        cp -RLl "${!kept}" "$folder/$kept" 2>/dev/null || cp -RL "${!kept}" "$folder/$kept"
    done
    toolchain=$folder/toolchain
    crates=$folder/crates
fi

bin=$folder/bin
mkdir "$bin" "$folder/home"
coreutils="[ arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir dircolors
    dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod
    mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm rmdir runcon seq sha1sum
    sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr true
    truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes"
for program in cargo rustc rustdoc; do ln -s "$toolchain/bin/$program" "$bin"; done
for program in cc ld as ar sh bash $coreutils; do
    # `type -P` finds the file where the shell has a command of this name.
    if found=$(type -P "$program"); then ln -s "$found" "$bin"; fi
done

# Runs README's command, started by the program and the arguments given.
bare() {
    echo "$* $command"
    "$@" "$(type -P env)" -i PATH="$bin" HOME="$folder/home" CARGO_HOME="$crates" bash -c "$command"
}
began=$SECONDS
bare
took=$((SECONDS - began))
if [ -n "$user" ]; then
    chmod 755 "$folder"
    chown -R "$user" "$folder/clone" "$folder/home"
    chown "$user" "$crates"
    bare setpriv --reuid "$user" --clear-groups
fi
echo "$command: $took s"
