import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { AnyCustomTool } from "@cem/mcp-server";

/**
 * Loads custom tools from a JavaScript or TypeScript module, which runs on the host. Its default export is a tool or a
 * list of tools, of the shape that `customTools` of `createServer` takes.
 *
 * @throws CemError `TOOL_INVALID` for a module that can't be loaded or exports no tool.
 */
export async function loadCustomTools(file: string, cwd = "."): Promise<AnyCustomTool<Config>[]> {
  const found = await importDefault(path.resolve(cwd, file));
  // Each is checked when the server takes it.
  if (typeof found === "object" && found !== null) {
    return (Array.isArray(found) ? found : [found]) as AnyCustomTool<Config>[];
  }
  const message = `${file} has no custom tools. Write: export default [{ name, description, inputSchema, handler }]`;
  throw new CemError("TOOL_INVALID", message, { details: { file } });
}

async function importDefault(file: string): Promise<unknown> {
  try {
    return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CemError("TOOL_INVALID", `${file} can't be loaded: ${reason}`, {
      details: { file },
      cause: error,
    });
  }
}
