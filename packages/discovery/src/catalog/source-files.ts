import { hash } from "node:crypto";
import { lstatSync, statSync, type Stats } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import type { ModuleFailure } from "../source/module-facts.ts";
import { isSource } from "./scan-folders.ts";

/** The module of the sandbox by which generated tools call their server, relative to the workspace. */
const GUEST_CLIENT = "client/index.ts";

const WORKSPACE = "/workspace/";
/** The folder of a server or skill, or its index without or with another ending, all of which stand for the index. */
const TOOL_FOLDER = /^((?:servers|skills)\/[^/.][^/]*?)(?:\/?|\/index(?:\.[cm]?[jt]s)?)$/u;
const FILE_NAME = /\.(?:[cm]?[jt]s|json)$/u;

/**
 * Resolves a specifier as the sandbox does.
 *
 * @param from - The file that imports, relative to the workspace: `skills/report/index.ts`.
 * @returns the path relative to the workspace, which begins with `../` outside of it; `undefined` for packages and other
 * modules that are no files.
 */
function resolveInGuest(from: string, specifier: string): string | undefined {
  const given = /^(?:servers|skills)\//u.test(specifier) ? WORKSPACE + specifier : specifier;
  if (!/^(?:\.{0,2}\/|file:)/u.test(given)) return undefined;
  const url = URL.parse(given, `file://${WORKSPACE}${from}`);
  const target = path.posix.relative(WORKSPACE, url === null ? given : decoded(url.pathname));
  const folder = TOOL_FOLDER.exec(target)?.[1];
  return folder === undefined || FILE_NAME.test(folder) ? target : `${folder}/index.ts`;
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

/** The size of the largest file that is read. */
const MAX_SOURCE_BYTES = 1024 * 1024;

/** A file modified more recently than this may change again within the resolution of its timestamps. */
const UNSETTLED_MS = 100;

/** The hash of a file that does not exist. */
const MISSING = "missing";

/** The state of a file when it was last checked. */
interface SourceState {
  /** Timestamps and size; "" when they can't be relied on and the file has to be read. */
  stamp: string;
  /** The digest of the content, or the name of the reason why there is none. */
  hash: string;
  failure?: ModuleFailure | undefined;
}

/** The files under some roots. Each is read again only when it changed. */
export interface SourceFiles {
  /** States by absolute path, as of the last check. */
  readonly states: Map<string, SourceState>;
  /** Begins a pass, in which every file is checked at most once. */
  beginPass(): void;
  /** Checks a file, unless it was checked in this pass. */
  check(file: string): Promise<SourceState>;
  /** The hash of a file that did not change since its last check; `undefined` when it has to be checked. */
  unchangedHash(file: string): string | undefined;
  /** The text of a file without a failure; `undefined` when it can't be read after all. */
  text(file: string): Promise<string | undefined>;
  /** Whether a path lies under one of the roots. */
  isInside(file: string): boolean;
  /** The path of a file in the sandbox, relative to its workspace; `undefined` for one outside of the roots. */
  guestPath(file: string): string | undefined;
  /** Finds what a file under a root imports, as the sandbox resolves it. */
  resolve(from: string, specifier: string): ImportTarget;
}

/**
 * A module that a file imports. `file` is an absolute path under a root; `provided` is there without a file of a root, such
 * as a built-in module or data of the workspace; `outside` is neither.
 */
export type ImportTarget = { kind: "file"; file: string } | { kind: "provided" } | { kind: "outside" };

/** A folder of tools. */
interface SourceRoot {
  /** Absolute path. */
  dir: string;
  /** Its name in the sandbox. */
  guestName: string;
}

/** Creates the view of the files under some roots. */
export function createSourceFiles(sourceRoots: readonly SourceRoot[]): SourceFiles {
  const roots = sourceRoots.map(({ dir }) => dir);
  const states = new Map<string, SourceState>();
  let checks = new Map<string, Promise<SourceState>>();
  let unchanged = new Map<string, string | undefined>();
  let texts = new Map<string, string>();
  const realRoots = new Map<string, Promise<string>>();

  const isInside = (file: string) => roots.some((root) => contains(root, file));

  function guestPath(file: string): string | undefined {
    const root = sourceRoots.find(({ dir }) => contains(dir, file));
    return root && [root.guestName, ...path.relative(root.dir, file).split(path.sep)].join("/");
  }

  function resolve(from: string, specifier: string): ImportTarget {
    const guestFile = guestPath(from);
    const target = guestFile === undefined ? undefined : resolveInGuest(guestFile, specifier);
    if (target === undefined) return { kind: "provided" };
    const [name, ...rest] = target.split("/");
    const root = sourceRoots.find(({ guestName }) => guestName === name);
    if (root !== undefined) return { kind: "file", file: path.join(root.dir, ...rest) };
    const isData = !target.startsWith("../") && path.extname(target) !== "" && !isSource(target);
    return { kind: target === GUEST_CLIENT || isData ? "provided" : "outside" };
  }

  async function leadsOutside(file: string): Promise<boolean> {
    const target = await realpath(file);
    const found = await Promise.all(
      roots.map(async (root) => {
        const real = realRoots.get(root) ?? realpath(root).catch(() => root);
        realRoots.set(root, real);
        return contains(await real, target);
      }),
    );
    return !found.includes(true);
  }

  async function readState(file: string): Promise<SourceState> {
    try {
      // Synchronous, since a promise costs ten times what the call does, for thousands of files.
      let stats = lstatSync(file);
      if (stats.isSymbolicLink()) {
        if (await leadsOutside(file))
          return failed("outside", "is a link that leads out of its folder, which no sandbox follows");
        stats = statSync(file);
      }
      if (stats.isDirectory()) return failed("directory", "is a folder, not a file");
      if (!stats.isFile()) return failed("special", "is not a regular file");
      return await checkContent(file, stats);
    } catch (error) {
      return failed(...reasonOf(error));
    }
  }

  async function checkContent(file: string, stats: Stats): Promise<SourceState> {
    const stamp = stampOf(stats);
    const known = states.get(file);
    if (known && known.stamp !== "" && known.stamp === stamp) return known;
    if (stats.size > MAX_SOURCE_BYTES) {
      const message = `has ${stats.size.toLocaleString("en")} bytes; the most that is read is ${MAX_SOURCE_BYTES.toLocaleString("en")}`;
      return { stamp, hash: `large:${stats.size}`, failure: { kind: "unread", message } };
    }
    const bytes = await readFile(file);
    const digest = hash("sha256", bytes, "base64url");
    try {
      texts.set(file, new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch {
      return { stamp, hash: digest, failure: { kind: "unread", message: "is not UTF-8 text" } };
    }
    return { stamp, hash: digest };
  }

  function findUnchanged(file: string): string | undefined {
    const known = states.get(file);
    try {
      const stats = lstatSync(file, { throwIfNoEntry: false });
      if (!stats) return MISSING;
      const isKnown = known !== undefined && known.stamp !== "" && stats.isFile();
      return isKnown && stampOf(stats) === known.stamp ? known.hash : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    states,
    isInside,
    guestPath,
    resolve,
    beginPass() {
      checks = new Map();
      unchanged = new Map();
      texts = new Map();
    },
    check(file) {
      const present = checks.get(file);
      if (present) return present;
      const check = readState(file).then((state) => {
        states.set(file, state);
        return state;
      });
      checks.set(file, check);
      return check;
    },
    unchangedHash(file) {
      if (unchanged.has(file)) return unchanged.get(file);
      const found = findUnchanged(file);
      unchanged.set(file, found);
      return found;
    },
    async text(file) {
      const kept = texts.get(file);
      if (kept !== undefined) return kept;
      return readFile(file, "utf8").catch(() => undefined);
    },
  };
}

/** Whether a file lies under a root. Both paths are absolute and normalised. */
function contains(root: string, file: string): boolean {
  return file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

function stampOf({ mtimeMs, ctimeMs, size }: Stats): string {
  const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > UNSETTLED_MS;
  return isSettled ? `${mtimeMs}:${ctimeMs}:${size}` : "";
}

function failed(reason: string, message: string): SourceState {
  return { stamp: "", hash: reason, failure: { kind: "broken", message } };
}

function reasonOf(error: unknown): [string, string] {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "ENOENT" || code === "ENOTDIR") return [MISSING, "does not exist"];
  if (code === "ELOOP") return ["loop", "is a link that leads back to itself"];
  if (code === "EACCES" || code === "EPERM") return ["denied", "can't be read: permission was denied"];
  return ["unreadable", `can't be read: ${error instanceof Error ? error.message : String(error)}`];
}
