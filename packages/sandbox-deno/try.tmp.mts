import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { mkdtempSync } from "node:fs";
const sb = await createDenoSandboxProvider({ isolation: "permissions" }).create({ workspaceDir: mkdtempSync("/tmp/awaitedws-"), defaultSession: "a", limits: { timeoutMs: 5000 } });
const { readFileSync } = await import("node:fs");
const code = readFileSync(process.argv[2], "utf8");
const r = await sb.run({ code, invoker: { specificationVersion: "v1", invoke: async (c) => ({ ok: true, value: c.args as never }) } });
console.log(JSON.stringify({ ...r, isolation: undefined }, null, 1));
await sb.dispose();
