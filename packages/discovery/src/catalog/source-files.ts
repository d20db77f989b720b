import { existsSync, lstatSync, realpathSync, statSync, type Stats } from "node:fs";
import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import path from "node:path";
import { withoutEscapes } from "@cem/core";
import type { ModuleFailure } from "../source/module-facts.ts";
import { isSource } from "./scan-folders.ts";

/** The sandbox's module through which generated tools call their server, relative to the workspace. */
const GUEST_CLIENT = "client/index.ts";

const WORKSPACE = "/workspace/";
/** The folder of a server or skill, or its index without or with any extension, all of which mean the index. */
const TOOL_FOLDER = /^((?:servers|skills)\/[^/.][^/]*?)(?:\/?|\/index(?:\.[cm]?[jt]s)?)$/u;
const FILE_NAME = /\.(?:[cm]?[jt]s|json)$/u;

/** Resolves a specifier as the sandbox does. Paths are relative to the workspace. `undefined` for what is not a file. */
function resolveInGuest(from: string, specifier: string): string | undefined {
  const given = /^(?:servers|skills)\//u.test(specifier) ? WORKSPACE + specifier : specifier;
  if (!/^(?:\.{0,2}\/|file:)/u.test(given)) return undefined;
  const url = URL.parse(given, `file://${WORKSPACE}${from}`);
  const target = path.posix.relative(WORKSPACE, url === null ? given : withoutEscapes(url.pathname));
  const folder = TOOL_FOLDER.exec(target)?.[1];
  return folder === undefined || FILE_NAME.test(folder) ? target : `${folder}/index.ts`;
}

const MAX_SOURCE_BYTES = 1024 * 1024;

/** A file modified more recently than this may change again within the resolution of its timestamps. */
const UNSETTLED_MS = 100;

interface SourceState {
  /** Timestamps and size, or the reason why it can't be read; "" when these are not reliable yet. */
  stamp: string;
  failure?: ModuleFailure | undefined;
}

export type SourceFiles = ReturnType<typeof createSourceFiles>;

/** An imported module: a file under a root, one that the sandbox provides, a package, which it does not, or none of these. */
export type ImportTarget = { kind: "file"; file: string } | { kind: "provided" | "package" | "outside" };

/** Creates the view of the files under folders, by their names in the sandbox. Each file is read again only when it changed. */
export function createSourceFiles(sourceRoots: readonly { dir: string; guestName: string }[]) {
  const roots = sourceRoots.map(({ dir }) => dir);
  let states = new Map<string, SourceState>();

  const isInside = (file: string) => roots.some((root) => contains(root, file));

  /** The path of a file in the sandbox, relative to its workspace; `undefined` for one outside of the roots. */
  function guestPath(file: string): string | undefined {
    const root = sourceRoots.find(({ dir }) => contains(dir, file));
    return root && [root.guestName, ...path.relative(root.dir, file).split(path.sep)].join("/");
  }

  function resolve(from: string, specifier: string): ImportTarget {
    const guestFile = guestPath(from);
    const target = guestFile === undefined ? undefined : resolveInGuest(guestFile, specifier);
    if (target === undefined) return { kind: isProvided(specifier) ? "provided" : "package" };
    const [name, ...rest] = target.split("/");
    const root = sourceRoots.find(({ guestName }) => guestName === name);
    if (root !== undefined) return { kind: "file", file: path.join(root.dir, ...rest) };
    const isData = !target.startsWith("../") && path.extname(target) !== "" && !isSource(target);
    return { kind: target === GUEST_CLIENT || isData ? "provided" : "outside" };
  }

  function leadsOutside(file: string): boolean {
    const target = realpathSync(file);
    return !roots.some((root) => existsSync(root) && contains(realpathSync(root), target));
  }

  function readState(file: string): SourceState {
    try {
      // Synchronous, since for thousands of files a promise costs ten times as much as the call.
      let stats = lstatSync(file);
      if (stats.isSymbolicLink()) {
        if (leadsOutside(file))
          return failed("outside", "is a link that leads out of its folder, which no sandbox follows");
        stats = statSync(file);
      }
      if (stats.isDirectory()) return failed("directory", "is a folder, not a file");
      if (!stats.isFile()) return failed("special", "is not a regular file");
      if (stats.size <= MAX_SOURCE_BYTES) return { stamp: stampOf(stats) };
      const message = `has ${stats.size.toLocaleString("en")} bytes; the most that is read is ${MAX_SOURCE_BYTES.toLocaleString("en")}`;
      return { stamp: `large:${stats.size}`, failure: { kind: "unread", message } };
    } catch (error) {
      const [reason, message] = reasonOf(error);
      const hint = reason === "missing" ? hintFor(file) : "";
      return failed(`${reason}${hint}`, `${message}${hint}`);
    }
  }

  return {
    isInside,
    guestPath,
    resolve,
    beginPass() {
      states = new Map();
    },
    check(file: string) {
      let state = states.get(file);
      if (state === undefined) states.set(file, (state = readState(file)));
      return state;
    },
    /** Reads a file that was checked without a failure; returns its text, or why it can't be read. */
    async read(file: string): Promise<string | ModuleFailure> {
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
      } catch (error) {
        const isText = !(error instanceof TypeError);
        const [, message] = isText ? reasonOf(error) : ["", "is not UTF-8 text"];
        return { kind: isText ? "broken" : "unread", message };
      }
    },
  };
}

function isProvided(specifier: string): boolean {
  return /^(?:data|blob|cem):/u.test(specifier) || isBuiltin(specifier);
}

function contains(root: string, file: string): boolean {
  return file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

function stampOf({ mtimeMs, ctimeMs, size }: Stats): string {
  const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > UNSETTLED_MS;
  return isSettled ? `${mtimeMs}:${ctimeMs}:${size}` : "";
}

function failed(reason: string, message: string): SourceState {
  return { stamp: reason, failure: { kind: "broken", message } };
}

/** The TypeScript file that is meant by an import without an extension or with that of the compiled file. */
function hintFor(file: string): string {
  const meant = [`${file}.ts`, file.replace(/js$/u, "ts")].find(
    (other) => other !== file && existsSync(other),
  );
  return meant === undefined
    ? ""
    : `, but ${path.basename(meant)} does: an import has to name the file as it is`;
}

function reasonOf(error: unknown): [string, string] {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "ENOENT" || code === "ENOTDIR") return ["missing", "does not exist"];
  if (code === "ELOOP") return ["loop", "is a link that leads back to itself"];
  if (code === "EACCES" || code === "EPERM") return ["denied", "can't be read: permission was denied"];
  return ["unreadable", `can't be read: ${error instanceof Error ? error.message : String(error)}`];
}
