import path from "node:path";
import type { FunctionFacts, ModuleFacts, ModuleFailure } from "./module-facts.ts";
import { resolveSpecifier } from "./resolve-specifier.ts";
import type { SourceFiles } from "./source-files.ts";
import { isSkipped, isSource } from "./scan-folders.ts";

/** What an exported name refers to. */
export type Resolved =
  | { kind: "function"; file: string; facts: FunctionFacts }
  | { kind: "value" }
  | { kind: "missing"; file: string }
  | { kind: "failed"; file: string; facts: ModuleFacts };

/** An import that fails. */
export interface BrokenLink {
  /** The file that has to be changed. */
  file: string;
  /** The file that can't be imported. */
  target: string;
  line?: number | undefined;
  message: string;
}

/** A file to visit, with the import that led to it. */
interface Visit {
  file: string;
  from?: { file: string; line: number; specifier: string } | undefined;
}

/** The files of a server and their imports at run time. */
export interface ModuleGraph {
  factsOf(file: string): Promise<ModuleFacts>;
  /** Resolves an exported name through re-exports. */
  resolve(file: string, name: string): Promise<Resolved>;
  /** All names that a file exports, with their lines. */
  exportsOf(file: string): Promise<Map<string, number>>;
  /** Finds the first failing import of a file and its dependencies; `undefined` when it can be imported. */
  brokenLink(file: string): Promise<BrokenLink | undefined>;
}

/**
 * Creates the module graph of a server.
 *
 * @param factsOf - Reads the facts of a file.
 * @param sources - The folders of tools.
 */
export function createModuleGraph(
  factsOf: (file: string) => Promise<ModuleFacts>,
  { isInside, locate }: Pick<SourceFiles, "isInside" | "locate">,
): ModuleGraph {
  /** Files that are known to be importable. */
  const importable = new Set<string>();

  const targetOf = (from: string, specifier: string): string | undefined => {
    const target = resolveSpecifier(from, specifier);
    return target && locate(target);
  };

  async function resolve(file: string, name: string, seen = new Set<string>()): Promise<Resolved> {
    const key = `${file}\0${name}`;
    if (seen.has(key) || !isInside(file)) return { kind: "missing", file };
    seen.add(key);
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
    const target = targetOf(from, specifier);
    return target === undefined ? { kind: "value" } : resolve(target, name, seen);
  }

  async function exportsOf(file: string, seen = new Set<string>()): Promise<Map<string, number>> {
    const names = new Map<string, number>();
    if (seen.has(file) || !isInside(file)) return names;
    seen.add(file);
    const facts = await factsOf(file);
    for (const { specifier, line } of facts.stars) {
      const target = targetOf(file, specifier);
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
      if (visited.has(next.file) || importable.has(next.file)) continue;
      visited.add(next.file);
      const { failure, links } = await factsOf(next.file);
      if (failure?.kind === "broken") return toBrokenLink(next, failure);
      for (const { specifier, line } of links) {
        const target = targetOf(next.file, specifier);
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
    for (const each of visited) importable.add(each);
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
  if (!from) return { file, target: file, message, line };
  return {
    file: from.file,
    target: file,
    line: from.line,
    message: `imports "${from.specifier}", which ${message}`,
  };
}

/** Whether a file is not followed: vendored code and data. */
function isLeaf(file: string): boolean {
  const isVendored = file.split(path.sep).some((part) => part === "vendor" || part === "node_modules");
  return isVendored || (path.extname(file) !== "" && !isSource(file) && !isSkipped(path.basename(file)));
}
