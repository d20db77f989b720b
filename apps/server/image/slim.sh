#!/bin/sh
# Takes from a Debian what neither the server nor its guests use: packaging, Perl, documents, npm. slim.sh ROOT
set -eu
root=${1%/}
rm -rf "$root"/var/cache/* "$root"/var/lib/apt "$root"/var/lib/dpkg "$root"/var/log/* \
  "$root"/etc/apt "$root"/etc/dpkg "$root"/usr/lib/apt "$root"/usr/lib/dpkg "$root"/usr/lib/systemd "$root"/usr/lib/udev \
  "$root"/usr/bin/apt* "$root"/usr/bin/dpkg* "$root"/usr/bin/perl* "$root"/usr/bin/deb* "$root"/usr/bin/gpgv \
  "$root"/usr/sbin/* \
  "$root"/usr/lib/*/perl* "$root"/usr/lib/*/libperl* "$root"/usr/lib/*/libapt* "$root"/usr/lib/*/gconv "$root"/usr/lib/*/libdb-* \
  "$root"/usr/share/perl* "$root"/usr/share/doc "$root"/usr/share/man "$root"/usr/share/info "$root"/usr/share/locale \
  "$root"/usr/share/zoneinfo "$root"/usr/share/bash-completion "$root"/usr/share/keyrings "$root"/usr/share/dpkg \
  "$root"/opt/* "$root"/usr/local/include "$root"/usr/local/share "$root"/usr/local/lib/node_modules
for tool in npm npx corepack yarn yarnpkg; do rm -f "$root/usr/local/bin/$tool"; done
