import path from "node:path";
import type { CodeGenerator, ToolDefinition } from "@cem/core";
import type { Upstream } from "./create-upstream.ts";

/** A generator after which the servers of the tools that the code uses start, while the code is still reviewed. */
export function warmUpServers(generator: CodeGenerator, upstream: Upstream): CodeGenerator {
  if (upstream.servers.size === 0) return generator;
  return {
    specificationVersion: "v1",
    async generate(request) {
      const generated = await generator.generate(request);
      if (generated.status === "generated") void start(generated.uses, upstream);
      return generated;
    },
  };
}

/** What fails here fails again at the call, which tells. */
async function start(tools: readonly ToolDefinition[], upstream: Upstream): Promise<void> {
  const files = tools.filter(({ kind }) => kind === "host").map(({ file }) => file);
  const folders = new Set(files.filter((file) => file !== undefined).map((file) => path.dirname(file)));
  await Promise.allSettled(
    [...folders].map(async (folder) => {
      const name = (await upstream.folders.read(folder))?.lock.server.name;
      if (name !== undefined && upstream.servers.get(name)?.enabled === true)
        await (await upstream.connections()).listTools(name);
    }),
  );
}
