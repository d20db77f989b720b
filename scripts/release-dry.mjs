// pnpm release:dry [folder]: all of a release but the publishing. Builds and checks the packages as they are published
// (`test:packed`), packs them into the folder (`.cem/release`), with a bill of materials and the licenses of what they
// bring, and prints what each brings. Ends with 1 where a check fails, a limit of scripts/packed/limits.json is passed,
// or something brings a license that is not on its list.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findNode, root } from "./node24.mjs";
import { install } from "./packed/installed.mjs";
import { packAll, tarballsFor } from "./packed/tarballs.mjs";
import { bin, toolEnvironment } from "./setup.mjs";
import { temporaryFolder } from "./temporary-folder.ts";

const BYTES_PER_MB = 1_000_000;
const BYTES_PER_KB = 1_000;
const limits = JSON.parse(readFileSync(path.join(root, "scripts/packed/limits.json"), "utf8"));
const options = { cwd: root, env: toolEnvironment(), stdio: "inherit" };

const { status } = spawnSync(findNode(), ["scripts/test.mjs", "packed"], options);
if (status === 0) await measure(path.resolve(process.argv[2] ?? path.join(root, ".cem/release")));
else process.exitCode = 1;

async function measure(destination) {
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  const packages = await packAll(destination);
  const bill = path.join(destination, "sbom.cdx.json");
  execFileSync(bin("pnpm"), ["sbom", "--prod", "--sbom-format", "cyclonedx", "--out", bill], options);
  const licenses = execFileSync(bin("pnpm"), ["licenses", "list", "--recursive", "--prod", "--json"], {
    ...options,
    stdio: ["ignore", "pipe", "inherit"],
  });
  writeFileSync(path.join(destination, "licenses.json"), licenses);
  const passed = refusedLicenses(JSON.parse(licenses));
  const told = runByNpx(packages);
  if (told !== "8") passed.push(`npx of the command said ${JSON.stringify(told)} in place of 8.`);
  const folder = temporaryFolder("cem-size");
  process.stdout.write("| package | packed kB | unpacked kB | packages | MB installed | MB of Deno |\n");
  process.stdout.write("| --- | ---: | ---: | ---: | ---: | ---: |\n");
  try {
    for (const one of packages.values()) {
      const { count, bytes, denoBytes, ownBytes } = await install(one, packages, folder);
      const megabytes = bytes / BYTES_PER_MB;
      const cells = [
        one.name,
        (statSync(one.tarball).size / BYTES_PER_KB).toFixed(0),
        (ownBytes / BYTES_PER_KB).toFixed(0),
        count,
        megabytes.toFixed(1),
        (denoBytes / BYTES_PER_MB).toFixed(1),
      ];
      process.stdout.write(`| ${cells.join(" | ")} |\n`);
      const limit = { ...limits.default, ...limits[one.name] };
      if (count > limit.packages)
        passed.push(`${one.name} brings ${count} packages, and may ${limit.packages}.`);
      if (megabytes > limit.megabytes)
        passed.push(`${one.name} brings ${megabytes.toFixed(1)} MB, and may ${limit.megabytes}.`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`\nPacked into ${destination}.\n${passed.map((line) => `${line}\n`).join("")}`);
  process.exitCode = passed.length > 0 ? 1 : 0;
}

/** Third-party packages under a license that is not on the list. Prints how many there are of each license. */
function refusedLicenses(byLicense) {
  const counts = Object.entries(byLicense).map(([license, list]) => `${list.length} ${license}`);
  process.stdout.write(`\nThird parties, by license: ${counts.join(", ")}\n\n`);
  return Object.entries(byLicense)
    .filter(([license]) => !license.split(/[()]| OR /u).some((one) => limits.licenses.includes(one)))
    .flatMap(([license, list]) => list.map(({ name }) => `${name} has the license ${license}.`));
}

/** The command's output for a first task, run by npx from its tarball in an empty folder, with an empty home. */
function runByNpx(packages) {
  const cwd = temporaryFolder("cem-npx");
  const given = Object.values(tarballsFor(packages.get("@cem/cli"), packages));
  const args = [
    "-y",
    ...given.flatMap((tarball) => ["-p", tarball]),
    "--",
    "cem",
    "run",
    "-q",
    "Calculate 5 + 3",
  ];
  const env = { ...options.env, HOME: cwd, npm_config_cache: path.join(cwd, "cache") };
  return execFileSync("npx", args, { cwd, env, encoding: "utf8" }).trim();
}
