import path from "node:path";
import { stringify } from "yaml";
import { isPublicModule, namesIn, textOf } from "./migration.ts";
import type { CalledServer, LeftOver, MigratedFile } from "./migration.ts";
import { readPythonModule } from "./python-module.ts";
import type { PythonFunction, PythonModule } from "./python-module.ts";

/** The result of migrating tools or skills. */
export interface MigratedModules {
  files: Omit<MigratedFile, "isThere">[];
  left: LeftOver[];
  servers: Omit<CalledServer, "isConfigured">[];
}

/**
 * Makes a skeleton in TypeScript of each tool in Python that does something itself. Those that only call an MCP server are
 * listed under it: its tools are generated.
 *
 * @param serversDir - Relative to the project.
 */
export async function migrateTools(project: string, serversDir: string): Promise<MigratedModules> {
  const result: MigratedModules = { files: [], left: [], servers: [] };
  const root = path.join(project, serversDir);
  for (const server of await namesIn(root, "folder")) {
    const tools: string[] = [];
    for (const name of (await namesIn(path.join(root, server), "file")).filter(isPublicModule)) {
      const from = `${serversDir}/${server}/${name}`;
      const stem = path.parse(name).name;
      const module = await readModule(path.join(project, from));
      const own =
        module?.functions.find((one) => one.name === stem) ??
        module?.functions.find((one) => !one.name.startsWith("_"));
      if (own === undefined) {
        result.left.push({ place: from, reason: "has no public function that can be read" });
      } else if (own.mcpTool === undefined) {
        const text = functionSkeleton({ ...own, name: stem }, name);
        result.files.push({ file: `${serversDir}/${server}/${stem}.ts`, from, text });
        result.left.push({
          place: `${serversDir}/${server}/${stem}.ts`,
          reason: `throws until its body is written as in ${name}`,
        });
        tools.push(stem);
      } else addCall(result.servers, own.mcpTool);
    }
    if (tools.length > 0) result.files.push(await indexOf(`${serversDir}/${server}`, project, tools));
  }
  return result;
}

/** The index of a server's folder, with the description of the one in Python. */
async function indexOf(
  folder: string,
  project: string,
  tools: readonly string[],
): Promise<MigratedModules["files"][number]> {
  const from = `${folder}/__init__.py`;
  const { docstring = "" } = (await readModule(path.join(project, from))) ?? {};
  const about = docstring === "" ? [] : [comment([docstring], "")];
  const lines = tools.map((tool) => `export { ${toIdentifier(tool)} } from "./${tool}.ts";`);
  return { file: `${folder}/index.ts`, from, text: `${[...about, ...lines].join("\n")}\n` };
}

function addCall(
  servers: MigratedModules["servers"],
  { server, tool }: { server: string; tool: string },
): void {
  const known = servers.find(({ name }) => name === server);
  if (known === undefined) servers.push({ name: server, tools: [tool] });
  else if (!known.tools.includes(tool)) known.tools.push(tool);
}

/** Reads a module in Python; `undefined` where it can't be read. */
async function readModule(file: string): Promise<PythonModule | undefined> {
  const text = await textOf(file);
  return text === undefined ? undefined : readPythonModule(text);
}

/**
 * Makes a folder with a SKILL.md and a skeleton in TypeScript of each skill in Python.
 *
 * @param from - The folders with the skills in Python, relative to the project.
 * @param skillsDir - The folder of the skills here, relative to the project.
 */
export async function migrateSkills(
  project: string,
  from: readonly string[],
  skillsDir: string,
): Promise<MigratedModules> {
  const result: MigratedModules = { files: [], left: [], servers: [] };
  const met = new Set<string>();
  for (const folder of from) {
    for (const name of (await namesIn(path.join(project, folder), "file")).filter(isPublicModule)) {
      const source = `${folder}/${name}`;
      const stem = toIdentifier(path.parse(name).name);
      const module = await readModule(path.join(project, source));
      const functions = module?.functions.filter((one) => !one.name.startsWith("_")) ?? [];
      if (met.has(stem)) result.left.push({ place: source, reason: "has the name of another skill" });
      else if (module === undefined || functions.length === 0)
        result.left.push({ place: source, reason: "has no public function that can be read" });
      else {
        met.add(stem);
        const target = `${skillsDir}/${stem}`;
        const about = headOf(module.docstring);
        const calls = functions.map((one) => `\`${one.name}\``).join(", ");
        result.files.push(
          {
            file: `${target}/SKILL.md`,
            from: source,
            text: `---\n${stringify({ name: stem, description: about.description || `${stem}${NO_DESCRIPTION}` }, { lineWidth: 0 })}---\n\n# ${stem}\n\n${about.description}\n\nFunctions: ${calls}.\n`,
          },
          {
            file: `${target}/index.ts`,
            from: source,
            text: functions.map((one) => functionSkeleton(one, name)).join("\n"),
          },
        );
        if (about.description === "")
          result.left.push({
            place: `${target}/SKILL.md`,
            reason: `has no description, by which skills are found: ${name} has none`,
          });
        result.left.push({
          place: `${target}/index.ts`,
          reason: `throws until its bodies are written as in ${name}`,
        });
      }
    }
  }
  return result;
}

const NO_DESCRIPTION = ", moved from Python.";
const NOT_WRITTEN = "is not written in TypeScript yet: see ";

/** Whether a file that was made still waits for what a person has to write. */
export function isUnwritten(text = ""): boolean {
  return text.includes(NOT_WRITTEN) || text.includes(NO_DESCRIPTION);
}

/** The description in the docstring at the head of a skill: after `description:`, or its first paragraph. */
function headOf(docstring: string): { description: string } {
  const named = /^description:\s*(.+)$/imu.exec(docstring)?.[1];
  const [paragraph = ""] = docstring.split(/\n\s*\n/u);
  return { description: (named ?? paragraph).replaceAll(/\s+/gu, " ").trim() };
}

const RESERVED = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield then constructor".split(
    " ",
  ),
);

/** A name in Python as one in TypeScript: those that mean something there get a `_`. */
function toIdentifier(name: string): string {
  const valid = name.replaceAll(/[^\p{ID_Continue}$]/gu, "_").replace(/^(?!\p{ID_Start}|[_$])/u, "_");
  return RESERVED.has(valid) ? `${valid}_` : valid;
}

/**
 * A function in TypeScript with the comment and, in it, the declaration of one in Python, which throws until it is written.
 *
 * @param file - The name of the file in Python, for the message.
 */
export function functionSkeleton(
  { name, docstring, declaration, line }: PythonFunction,
  file: string,
): string {
  const about = [docstring.trim() || `${name}, as in ${file}.`, `In Python: ${declaration}`];
  return `${comment(about, "")}
export async function ${toIdentifier(name)}(input: Record<string, unknown>): Promise<unknown> {
  void input;
  throw new Error(${JSON.stringify(`${name} ${NOT_WRITTEN}${file}:${line}.`)});
}
`;
}

/** A doc comment of these paragraphs. What would end it is written otherwise. */
function comment(paragraphs: readonly string[], indent: string): string {
  const text = paragraphs.join("\n\n").replaceAll("*/", String.raw`*\/`);
  const lines = text.split("\n");
  if (lines.length === 1) return `${indent}/** ${text} */`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n");
}
