#!/bin/sh
# Makes the contents of the image in a folder, without Docker, by the steps of the Dockerfile on Debian's own packages:
#   apps/server/image/assemble.sh FOLDER      needs root, mmdebstrap and binutils, and built packages
set -eu
folder=$1
here=$(dirname "$(readlink -f "$0")")
mmdebstrap --quiet --variant=minbase --aptopt='APT::Install-Recommends "false"' --include=bubblewrap,tini bookworm "$folder"
pnpm --dir "$here/../../.." --filter=@cem/server deploy --prod --legacy "$folder/server"
node "$here/prune.mjs" "$folder/server"
node "$here/link-guest.mjs" "$folder/server" "$folder/cem"
"$here/slim.sh" "$folder"
install -D "$(node -p process.execPath)" "$folder/usr/local/bin/node"
strip "$folder/usr/local/bin/node"
mkdir -p "$folder/data/workspace" "$folder/data/servers" "$folder/data/skills" "$folder/files"
chown -R 1000:1000 "$folder/data"
du -sb "$folder"
