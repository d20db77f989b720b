import { readMarkdown } from "./markdown-facts.ts";
import { failedModule, type ModuleFacts } from "./module-facts.ts";
import { readModule } from "./read-module.ts";
import type { SourceFiles } from "./source-files.ts";
import { parseSourceModule, type SourceModule, type SourceModuleResult } from "./source-module.ts";

/** Facts about one file, and the contents they were read from. */
export interface FactsEntry {
  hash: string;
  /** Other files whose types went in: path and content hash. */
  dependencies: [file: string, hash: string][];
  facts: ModuleFacts;
}

/** Facts about files, read again only when a file or one that its types come from changed. */
export interface FactsStore {
  readonly entries: Map<string, FactsEntry>;
  /** How many files were read again so far. */
  readonly reads: number;
  factsOf(file: string): Promise<ModuleFacts>;
  /** Whether neither the file nor what its facts come from changed. */
  isUnchanged(file: string): boolean;
  /** Lets go of what is only needed while files are being read. */
  end(): void;
}

/** Parsed files that others take types from; kept while a catalog is read. */
const MAX_PARSED_MODULES = 128;

export function createFactsStore(sources: SourceFiles): FactsStore {
  const entries = new Map<string, FactsEntry>();
  const parsed = new Map<string, Promise<SourceModule | undefined>>();
  const asked = new Map<string, Promise<ModuleFacts>>();
  let reads = 0;

  async function isCurrent(entry: FactsEntry, hash: string): Promise<boolean> {
    if (entry.hash !== hash) return false;
    for (const [file, known] of entry.dependencies) {
      if ((await sources.look(file)).hash !== known) return false;
    }
    return true;
  }

  async function parse(file: string): Promise<SourceModuleResult | undefined> {
    const { failure } = await sources.look(file);
    const text = failure ? undefined : await sources.text(file);
    return text === undefined ? undefined : parseSourceModule(file, text);
  }

  function parseShared(file: string): Promise<SourceModule | undefined> {
    const present = parsed.get(file);
    if (present) return present;
    if (parsed.size >= MAX_PARSED_MODULES) parsed.clear();
    const module = parse(file).then((result) => (result?.ok ? result.module : undefined));
    parsed.set(file, module);
    return module;
  }

  async function read(file: string): Promise<FactsEntry> {
    const { hash, failure } = await sources.look(file);
    if (failure) return { hash, dependencies: [], facts: failedModule(failure) };
    if (file.endsWith(".md")) {
      return { hash, dependencies: [], facts: readMarkdown((await sources.text(file)) ?? "") };
    }
    const result = await parse(file);
    if (!result?.ok) {
      const message = `is not valid TypeScript: ${result?.message ?? "it can't be read"}`;
      const line = result?.line === undefined ? {} : { line: result.line };
      return { hash, dependencies: [], facts: failedModule({ kind: "broken", message, ...line }) };
    }
    const { facts, used } = await readWithNeighbours(result.module);
    const dependencies = await Promise.all(
      used.map(async (each): Promise<[string, string]> => [each, (await sources.look(each)).hash]),
    );
    return { hash, dependencies, facts };
  }

  /** Reads once to see which other files are needed, fetches those, and reads again until none is missing. */
  async function readWithNeighbours(module: SourceModule): Promise<{ facts: ModuleFacts; used: string[] }> {
    const neighbours = new Map<string, SourceModule | undefined>([[module.file, module]]);
    for (;;) {
      const missing = new Set<string>();
      const facts = readModule(module, (file) => {
        if (!neighbours.has(file) && sources.isInside(file)) missing.add(file);
        return neighbours.get(file);
      });
      if (missing.size === 0)
        return { facts, used: [...neighbours.keys()].filter((file) => file !== module.file) };
      await Promise.all([...missing].map(async (file) => neighbours.set(file, await parseShared(file))));
    }
  }

  function isUnchanged(file: string): boolean {
    const entry = entries.get(file);
    if (!entry || sources.unchangedHash(file) !== entry.hash) return false;
    return entry.dependencies.every(([each, hash]) => sources.unchangedHash(each) === hash);
  }

  async function currentFacts(file: string): Promise<ModuleFacts> {
    const present = entries.get(file);
    if (present && isUnchanged(file)) return present.facts;
    const { hash } = await sources.look(file);
    if (present && (await isCurrent(present, hash))) return present.facts;
    const entry = await read(file);
    reads += 1;
    entries.set(file, entry);
    return entry.facts;
  }

  return {
    entries,
    get reads() {
      return reads;
    },
    factsOf(file) {
      const present = asked.get(file);
      if (present) return present;
      const facts = currentFacts(file);
      asked.set(file, facts);
      return facts;
    },
    isUnchanged,
    end() {
      asked.clear();
      parsed.clear();
    },
  };
}
