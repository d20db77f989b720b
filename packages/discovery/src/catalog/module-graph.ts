import path from "node:path";
import { toolId } from "@cem/core";
import type { FunctionFacts, ModuleFacts, ModuleFailure } from "../source/module-facts.ts";
import { isSkipped, isSource } from "./scan-folders.ts";
import type { ImportTarget, SourceFiles } from "./source-files.ts";

type Resolved =
  | { kind: "function"; file: string; facts: FunctionFacts }
  | { kind: "value" }
  | { kind: "missing"; file: string }
  | { kind: "failed"; file: string; facts: ModuleFacts };

export interface BrokenLink {
  file: string;
  /** The file that can't be imported; the specifier if it is not a file of a folder of tools. */
  target: string;
  line?: number | undefined;
  message: string;
}

const SERVER_MODULE = /^servers\/([^/]+)\//u;
const SERVER_INDEX = /^servers\/([^/]+)\/index\.ts$/u;

/** A specifier of a tool or skill as in programs, which means another path in a file of a skill. */
const FROM_PROGRAM = /^\.\/((?:servers|skills)\/.+)$/u;

interface Visit {
  file: string;
  from?: { file: string; line: number; specifier: string } | undefined;
}

interface ModuleGraphSettings extends Pick<SourceFiles, "isInside" | "guestPath" | "resolve"> {
  /** Names of tools that run on the host and have no file, by server: their modules export them anyway. */
  hostTools: Readonly<Record<string, readonly string[]>>;
}

export type ModuleGraph = ReturnType<typeof createModuleGraph>;

export function createModuleGraph(
  factsOf: (file: string) => Promise<ModuleFacts>,
  { isInside, guestPath, resolve: targetOf, hostTools }: ModuleGraphSettings,
) {
  const importable = new Set<string>();

  /** The tools without a file that a module exports in addition to its file's exports. */
  const hostToolsOf = (file: string): readonly string[] => {
    const server = SERVER_INDEX.exec(guestPath(file) ?? "")?.[1];
    return server !== undefined && Object.hasOwn(hostTools, server) ? (hostTools[server] ?? []) : [];
  };

  /** The file to read; other imports are available or reported elsewhere. */
  const fileOf = (target: ImportTarget): string | undefined =>
    target.kind === "file" ? target.file : undefined;

  async function resolve(file: string, name: string, seen = new Set<string>()): Promise<Resolved> {
    const key = `${file}\0${name}`;
    if (seen.has(key) || !isInside(file)) return { kind: "missing", file };
    seen.add(key);
    if (hostToolsOf(file).includes(name)) return { kind: "value" };
    const facts = await factsOf(file);
    if (facts.failure) return { kind: "failed", file, facts };
    const own = facts.functions.find((each) => each.name === name);
    if (own) return { kind: "function", file, facts: own };
    if (facts.values.includes(name)) return { kind: "value" };
    const reexport = facts.reexports.find(({ exported }) => exported === name);
    if (reexport) return follow(file, reexport.specifier, reexport.imported, seen);
    if (name === "default") return { kind: "missing", file };
    for (const { specifier } of facts.stars) {
      const behind = await follow(file, specifier, name, seen);
      if (behind.kind === "function" || behind.kind === "value") return behind;
    }
    return { kind: "missing", file };
  }

  async function follow(from: string, specifier: string, name: string, seen: Set<string>): Promise<Resolved> {
    const target = fileOf(targetOf(from, specifier));
    return target === undefined ? { kind: "value" } : resolve(target, name, seen);
  }

  async function exportsOf(file: string, seen = new Set<string>()): Promise<Map<string, number>> {
    const names = new Map<string, number>();
    if (seen.has(file) || !isInside(file)) return names;
    seen.add(file);
    const facts = await factsOf(file);
    for (const { specifier, line } of facts.stars) {
      const target = fileOf(targetOf(file, specifier));
      if (target === undefined) continue;
      for (const name of (await exportsOf(target, seen)).keys())
        if (name !== "default") names.set(name, line);
    }
    for (const { exported, line } of facts.reexports) names.set(exported, line);
    for (const { name, line } of facts.functions) names.set(name, line);
    return names;
  }

  /** The first of some names that a module does not export. A module that can't be read may export any. */
  async function nameNotIn(file: string, names: readonly string[]): Promise<string | undefined> {
    for (const name of names) {
      if (name === "*" || name === "default") continue;
      if ((await resolve(file, name)).kind === "missing") return name;
    }
    return undefined;
  }

  /** The tools of servers that a file of a skill imports, also through others, as `server.tool`; `server.*` for all. */
  async function toolsUsedBy(file: string): Promise<string[]> {
    const used = new Set<string>();
    const visited = new Set<string>();
    const pending = [file];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (visited.has(next)) continue;
      visited.add(next);
      for (const { specifier, names } of (await factsOf(next)).links) {
        const target = fileOf(targetOf(next, specifier));
        if (target === undefined || isLeaf(target)) continue;
        const server = SERVER_MODULE.exec(guestPath(target) ?? "")?.[1];
        if (server === undefined) pending.push(target);
        else for (const name of names) used.add(toolId({ server, name }));
      }
    }
    return [...used].toSorted();
  }

  /** Whether a module has no file, since all its tools run on the host. */
  async function isOnHostOnly(file: string): Promise<boolean> {
    return hostToolsOf(file).length > 0 && (await factsOf(file)).failure !== undefined;
  }

  /** Finds the first failing import of a file and its dependencies; `undefined` when it can be imported. */
  async function brokenLink(file: string): Promise<BrokenLink | undefined> {
    const visited = new Set<string>();
    const pending: Visit[] = [{ file }];
    for (let next = pending.pop(); next; next = pending.pop()) {
      if (visited.has(next.file) || importable.has(next.file)) continue;
      visited.add(next.file);
      const { failure, links } = await factsOf(next.file);
      if (failure?.kind === "broken") return toBrokenLink(next, failure, guestPath);
      for (const { specifier, line, names } of links) {
        const target = targetOf(next.file, specifier);
        if (target.kind === "outside" || target.kind === "package")
          return unreachable(next.file, specifier, line, target.kind);
        const file = fileOf(target);
        if (file === undefined || isLeaf(file) || (await isOnHostOnly(file))) continue;
        const absent = await nameNotIn(file, names);
        if (absent !== undefined) {
          const exported = [...(await exportsOf(file)).keys(), ...hostToolsOf(file)].toSorted().join(", ");
          const message = `imports ${absent} from "${specifier}", which exports ${exported || "no function"}`;
          return { file: next.file, target: file, line, message };
        }
        pending.push({ file, from: { file: next.file, line, specifier } });
      }
    }
    for (const each of visited) importable.add(each);
    return undefined;
  }

  return { guestPath, factsOf, resolve, exportsOf, brokenLink, toolsUsedBy };
}

function unreachable(file: string, specifier: string, line: number, kind: "outside" | "package"): BrokenLink {
  const why =
    kind === "outside"
      ? "lies outside of the folders of tools and skills"
      : "is a package, and code in the sandbox has none. Bundle it into a file, such as in vendor/, and import that";
  return { file, target: specifier, line, message: `imports "${specifier}", which ${why}` };
}

function toBrokenLink(
  { file, from }: Visit,
  { message, line }: ModuleFailure,
  guestPath: ModuleGraphSettings["guestPath"],
): BrokenLink {
  if (!from) return { file, target: file, message, line };
  const meant = FROM_PROGRAM.exec(from.specifier)?.[1];
  const hint =
    meant === undefined
      ? ""
      : `. From here, what a program calls ./${meant} is ${path.posix.relative(path.posix.dirname(guestPath(from.file) ?? ""), meant)}`;
  return {
    file: from.file,
    target: file,
    line: from.line,
    message: `imports "${from.specifier}", which ${message}${hint}`,
  };
}

/** Whether a file is not followed: vendored code and data. */
function isLeaf(file: string): boolean {
  const isVendored = file.split(path.sep).some((part) => part === "vendor" || part === "node_modules");
  return isVendored || (path.extname(file) !== "" && !isSource(file) && !isSkipped(path.basename(file)));
}
