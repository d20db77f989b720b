import { createDenoSandboxProvider } from "/work/main/packages/sandbox-deno/src/index.ts";
import { TOOL_FILES, writeFiles, recordingInvoker } from "./.harness.ts";
import { mkdtempSync, readFileSync } from "node:fs";
const ws = mkdtempSync("/tmp/ws-");
writeFiles(ws, TOOL_FILES);
const s = await createDenoSandboxProvider({ isolation: process.env.ISO ?? "bubblewrap" }).create({
  workspaceDir: ws,
  limits: { memoryMb: +(process.env.MB ?? 256), timeoutMs: +(process.env.T ?? 8000) },
  network: process.env.NET ? JSON.parse(process.env.NET) : "none",
});
const invoker = {
  specificationVersion: "v1",
  invoke: async (c) =>
    c.tool === "fail"
      ? { ok: false, error: { code: "X", message: "slow down", details: {} } }
      : { ok: true, value: c.args },
};
for (const c of process.argv.slice(2)) {
  const code = c.startsWith("@") ? readFileSync(c.slice(1), "utf8") : c;
  const { isolation, output, ...o } = await s.run({ code, invoker });
  console.log(JSON.stringify(o).slice(0, 1500), output.slice(0, 1500));
}
await s.dispose();
