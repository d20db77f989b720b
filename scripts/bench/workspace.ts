import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { loadConfig } from "code-execution-mcp";
import { createSandbox } from "code-execution-mcp/stages";
import type { Sandbox, ToolInvoker } from "code-execution-mcp";
import { temporaryFolder } from "../temporary-folder.ts";

/** A fresh folder that is removed at the end. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = temporaryFolder("cem-bench");
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One server with one local tool. */
export async function writeSampleServer(folder: string): Promise<void> {
  const server = path.join(folder, "servers", "math");
  await mkdir(server, { recursive: true });
  await mkdir(path.join(folder, "skills"), { recursive: true });
  await writeFile(path.join(server, "index.ts"), 'export { add } from "./add.ts";\n');
  await writeFile(
    path.join(server, "add.ts"),
    "/** Adds two numbers. */\nexport async function add(input: { a: number; b: number }): Promise<number> {\n  return input.a + input.b;\n}\n",
  );
}

export async function openSandbox(
  folder: string,
  standby: number,
  sandboxReuse: "none" | "session" = "session",
): Promise<Sandbox> {
  const { config } = await loadConfig({
    cwd: folder,
    configFile: false,
    config: {
      optimizations: { sandboxPooling: standby > 0, sandboxPoolSize: Math.max(1, standby), sandboxReuse },
      execution: { limits: { maxToolCalls: 1_000_000 } },
    },
  });
  return createSandbox(config);
}

/** Answers at once: what is measured is the way there and back. */
export const echo: ToolInvoker = {
  specificationVersion: "v1",
  invoke: async ({ args }) => ({ ok: true, value: args }),
};
