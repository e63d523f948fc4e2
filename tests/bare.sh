#!/usr/bin/env bash
# Runs README's test command in a clean clone, where only Rust, a C compiler, a shell and the coreutils are on the PATH and HOME is empty:
#
#     tests/bare.sh [USER]
#
# Tests that need more must say what they skip, and pass. Crates come from CARGO_HOME of the caller. As root, USER (for instance nobody)
# runs the tests once more with the same build. CARGO_TARGET_DIR keeps the build; without it, it is deleted.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

bin=$folder/bin
mkdir "$bin" "$folder/home"
toolchain=$(rustc --print sysroot)/bin
for program in cargo rustc rustdoc; do ln -s "$toolchain/$program" "$bin"; done
coreutils="[ arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir dircolors
    dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod
    mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm rmdir runcon seq sha1sum
    sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr true
    truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes"
for program in cc ld as ar sh bash $coreutils; do
    # Of another folder of the same name, `type -P` finds the file, not the shell's own command.
    if found=$(type -P "$program"); then ln -s "$found" "$bin"; fi
done

command=$(sed -nE 's/.*`(cargo [^`]+)` tests timermeter itself.*/\1/p' "$root/README.md")
[ -n "$command" ] || { echo "README.md does not say which command tests timermeter" >&2; exit 1; }
git clone --quiet "$root" "$folder/clone"
cd "$folder/clone"

# Runs README's command as the program `$@` runs it, with the bare environment.
bare() {
    echo "$* $command"
    env -i "$@" PATH="$bin" HOME="$folder/home" CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" CARGO_TARGET_DIR="$target" bash -c "$command"
}
target=${CARGO_TARGET_DIR:-$folder/clone/target}
bare
if [ $# -gt 0 ]; then
    chmod 755 "$folder"
    chown -R "$1" "$folder/clone" "$folder/home"
    bare "$(type -P setpriv)" --reuid "$1" --clear-groups "$(type -P env)"
fi
