import path from "node:path";
import type { CalledServer, LeftOver, MigratedFile } from "./migration.ts";
import { type PythonModule, readPythonModule } from "./python-module.ts";
import { isPublicModule, namesIn, textOf } from "./read-folder.ts";
import { comment, functionSkeleton, toIdentifier } from "./skeleton.ts";

/** What became of tools or skills. */
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
export async function readModule(file: string): Promise<PythonModule | undefined> {
  const text = await textOf(file);
  return text === undefined ? undefined : readPythonModule(text);
}
