// Sets the project up where that has not been done: installs the packages. Nothing is built, since Node runs the
// TypeScript sources as they are. Says what it does on stderr, in plain words. Runs on a bare Node 20 with npm.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findNode, nodeMissing, root } from "./node24.mjs";

const PNPM = "pnpm@12.18.0";
const STATE_DIR = path.join(root, ".cem");
const STAMP = path.join(root, "node_modules", ".cem-setup");
const LOG = path.join(STATE_DIR, "setup.log");
const LOCK = path.join(STATE_DIR, "setup.lock");
const HEARTBEAT_MS = 10_000;
const LOCK_POLL_MS = 500;
/** The package manager's errors where packages are linked to the store of another home. */
const OTHER_STORE = /ERR_PNPM_(?:UNEXPECTED_STORE|UNEXPECTED_VIRTUAL_STORE|ABORTED_REMOVE_MODULES_DIR)/u;

/** A failure of the set-up, with the remedy, for people. */
export class SetupError extends Error {}

/** Running the command needs a part of the packages; tests, builds and benchmarks need all of them. */
const EXTENTS = {
  run: {
    size: "about 240 packages, 440 MB on disk. That takes 10 seconds to 3 minutes",
    args: ["--prod", "--filter", ".", "--filter", "@cem/cli..."],
  },
  all: {
    size: "about 1,100 packages, 1.5 GB on disk. That takes 30 seconds to 2 minutes",
    args: [],
  },
};

/**
 * Brings the packages up to date, and resolves to the path of the Node to use.
 *
 * @param {keyof typeof EXTENTS} asked
 */
export async function setUp(asked = "all") {
  if (isSetUp(asked)) return requireNode();
  const hash = hashOfManifests();
  // Installing fewer packages than there are would remove the others.
  const extent = existsSync(bin("turbo")) ? "all" : asked;
  const wanted = `${extent} ${hash}`;
  mkdirSync(STATE_DIR, { recursive: true });
  const release = await takeLock();
  try {
    if (isSetUp(asked)) return requireNode();
    rmSync(LOG, { force: true });
    rmSync(STAMP, { force: true });
    const { size, args } = EXTENTS[extent];
    say(`Setting up, once: ${size}, by network and disk.`);
    say(`Details: ${path.relative(root, LOG)}`);
    await step("packages", "npx", ["-y", PNPM, "install", "--frozen-lockfile", ...args], {
      wayOut:
        "The packages could not be installed. Check that the npm registry can be reached (npm ping), then run this again.",
    });
    writeFileSync(STAMP, wanted);
    say("");
    return requireNode();
  } finally {
    release();
  }
}

/**
 * Whether the packages that are needed are installed, as the manifests of now want them.
 *
 * @param {keyof typeof EXTENTS} asked
 */
export function isSetUp(asked) {
  const hash = hashOfManifests();
  return [asked, "all"].some((extent) => readStamp() === `${extent} ${hash}`);
}

/** Where Node keeps the code it has compiled: a command of ours then starts in less time. */
export const compileCache = path.join(root, ".cem", "compile-cache");

/** The environment for tools of the project: its own Node and binaries first on PATH. */
export function toolEnvironment() {
  const binaries = path.join(root, "node_modules", ".bin");
  return {
    ...process.env,
    PATH: `${binaries}${path.delimiter}${process.env.PATH ?? ""}`,
    NODE_COMPILE_CACHE: compileCache,
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
    return readFileSync(STAMP, "utf8");
  } catch {
    return "";
  }
}

function hashOfManifests() {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"]) {
    hash.update(readFileSync(path.join(root, file)));
  }
  return hash.digest("hex");
}

/** One set-up at a time: two terminals may start together. A lock whose process is gone counts for nothing. */
async function takeLock() {
  let told = false;
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: "wx" });
      return () => rmSync(LOCK, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (!isHeld()) {
      rmSync(LOCK, { force: true });
      continue;
    }
    if (!told) say("Another set-up is running in this folder; waiting for it.");
    told = true;
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
}

function isHeld() {
  try {
    process.kill(Number(readFileSync(LOCK, "utf8")), 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function step(name, command, args, { wayOut }) {
  const started = Date.now();
  say(`  ${name.padEnd(10)} …`);
  const beat = setInterval(
    () => say(`  ${"".padEnd(10)} still at it, ${seconds(started)}${progress()}`),
    HEARTBEAT_MS,
  );
  try {
    let { code, output } = await runLogged(command, args);
    if (code !== 0 && OTHER_STORE.test(output)) {
      say(`  ${"".padEnd(10)} those that are here were installed from another home: anew`);
      rmSync(path.join(root, "node_modules"), { recursive: true, force: true });
      ({ code, output } = await runLogged(command, args));
    }
    if (code !== 0) {
      say(output.split("\n").slice(-30).join("\n"));
      throw new SetupError(`${wayOut}\nThe whole log: ${path.relative(root, LOG)}`);
    }
  } finally {
    clearInterval(beat);
  }
  say(`  ${name.padEnd(10)} done, ${seconds(started)}`);
}

/** How far the package manager is, in its own words from the log. */
function progress() {
  const line = readFileSync(LOG, "utf8")
    .match(/^Progress: .*$/gmu)
    ?.at(-1);
  return line === undefined ? "" : `: ${line.slice("Progress: ".length)}`;
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
