import type { ServerSource } from "../options.ts";
import type { PluginReport } from "../plugins/open-plugins.ts";
import { openProject } from "../wiring/open-project.ts";

/**
 * Loads the plugins of a configuration and reports the state of each. Those of an untrusted folder are not loaded.
 *
 * @throws CemError the failure of a plugin that is required.
 */
export async function listPlugins(source: ServerSource = {}): Promise<PluginReport[]> {
  const loaded = await openProject(source);
  try {
    return (await loaded.pluginSet?.get())?.reports() ?? [];
  } finally {
    await loaded.dispose();
  }
}
