import { Lazy, type ToolCatalog } from "@cem/core";
import { expect, it, vi } from "vitest";
import { discover, withProblems } from "./catalog.ts";
import { createRunProgress } from "./run-progress.ts";
import type { RunContext } from "./stages.ts";

it("says why a server is unknown: its files are broken, or its folder is not trusted", () => {
  const finding = (name: string) => ({
    rule: "unknown-server",
    severity: "error" as const,
    message: `There is no server "${name}" with usable tools.`,
  });
  const verdict = { allowed: false, findings: ["broken", "held", "other"].map(finding) };
  const explained = withProblems(verdict, [
    { server: "broken", file: "/servers/broken/index.ts", message: "It can't be read." },
    {
      server: "",
      file: "/config.yaml",
      servers: ["a", "held"],
      message: "/here is not trusted, so held back: MCP server a, 1 more.",
    },
  ]);
  expect(explained.findings.map(({ hint }) => hint)).toEqual([
    "It can't be read.",
    "/here is not trusted, so held back: MCP server a, 1 more.",
    undefined,
  ]);
});

it.each([
  ["export default 1;", []],
  [
    'import { sep } from "node:path"; const a = [1]; export default a.map((b) => Math.max(b, sep.length));',
    [],
  ],
  ["export default await crm.hi();", undefined],
  ["export default await hi();", undefined],
  ['import { hi } from "./helper.ts"; export default hi();', undefined],
  ['const { hi } = require("./helper"); module.exports = hi();', undefined],
  ["export default await import(`./servers/${'crm'}/index.ts`);", undefined],
  ['import { hi } from "./servers/crm/index.ts";', ["crm"]],
  ['import { plan } from "./skills/plan/index.ts";', undefined],
  [undefined, undefined],
])("waits only for the servers that code needs: %s", async (code, servers) => {
  const list = vi.fn<ToolCatalog["list"]>(async () => ({ servers: [], problems: [], version: "" }));
  const signal = new AbortController().signal;
  const stages = { catalog: new Lazy(async () => ({ specificationVersion: "v1", list })) };
  const progress = createRunProgress(undefined, signal);
  await discover({ stages, signal, progress } as unknown as RunContext, code);
  expect(list).toHaveBeenCalledWith({ signal, servers });
});
