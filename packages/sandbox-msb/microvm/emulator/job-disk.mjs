// The disk that the outer machine finds the tests on.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { JOB_ARGUMENTS, JOB_ENVIRONMENT } from "../build-job.mjs";
import { makeImage } from "./build-outer-machine.mjs";

/** The line that the outer machine prints every second of its own clock, which is many seconds of this host's. */
export const ALIVE = "CEM-ALIVE";

/** Writes it; the tests lie where they are on this host, since the machines' images name the place. */
export async function writeJobDisk({ folder, home, command = `node ${JOB_ARGUMENTS.join(" ")}` }) {
  const environment = Object.entries(JOB_ENVIRONMENT)
    .map(([name, value]) => `${name}="${value}"`)
    .join(" ");
  const cache = path.dirname(folder);
  const disk = path.join(cache, "disk");
  rmSync(disk, { recursive: true, force: true });
  mkdirSync(disk);
  for (const from of [folder, home])
    cpSync(from, path.join(disk, path.basename(from)), { recursive: true, preserveTimestamps: true });
  writeFileSync(
    path.join(disk, "run.sh"),
    `echo "The outer machine is up."
mkdir -p "${cache}" && mount --bind /disk "${cache}"
mkdir -p /disk/tmp; export TMPDIR=/disk/tmp
while sleep 1; do echo "${ALIVE}"; done &
cd "${folder}" && XDG_CACHE_HOME="${cache}" ${environment} ${command}
`,
  );
  const image = path.join(cache, "job.img");
  await makeImage(disk, image, "2G");
  rmSync(disk, { recursive: true, force: true });
  return image;
}
