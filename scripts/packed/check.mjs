// Packs every package and looks at it as a stranger would. The tarball's shape is checked (publint,
// are-the-types-wrong); then it is installed alone (with those of ours that it depends on), in an empty folder where
// nothing of this repository can be found, and its `packed.mjs` is run there, if it has one. pnpm installs it, which
// is quick and hides no dependency that is not declared; npm the command that people install. The types of all
// entries are checked together, as strictly as a stranger may.
// With names as arguments only those are looked at: node scripts/packed/check.mjs @cem/core types
// --node FOLDER runs them with the Node of that folder, and --manager npm|pnpm|yarn installs them so.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { findNode } from "../node24.mjs";
import { bin, toolEnvironment } from "../setup.mjs";
import { eachAtOnce, packAll, tarballsFor } from "./tarballs.mjs";
import { checkTypes } from "./types.mjs";
import { temporaryFolder } from "../temporary-folder.ts";

const run = promisify(execFile);
const STEP_TIMEOUT_MS = 240_000;
const YARN = "yarn@1.22.22";
/** Installed by npm, as most people do. It brings nearly all of the others. npm takes ten times as long as pnpm. */
const BY_NPM = new Set(["@cem/cli"]);
/** The package that a source belongs to. */
const BUNDLED = /^.*node_modules\/((?:@[^/]+\/)?[^/.][^/]*)\//u;
/** The package that a line of a declaration imports from. */
const TYPE_IMPORT = /^(?:im|ex)port\b.*?\bfrom "((?:@[^/"]+\/)?[^./"][^/"]*)/gmu;
/** A package that depends on another of ours gets its tarball too. */
const INSTALL = {
  npm: (cwd) => run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { ...options, cwd }),
  pnpm: (cwd, overrides, ...more) => {
    const settings = { overrides, allowBuilds: { esbuild: true, "msgpackr-extract": false } };
    writeFileSync(path.join(cwd, "pnpm-workspace.yaml"), JSON.stringify(settings));
    return run(bin("pnpm"), ["install", "--prefer-offline", "--no-lockfile", ...more], { ...options, cwd });
  },
  yarn: (cwd, resolutions) => {
    const file = path.join(cwd, "package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    // Yarn 1 asks for the binaries of every platform, and a mirror of the registry may lack those of the newest.
    const pinned = { ...resolutions, "msgpackr-extract": "3.0.4" };
    writeFileSync(file, JSON.stringify({ ...manifest, resolutions: pinned }));
    // Its cache takes tarballs of one version for the same, and two processes at a time spoil it.
    const cache = [
      "--cache-folder",
      path.join(folder, "yarn"),
      "--mutex",
      `file:${path.join(folder, "mutex")}`,
    ];
    const args = ["-y", YARN, "install", "--no-lockfile", "--ignore-engines", "--silent", ...cache];
    return run("npx", args, { ...options, cwd });
  },
};
const folder = temporaryFolder("cem-packed");
const options = { timeout: STEP_TIMEOUT_MS, env: toolEnvironment(), maxBuffer: 64 * 1024 * 1024 };
const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string" }, manager: { type: "string" } },
});
const node = values.node === undefined ? findNode() : path.join(values.node, "node");
/** The Node that is tried comes first, for what a package starts itself. */
const tried = {
  ...options,
  env: {
    ...options.env,
    PATH: `${path.dirname(node)}${path.delimiter}${options.env.PATH}`,
    // Files that they leave behind are removed with the rest.
    TMPDIR: path.join(folder, "temporary"),
  },
};
mkdirSync(tried.env.TMPDIR);

try {
  const packages = await packAll(path.join(folder, "tarballs"));
  const failures = asked
    .filter((name) => name !== "types" && !packages.has(name))
    .map((name) => `${name}: there is no such package`);
  // npm takes as long as all others together, so it begins first, and the types are checked beside.
  const inOrder = [...packages.values()].toSorted(
    (one, other) => BY_NPM.has(other.name) - BY_NPM.has(one.name),
  );
  const looked = eachAtOnce(inOrder, async (one) => {
    if (asked.length > 0 && !asked.includes(one.name)) return;
    report(one.name, await problemsOf(one, packages), failures);
  });
  const typed = asked.length === 0 || asked.includes("types");
  const [projects] = await Promise.all([typed ? checkTypes(packages, folder, INSTALL.pnpm) : [], looked]);
  for (const { title, problems } of projects) report(title, problems, failures);
  if (failures.length > 0) {
    process.exitCode = 1;
    process.stdout.write(`Not usable from their tarballs:\n${failures.join("\n")}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The failures are told at the end, where they are found in a long log. */
function report(name, problems, failures) {
  process.stdout.write(`${name}: ${problems.length === 0 ? "ok" : "FAILED"}\n`);
  if (problems.length > 0) failures.push(`${name}:\n  ${problems.join("\n  ")}`);
}

async function problemsOf(one, packages) {
  const shape = [...(await publintProblems(one)), ...(await typeProblems(one)), ...licenseProblems(one)];
  if (!existsSync(path.join(one.folder, "packed.mjs"))) return shape;
  try {
    await proveAlone(one, packages);
    return shape;
  } catch (error) {
    return [...shape, `${error.stdout ?? ""}${error.stderr ?? error.message}`];
  }
}

async function publintProblems({ tarball }) {
  const data = readFileSync(tarball);
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg)}`);
}

/** The packages are ESM only: what are-the-types-wrong finds for `require` and for resolution before Node 12 is left out. */
async function typeProblems({ tarball }) {
  const contents = createPackageFromTarballData(readFileSync(tarball));
  const { types, problems } = await checkPackage(contents);
  if (types === false) return [];
  return [
    ...undeclaredTypes(contents),
    ...(problems ?? [])
      .filter(({ resolutionKind }) => resolutionKind !== "node10" && resolutionKind !== "node16-cjs")
      .map(({ kind, entrypoint }) => `are-the-types-wrong: ${kind}${entrypoint ? ` at ${entrypoint}` : ""}`),
  ];
}

/** Every package whose code is in the files, as their source maps tell, must be there with its license. */
function licenseProblems({ tarball }) {
  const contents = createPackageFromTarballData(readFileSync(tarball));
  const folder = `/node_modules/${contents.packageName}/dist`;
  const notices = contents.tryReadFile(`${folder}/THIRD-PARTY-LICENSES.md`) ?? "";
  const bundled = contents
    .listFiles(folder)
    .filter((file) => file.endsWith(".js.map"))
    .flatMap((file) => JSON.parse(contents.readFile(file)).sources)
    .map((source) => BUNDLED.exec(source)?.[1])
    .filter((name) => name !== undefined && !notices.includes(`\n## ${name}\n`));
  return [...new Set(bundled)].map((name) => `it has code of ${name}, and not its license`);
}

/** Packages that the declarations import must be installed with the package, or those who use it get `any`. */
function undeclaredTypes(contents) {
  const folder = `/node_modules/${contents.packageName}`;
  const manifest = JSON.parse(contents.readFile(`${folder}/package.json`));
  const declared = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  };
  const found = contents
    .listFiles(`${folder}/dist`)
    .filter((file) => file.endsWith(".d.ts"))
    .flatMap((file) => [...contents.readFile(file).matchAll(TYPE_IMPORT)].map(([, name]) => name))
    .filter((name) => name !== manifest.name && !isBuiltin(name) && !(name in declared));
  return [...new Set(found)].map((name) => `its declarations import ${name}, which is not declared`);
}

async function proveAlone(one, packages) {
  const project = path.join(folder, "projects", one.name.replace("/", "__"));
  mkdirSync(project, { recursive: true });
  const dependencies = tarballsFor(one, packages);
  writeFileSync(
    path.join(project, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  cpSync(path.join(one.folder, "packed.mjs"), path.join(project, "packed.mjs"));
  const manager = values.manager ?? (BY_NPM.has(one.name) ? "npm" : "pnpm");
  await INSTALL[manager](project, dependencies);
  await run(node, ["packed.mjs"], { ...tried, cwd: project });
}
