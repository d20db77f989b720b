import { isObject } from "@cem/core";
import { factsWithoutCode, type ModuleFacts, type ModuleFailure } from "../source/module-facts.ts";
import type { SourceModule } from "../source/source-module.ts";
import type { SourceFiles } from "./source-files.ts";

/** Changes whenever the facts read from a file, or their format, change. */
export const FORMAT = "cem-discovery-6";

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const MAX_FRONT_MATTER_CHARACTERS = 64 * 1024;
const MATTER_UNREAD = "has front matter that can't be read: it must be YAML, and its description a text";

/** Reads the description in a README.md or SKILL.md: that of the front matter, else the first paragraph. */
async function readMarkdown(text: string): Promise<ModuleFacts> {
  const match = FRONT_MATTER.exec(text);
  const matter = match ? await readMatter(match[1] ?? "") : {};
  if (!matter) return factsWithoutCode({ failure: { kind: "unread", message: MATTER_UNREAD } });
  const description = matter.description?.trim() ?? firstParagraph(text.slice(match?.[0].length ?? 0));
  return factsWithoutCode({ description });
}

/** Reads the fields of the front matter that are used; `undefined` when it is not a mapping in YAML. */
async function readMatter(text: string): Promise<{ description?: string } | undefined> {
  if (text.length > MAX_FRONT_MATTER_CHARACTERS) return undefined;
  const { parse } = await import("yaml");
  try {
    const matter: unknown = parse(text) ?? {};
    if (!isObject(matter)) return undefined;
    const { description } = matter;
    if (description === undefined) return {};
    return typeof description === "string" ? { description } : undefined;
  } catch {
    return undefined;
  }
}

function firstParagraph(text: string): string {
  const blocks = text.split(/\r?\n\s*\r?\n/).flatMap((block) => block.split(/\n(?=#)|\n(?<=^#.*\n)/m));
  const lines = blocks
    .map((block) => block.trim().replaceAll(/(?<!\s)\s*\n\s*/g, " "))
    .filter((block) => block !== "" && !/^(?:```|<|!?\[|---|===)/.test(block));
  const paragraph = lines.find((line) => !line.startsWith("#"));
  return paragraph ?? lines[0]?.replace(/^#+\s*/, "") ?? "";
}

export interface FactsEntry {
  stamp: string;
  /** Other files from which types were taken: path and stamp. */
  dependencies: [file: string, stamp: string][];
  facts: ModuleFacts;
}

/** Maximum number of parsed files kept during a pass for others that import types from them. */
const MAX_PARSED_MODULES = 128;

export type FactsStore = ReturnType<typeof createFactsStore>;

/** Reads facts from files, again only when the file or one that its types come from changed. */
export function createFactsStore(sources: SourceFiles) {
  const entries = new Map<string, FactsEntry>();
  const parsed = new Map<string, Promise<SourceModule | undefined>>();
  const current = new Map<string, Promise<ModuleFacts>>();
  let reads = 0;

  const load = async (file: string): Promise<string | ModuleFailure> =>
    sources.check(file).failure ?? sources.read(file);

  async function parse(file: string): Promise<SourceModule | ModuleFailure> {
    const text = await load(file);
    if (typeof text !== "string") return text;
    // The parser is loaded lazily: a process whose files are all cached never needs it.
    const { parseSourceModule } = await import("../source/source-module.ts");
    return parseSourceModule(file, text);
  }

  function parseShared(file: string): Promise<SourceModule | undefined> {
    const present = parsed.get(file);
    if (present) return present;
    if (parsed.size >= MAX_PARSED_MODULES) parsed.clear();
    const module = parse(file).then((result) => ("file" in result ? result : undefined));
    parsed.set(file, module);
    return module;
  }

  async function read(file: string): Promise<Omit<FactsEntry, "stamp">> {
    const failed = (failure: ModuleFailure) => ({ dependencies: [], facts: factsWithoutCode({ failure }) });
    if (file.endsWith(".md")) {
      const text = await load(file);
      return typeof text === "string" ? { dependencies: [], facts: await readMarkdown(text) } : failed(text);
    }
    const module = await parse(file);
    if (!("file" in module)) return failed(module);
    const { facts, used } = await readWithImports(module);
    return { dependencies: used.map((each): [string, string] => [each, sources.check(each).stamp]), facts };
  }

  /** Reads a module, loads the files from which it needs types, and reads it again until none is missing. */
  async function readWithImports(module: SourceModule): Promise<{ facts: ModuleFacts; used: string[] }> {
    const { readModule } = await import("../functions/read-module.ts");
    const modules = new Map<string, SourceModule | undefined>([[module.file, module]]);
    for (;;) {
      const missing = new Set<string>();
      const facts = readModule(module, (from, specifier) => {
        const target = sources.resolve(from, specifier);
        if (target.kind !== "file") return undefined;
        if (!modules.has(target.file)) missing.add(target.file);
        return modules.get(target.file);
      });
      if (missing.size === 0)
        return { facts, used: [...modules.keys()].filter((file) => file !== module.file) };
      await Promise.all([...missing].map(async (file) => modules.set(file, await parseShared(file))));
    }
  }

  function isUnchanged(file: string): boolean {
    const entry = entries.get(file);
    if (entry === undefined) return false;
    const isSame = (each: string, stamp: string): boolean =>
      stamp !== "" && sources.check(each).stamp === stamp;
    return isSame(file, entry.stamp) && entry.dependencies.every(([each, stamp]) => isSame(each, stamp));
  }

  async function currentFacts(file: string): Promise<ModuleFacts> {
    const present = entries.get(file);
    if (present && isUnchanged(file)) return present.facts;
    const { stamp } = sources.check(file);
    const entry = { stamp, ...(await read(file)) };
    reads += 1;
    entries.set(file, entry);
    return entry.facts;
  }

  return {
    entries,
    get reads() {
      return reads;
    },
    factsOf(file: string) {
      const present = current.get(file);
      if (present) return present;
      const facts = currentFacts(file);
      current.set(file, facts);
      return facts;
    },
    isUnchanged,
    /** Ends a pass: drops parsed files and makes `factsOf` check files again. */
    endPass() {
      current.clear();
      parsed.clear();
    },
  };
}
