import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "../../../../scripts/temporary-folder.ts";
import { nameServerFolders, writeServerFiles } from "../../src/index.ts";
import { type Row, toDefinition } from "./rows.ts";

const CLIENT = `
export async function callTool<T>(server: string, tool: string, args: unknown): Promise<T> {
  return { server, tool, args } as T;
}
`;

/** Writes the rows' servers to a folder, imports them and calls every function; each must send what it should. */
export async function callEveryTool(rows: readonly Row[]): Promise<string[]> {
  const root = temporaryFolder("cem-tool-files");
  try {
    await mkdir(path.join(root, "client"));
    await writeFile(path.join(root, "client", "index.ts"), CLIENT);
    await writeFile(path.join(root, "package.json"), '{ "type": "module" }');
    const problems: string[] = [];
    for (const [server, folder] of nameServerFolders([...new Set(rows.map((row) => row.server))])) {
      const definitions = rows.filter((row) => row.server === server).map(toDefinition);
      const { directory, lock } = await writeServerFiles({
        serversDir: path.join(root, "servers"),
        folder,
        server,
        definitions,
      });
      const exported: Record<string, unknown> = await import(
        pathToFileURL(path.join(directory, "index.ts")).href
      );
      if (Object.keys(exported).length !== lock.tools.length)
        problems.push(`${server}: exports more than its tools`);
      for (const { name, definition } of lock.tools) {
        const call = exported[name];
        const args = { probe: definition.name };
        const sent: unknown = typeof call === "function" ? await call(args) : undefined;
        if (JSON.stringify(sent) !== JSON.stringify({ server, tool: definition.name, args })) {
          problems.push(`${server}/${definition.name}: the call sends ${JSON.stringify(sent)}`);
        }
      }
    }
    return problems;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
