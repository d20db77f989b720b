import { homedir } from "node:os";
import { resolve } from "node:path";
import type * as z from "zod/mini";
import { getPath, setPath } from "./layer.ts";
import type { Config, configSchema } from "./schema.ts";
import { isPluginPath } from "./schema-plugins.ts";
import { isServerUrl } from "./schema-store.ts";
import { SETTINGS } from "./settings.ts";

/**
 * Makes every path in a configuration absolute.
 *
 * @param base - Returns the folder that the relative paths of a setting start from.
 */
export function withAbsolutePaths(
  values: z.output<typeof configSchema>,
  base: (path: string) => string,
): Config {
  for (const { path, keys, isPath } of SETTINGS) {
    const value = getPath(values, keys);
    if (isPath && typeof value === "string" && !isServerUrl(value))
      setPath(values, keys, absolute(value, base(path)));
  }
  const mountsBase = base("execution.mount_directories");
  for (const mount of values.execution.mountDirectories) mount.host = absolute(mount.host, mountsBase);
  const pluginsBase = base("plugins");
  for (const one of values.plugins) {
    if (isPluginPath(one.plugin)) one.plugin = absolute(one.plugin, pluginsBase);
  }
  const serversBase = base("mcp_servers");
  for (const server of values.mcpServers) {
    // A variable may stand for an absolute path.
    if (server.connectionType === "stdio" && server.cwd?.startsWith("${") === false)
      server.cwd = absolute(server.cwd, serversBase);
  }
  const { state, workspaceDir } = values.execution;
  return {
    ...values,
    execution: { ...values.execution, state: { ...state, workspaceDir: state.workspaceDir ?? workspaceDir } },
  };
}

/** Resolves a path against a folder; `~` is the user's home folder. */
function absolute(path: string, base: string): string {
  const expanded = /^~(?=$|[\\/])/.test(path) ? homedir() + path.slice(1) : path;
  return resolve(base, expanded);
}
