// Sets the project up where that has not been done: installs the packages and builds the command. Says what
// it does on stderr, in plain words. Runs on a bare Node 20 with npm.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { findNode, nodeMissing, root } from "./node24.mjs";

const PNPM = "pnpm@12.18.0";
const STATE_DIR = path.join(root, ".cem");
const STAMP = path.join(root, "node_modules", ".cem-setup.json");
const LOG = path.join(STATE_DIR, "setup.log");
const LOCK = path.join(STATE_DIR, "setup.lock");
const HEARTBEAT_MS = 10_000;
const LOCK_WAIT_MS = 500;
const LOCK_STALE_MS = 10 * 60_000;

/** What went wrong and what to do, for people. */
export class SetupError extends Error {}

/** Brings packages and build up to date, and resolves to the path of the Node to use. */
export async function setUp() {
  const wanted = { packages: hashOfManifests(), build: hashOfSources() };
  if (isCurrent(wanted)) return requireNode();
  mkdirSync(STATE_DIR, { recursive: true });
  const release = await takeLock();
  try {
    const done = readStamp();
    if (isCurrent(wanted)) return requireNode();
    rmSync(LOG, { force: true });
    if (done.packages !== wanted.packages) {
      rmSync(STAMP, { force: true });
      say(
        `Setting up: this happens once and takes about half a minute. Details: ${path.relative(root, LOG)}`,
      );
      await step("packages", "npx", ["-y", PNPM, "install", "--frozen-lockfile"], {
        wayOut:
          "The packages could not be installed. Check that the npm registry can be reached (npm ping), then run this again.",
      });
      writeStamp({ packages: wanted.packages });
    }
    requireNode();
    await step("build", bin("turbo"), ["run", "build", "--output-logs=errors-only"], {
      wayOut: "The build failed. The lines above say where.",
    });
    writeStamp(wanted);
    say("");
    return requireNode();
  } finally {
    release();
  }
}

/** The environment for tools of the project: its own Node and binaries first on PATH. */
export function toolEnvironment() {
  const binaries = path.join(root, "node_modules", ".bin");
  return {
    ...process.env,
    PATH: `${binaries}${path.delimiter}${process.env.PATH ?? ""}`,
    TURBO_TELEMETRY_DISABLED: "1",
  };
}

/** The path of a tool that the project installs. */
export function bin(name) {
  return path.join(root, "node_modules", ".bin", name);
}

export function say(line) {
  process.stderr.write(`${line}\n`);
}

function requireNode() {
  const node = findNode();
  if (node === undefined) throw new SetupError(nodeMissing);
  return node;
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return {};
  }
}

function writeStamp(stamp) {
  writeFileSync(STAMP, JSON.stringify(stamp));
}

function isCurrent(wanted) {
  const done = readStamp();
  return done.packages === wanted.packages && done.build === wanted.build;
}

function hashOfManifests() {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"]) {
    hash.update(readFileSync(path.join(root, file)));
  }
  return hash.digest("hex");
}

/** Names, sizes and times of everything the build reads: a stat each, so a start costs milliseconds. */
function hashOfSources() {
  const hash = createHash("sha256");
  for (const group of ["packages", "apps"]) {
    for (const name of listed(path.join(root, group))) {
      const folder = path.join(root, group, name);
      for (const file of ["package.json", "tsup.config.ts", "tsconfig.json"])
        addFile(hash, path.join(folder, file));
      addFolder(hash, path.join(folder, "src"));
    }
  }
  return hash.digest("hex");
}

function listed(folder) {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function addFolder(hash, folder) {
  for (const name of listed(folder)) {
    if (name.endsWith(".test.ts")) continue;
    const entry = path.join(folder, name);
    if (statSync(entry).isDirectory()) addFolder(hash, entry);
    else addFile(hash, entry);
  }
}

function addFile(hash, file) {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined) hash.update(`${file}\n${found.size}\n${found.mtimeMs}\n`);
}

/** One set-up at a time: two terminals may start together. */
async function takeLock() {
  const waitingSince = Date.now();
  let told = false;
  for (;;) {
    try {
      mkdirSync(LOCK);
      return () => rmSync(LOCK, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const held = statSync(LOCK, { throwIfNoEntry: false });
    if (held !== undefined && Date.now() - held.mtimeMs > LOCK_STALE_MS)
      rmSync(LOCK, { recursive: true, force: true });
    if (!told && Date.now() - waitingSince > LOCK_WAIT_MS) {
      say("Another set-up is running in this folder; waiting for it.");
      told = true;
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
  }
}

async function step(name, command, args, { wayOut }) {
  const started = Date.now();
  say(`  ${name.padEnd(10)} …`);
  const beat = setInterval(() => say(`  ${"".padEnd(10)} still at it, ${seconds(started)}`), HEARTBEAT_MS);
  try {
    const { code, output } = await runLogged(command, args);
    if (code !== 0) {
      say(output.split("\n").slice(-30).join("\n"));
      throw new SetupError(`${wayOut}\nThe whole log: ${path.relative(root, LOG)}`);
    }
  } finally {
    clearInterval(beat);
  }
  say(`  ${name.padEnd(10)} done, ${seconds(started)}`);
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

function runLogged(command, args) {
  return new Promise((resolve, reject) => {
    const log = createWriteStream(LOG, { flags: "a" });
    const child = spawn(command, args, {
      cwd: root,
      env: toolEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => {
        output += text;
        log.write(text);
      });
    }
    child.on("error", reject);
    child.on("close", (code) => log.end(() => resolve({ code, output })));
  });
}
