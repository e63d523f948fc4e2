#!/bin/sh
# Provides the kernel and the busybox that machines boot, from packages of Debian. They are downloaded and unpacked, not installed, by an
# apt-get with its own state, so that the host gains no foreign architecture.
#
#   parts.sh FOLDER ARCHITECTURE METAPACKAGE      writes FOLDER/kernel and FOLDER/busybox
set -eu
folder=$1 architecture=$2 metapackage=$3
apt=$folder/apt
rm -rf "$apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts" "$apt/unpacked"
# For RISC-V, only unstable has a kernel that the emulator boots.
case $architecture in riscv64) suites=sid ;; *) suites='bookworm bookworm-updates' ;; esac
for suite in $suites; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
done >"$apt/sources.list"
cat >"$apt/settings" <<SETTINGS
Dir::State::Lists "$apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/parts";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
SETTINGS
export APT_CONFIG="$apt/settings"
cd "$apt"
apt-get -qq update
depends() {
    apt-cache depends "$1" | sed -n "s/^ *Depends: \($2[^:]*\).*/\1/p" | head -n 1
}
kernel=$(depends "$metapackage" linux-image-)
# In newer releases the kernel itself is in a further package.
binary=$(depends "$kernel" linux-binary-)
apt-get -qq download "${binary:-$kernel}" busybox-static
for package in *.deb; do
    dpkg-deb -x "$package" unpacked
done
for file in unpacked/boot/vmlinu* unpacked/usr/lib/modules/*/vmlinuz; do
    [ ! -f "$file" ] || cp "$file" "$folder/kernel"
done
for file in unpacked/bin/busybox unpacked/usr/bin/busybox; do
    [ ! -f "$file" ] || cp "$file" "$folder/busybox"
done
rm -rf "$apt"
[ -f "$folder/kernel" ] && [ -f "$folder/busybox" ]
