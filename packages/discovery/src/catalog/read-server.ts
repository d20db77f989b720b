import path from "node:path";
import type { ToolDefinition, ToolKind, ToolProblem, ToolServer } from "@cem/core";
import type { FunctionFacts } from "../source/module-facts.ts";
import type { FactsStore } from "./facts-store.ts";
import type { BrokenLink, ModuleGraph } from "./module-graph.ts";
import { SCRIPTS, type ToolFolder } from "./scan-folders.ts";

/** Caches servers by folder, with the files that they depend on. An entry is valid as long as none of its files changes. */
export function createServerCache(store: FactsStore) {
  /** The entries; `listing` holds the names in the folder when it was read. */
  const cached = new Map<string, { listing: string; files: ReadonlySet<string>; result: ReadServer }>();
  return {
    /** The server of a folder and its files; `undefined` when the folder has to be read again. */
    get(folder: ToolFolder) {
      const found = cached.get(folder.folder);
      if (found?.listing !== listingOf(folder)) return undefined;
      for (const file of found.files) if (!store.isUnchanged(file)) return undefined;
      return found;
    },
    set(folder: ToolFolder, result: ReadServer, files: ReadonlySet<string>) {
      cached.set(folder.folder, { listing: listingOf(folder), files, result });
    },
  };
}

function listingOf({ files, foreign, index, readme }: ToolFolder): string {
  return [index, readme, ...files, ...foreign].join("/");
}

export interface ReadServer {
  /** Absent when nothing in the folder looks like a tool. */
  server?: ToolServer | undefined;
  problems: ToolProblem[];
}

export async function readServer(folder: ToolFolder, kind: ToolKind, graph: ModuleGraph) {
  const tools = new Map<string, ToolDefinition>();
  const modules = new Map<string, string>();
  const problems = new Map<string, ToolProblem>();
  const pathOf = (name: string) => path.join(folder.folder, name);
  const index = folder.index === undefined ? undefined : pathOf(folder.index);
  await Promise.all(folder.files.map((name) => graph.factsOf(pathOf(name))));

  function report(file: string, message: string, line?: number): void {
    const isOwn = file === folder.folder || file.startsWith(folder.folder + path.sep);
    const own = path.relative(folder.folder, file).split(path.sep).join("/") || folder.name;
    // The path as code sees it: on the host, the folders may be far apart.
    const shown = isOwn ? own : (graph.guestPath(file) ?? file);
    const problem = { server: folder.name, file, line, message: `${shown} ${message}.` };
    if (!problems.has(`${file}:${line}`)) problems.set(`${file}:${line}`, problem);
  }
  const reportLink = ({ file, line, message }: BrokenLink) => report(file, message, line);

  function add(facts: FunctionFacts, name: string, file: string, importedFrom: string): void {
    const present = tools.get(name);
    if (!present) {
      tools.set(name, toolOf(facts, name, file, importedFrom));
      modules.set(name, importedFrom);
    } else if (present.file !== file) {
      const used = path.basename(present.file ?? "");
      report(file, `gives a second tool "${name}"; the one in ${used} is used`, facts.line);
    }
  }

  function toolOf(facts: FunctionFacts, name: string, file: string, importedFrom: string): ToolDefinition {
    const relativePath = path.relative(folder.folder, importedFrom).split(path.sep).join("/");
    const { inputSchema, outputSchema, annotations, callStyle, call } = facts;
    return {
      server: folder.name,
      name,
      kind,
      description: facts.description,
      inputSchema,
      outputSchema,
      annotations,
      callStyle,
      signature: `${name}${call}`,
      module: `./${path.posix.join(kind === "skill" ? "skills" : "servers", folder.name, relativePath)}`,
      file,
    };
  }

  /** Reads the exports of the index as tools. If it can't be imported, they are imported from their own files. */
  async function readIndex(file: string): Promise<void> {
    const names = await graph.exportsOf(file);
    const found = await Promise.all(
      [...names].map(async ([name, line]) => ({ name, line, resolved: await graph.resolve(file, name) })),
    );
    const broken = await graph.brokenLink(file);
    let isUsable = broken === undefined;
    // A broken file of this folder is reported on its own.
    if (broken && !folder.files.some((name) => pathOf(name) === broken.target)) reportLink(broken);
    for (const { name, line, resolved } of found) {
      if (resolved.kind === "missing") {
        isUsable = false;
        report(file, `exports "${name}", which ${path.basename(resolved.file)} does not have`, line);
      } else if (resolved.kind === "failed") {
        const { message = "can't be read", line } = resolved.facts.failure ?? {};
        report(resolved.file, message, line);
      }
    }
    for (const { name, resolved } of found) {
      if (resolved.kind !== "function" || name.startsWith("_") || name === "default") continue;
      if (isUsable) add(resolved.facts, name, resolved.file, file);
      else await addAlone(resolved.file, resolved.facts);
    }
    const shown = new Set([...tools.values()].map((tool) => tool.file));
    for (const name of folder.files) if (!shown.has(pathOf(name))) await reportUnexported(pathOf(name));
  }

  async function addAlone(file: string, facts: FunctionFacts): Promise<void> {
    const broken = await graph.brokenLink(file);
    if (broken) reportLink(broken);
    else add(facts, facts.name, file, file);
  }

  /** Reports a file next to the index that is broken, or that looks like a tool but is not exported. */
  async function reportUnexported(file: string): Promise<void> {
    const { failure, functions } = await graph.factsOf(file);
    if (failure?.kind === "broken") report(file, failure.message, failure.line);
    const own = functions.find(({ name, isAsync }) => isAsync && name === path.parse(file).name);
    if (!own || tools.has(own.name) || [...problems.values()].some((problem) => problem.file === file))
      return;
    const missing = `export { ${own.name} } from "./${path.basename(file)}"`;
    report(file, `looks like a tool, but ${folder.index} does not export it. Add: ${missing}`, own.line);
  }

  /** Reads a file as one tool with the file's name, when there is no index. */
  async function readFile(file: string, isStrict: boolean): Promise<void> {
    const facts = await graph.factsOf(file);
    if (facts.failure) return report(file, facts.failure.message, facts.failure.line);
    const { name: stem } = path.parse(file);
    const own =
      facts.functions.find(({ name }) => name === stem) ??
      facts.functions.find(({ name }) => toPlain(name) === toPlain(stem));
    if (own) return addAlone(file, own);
    if (!isStrict || facts.hasOnlyTypes) return undefined;
    const others = facts.functions.map(({ name }) => `"${name}"`).join(", ");
    const found = `exports no function "${stem}"${others ? `, only ${others}` : ""}`;
    return report(file, `${found}. Export one, or begin the file's name with _ if it is not a tool`);
  }

  /** Reads every function that a script of a skill exports. A script that exports none is a program, not a tool. */
  async function readScript(file: string): Promise<void> {
    const { failure, functions } = await graph.factsOf(file);
    if (failure?.kind === "broken") report(file, failure.message, failure.line);
    for (const facts of failure ? [] : functions) await addAlone(file, facts);
  }

  // The open skill format doesn't define names: a skill offers whatever its files export.
  const isWrittenElsewhere = kind === "skill" && folder.readme === "SKILL.md";
  const [foreign] = folder.foreign;
  if (foreign !== undefined) {
    report(
      pathOf(foreign),
      "is not TypeScript or JavaScript, which is all that runs here: of this skill only the instructions can be used",
    );
  }
  const indexFailure = index === undefined ? undefined : (await graph.factsOf(index)).failure;
  if (index !== undefined && indexFailure) report(index, indexFailure.message, indexFailure.line);
  if (index !== undefined && !indexFailure) await readIndex(index);
  else
    for (const name of folder.files) {
      if (isWrittenElsewhere || name.startsWith(`${SCRIPTS}/`)) await readScript(pathOf(name));
      else if (pathOf(name) !== index) await readFile(pathOf(name), index === undefined);
    }

  const readme = folder.readme === undefined ? undefined : pathOf(folder.readme);
  let description = "";
  for (const file of kind === "skill" ? [readme, index] : [index, readme])
    if (description === "" && file !== undefined) ({ description } = await graph.factsOf(file));
  if (kind === "skill") {
    const { failure } = readme === undefined ? {} : await graph.factsOf(readme);
    if (readme !== undefined && failure !== undefined) report(readme, failure.message);
    for (const [name, tool] of tools) {
      const uses = await graph.toolsUsedBy(modules.get(name) ?? "");
      if (uses.length > 0) tools.set(name, { ...tool, uses });
    }
  }
  const isEmpty = tools.size === 0 && problems.size === 0 && kind !== "skill";
  const server = { name: folder.name, description, kind, tools: [...tools.values()] };
  return { problems: [...problems.values()], server: isEmpty ? undefined : server };
}

function toPlain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}
