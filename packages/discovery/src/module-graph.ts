import path from "node:path";
import type { FunctionFacts, ModuleFacts, ModuleFailure } from "./module-facts.ts";
import { isSkipped, isSource } from "./scan-folders.ts";
import { resolveSpecifier } from "./source-module.ts";

/** What an exported name turns out to be. */
export type Resolved =
  | { kind: "function"; file: string; facts: FunctionFacts }
  | { kind: "value" }
  | { kind: "missing"; file: string }
  | { kind: "failed"; file: string; facts: ModuleFacts };

/** Why a file can't be imported. */
export interface BrokenLink {
  /** The file to mend. */
  file: string;
  /** The file that can't be imported. */
  target: string;
  line?: number | undefined;
  message: string;
}

/** A file on the way, and the import that led to it. */
interface Visit {
  file: string;
  from?: { file: string; line: number; specifier: string } | undefined;
}

/** How files of a server hang together when they run. */
export interface ModuleGraph {
  factsOf(file: string): Promise<ModuleFacts>;
  /** What a file exports by a name, wherever it comes from. */
  resolve(file: string, name: string): Promise<Resolved>;
  /** All names that a file exports, with the line that does it. */
  exportsOf(file: string): Promise<Map<string, number>>;
  /** The first thing that keeps a file from being imported, in it or behind its imports. */
  brokenLink(file: string): Promise<BrokenLink | undefined>;
}

export function createModuleGraph(
  factsOf: (file: string) => Promise<ModuleFacts>,
  isInside: (file: string) => boolean,
): ModuleGraph {
  const sound = new Set<string>();

  async function resolve(file: string, name: string, seen = new Set<string>()): Promise<Resolved> {
    const place = `${file}\0${name}`;
    if (seen.has(place) || !isInside(file)) return { kind: "missing", file };
    seen.add(place);
    const facts = await factsOf(file);
    if (facts.failure) return { kind: "failed", file, facts };
    const own = facts.functions.find((each) => each.name === name);
    if (own) return { kind: "function", file, facts: own };
    if (facts.values.includes(name)) return { kind: "value" };
    const passedOn = facts.reexports.find(({ exported }) => exported === name);
    if (passedOn) return follow(file, passedOn.specifier, passedOn.imported, seen);
    if (name === "default") return { kind: "missing", file };
    for (const { specifier } of facts.stars) {
      const behind = await follow(file, specifier, name, seen);
      if (behind.kind === "function" || behind.kind === "value") return behind;
    }
    return { kind: "missing", file };
  }

  async function follow(from: string, specifier: string, name: string, seen: Set<string>): Promise<Resolved> {
    const target = resolveSpecifier(from, specifier);
    return target === undefined ? { kind: "value" } : resolve(target, name, seen);
  }

  async function exportsOf(file: string, seen = new Set<string>()): Promise<Map<string, number>> {
    const names = new Map<string, number>();
    if (seen.has(file) || !isInside(file)) return names;
    seen.add(file);
    const facts = await factsOf(file);
    for (const { specifier, line } of facts.stars) {
      const target = resolveSpecifier(file, specifier);
      if (target === undefined) continue;
      for (const name of (await exportsOf(target, seen)).keys())
        if (name !== "default") names.set(name, line);
    }
    for (const { exported, line } of facts.reexports) names.set(exported, line);
    for (const { name, line } of facts.functions) names.set(name, line);
    return names;
  }

  async function brokenLink(file: string): Promise<BrokenLink | undefined> {
    const visited = new Set<string>();
    const pending: Visit[] = [{ file }];
    for (let next = pending.pop(); next; next = pending.pop()) {
      if (visited.has(next.file) || sound.has(next.file)) continue;
      visited.add(next.file);
      const { failure, links } = await factsOf(next.file);
      if (failure?.kind === "broken") return toBrokenLink(next, failure);
      for (const { specifier, line } of links) {
        const target = resolveSpecifier(next.file, specifier);
        if (target === undefined || isLeaf(target)) continue;
        if (!isInside(target))
          return {
            file: next.file,
            target,
            line,
            message: `imports "${specifier}", which lies outside of the folder of tools`,
          };
        pending.push({ file: target, from: { file: next.file, line, specifier } });
      }
    }
    for (const each of visited) sound.add(each);
    return undefined;
  }

  return {
    factsOf,
    resolve: (file, name) => resolve(file, name),
    exportsOf: (file) => exportsOf(file),
    brokenLink,
  };
}

function toBrokenLink({ file, from }: Visit, { message, line }: ModuleFailure): BrokenLink {
  if (!from) return { file, target: file, message, ...(line === undefined ? {} : { line }) };
  return {
    file: from.file,
    target: file,
    line: from.line,
    message: `imports "${from.specifier}", which ${message}`,
  };
}

/** Files that are not looked into: vendored code and data. */
function isLeaf(file: string): boolean {
  const isVendored = file.split(path.sep).some((part) => part === "vendor" || part === "node_modules");
  return isVendored || (path.extname(file) !== "" && !isSource(file) && !isSkipped(path.basename(file)));
}
