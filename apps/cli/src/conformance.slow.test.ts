import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "./testing/run-cem.ts";
import { REVISIONS, runConformance } from "./testing/run-conformance.ts";
import { COMPILE_CACHE, spawnCem } from "./testing/spawn-cem.ts";

/** The folder is ours. */
const TRUSTED = { CEM_TRUST_FOLDER: "1" };

const packages = path.resolve(import.meta.dirname, "../../../packages");
const script = (file: string): object => ({
  command: process.execPath,
  args: ["--conditions=@cem/source", path.join(packages, file)],
  // The suite has dozens of them started.
  env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
});

/** Serves the suite's tools from a file, and its resources and prompts from a server behind. */
async function serveFixture(): Promise<string> {
  const cwd = temporaryFolder();
  const log = path.join(cwd, "serve.log");
  const config = {
    logging: { file: log },
    execution: { type_check: "off" },
    mcp_servers: {
      fixture: script("mcp-server/fixtures/conformance-stdio.ts"),
      growing: script("mcp-client/fixtures/growing-server.ts"),
    },
  };
  writeFileSync(path.join(cwd, "config.yaml"), JSON.stringify(config));
  expect(await spawnCem(["generate", "growing"], { cwd, env: TRUSTED }).ended).toMatchObject({ code: 0 });
  const tools = path.join(packages, "mcp-server/fixtures/conformance-tools.ts");
  const options = ["--port", "0", "--expose", "resources,prompts", "--custom-tools", tools];
  spawnCem(["serve", "http", ...options], { cwd, env: TRUSTED });
  return vi.waitFor(
    () => {
      const text = readFileSync(log, "utf8");
      const [, url] = /"url":"([^"]+)"/u.exec(text) ?? [];
      if (url === undefined || !text.includes('"ready"')) throw new Error("It does not listen yet.");
      return url;
    },
    { timeout: 30_000, interval: 20 },
  );
}

describe("cem serve", { timeout: 180_000 }, () => {
  it("passes all that both revisions of the conformance suite require, without a warning", async () => {
    const url = await serveFixture();
    const reports = await Promise.all(REVISIONS.map((revision) => runConformance(url, revision)));
    expect(reports.flatMap(({ faults }) => faults)).toEqual([]);
    expect(reports.map(({ scenarios }) => scenarios)).toEqual([30, 37]);
    expect(reports.every(({ checks }) => checks >= 60)).toBe(true);
  });
});
