import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { loadConfig } from "../wiring/open-project.ts";
import { addServers } from "./edit-servers.ts";
import { findImportable } from "./import-servers.ts";
import type { ImportableServer } from "./import-servers.ts";

afterEach(() => vi.unstubAllEnvs());

/** A project with the settings of Gemini CLI, which name these servers. */
function project(mcpServers: Record<string, object>): string {
  const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-import-"));
  vi.stubEnv("XDG_CONFIG_HOME", path.join(cwd, "home"));
  mkdirSync(path.join(cwd, ".gemini"));
  writeFileSync(path.join(cwd, ".gemini/settings.json"), JSON.stringify({ mcpServers }));
  return cwd;
}

/** The servers of the project, without those that the machine has for its user. */
async function findIn(cwd: string): Promise<ImportableServer[]> {
  const { servers } = await findImportable({ cwd });
  return servers.filter(({ origin }) => origin.scope === "project");
}

describe("findImportable", () => {
  it("takes numbers among arguments as text, and how to sign in and what is blocked in this project's words", async () => {
    const cwd = project({
      num: { command: "node", args: ["x.js", 8080, true], env: { PORT: 3000, EMPTY: "" }, cwd: "" },
      remote: {
        url: "https://x.example/mcp",
        type: "http",
        excludeTools: ["get-env"],
        oauth: { clientId: "app", clientSecret: "s3cret-12", callbackPort: 8765, tokenUrl: "https://t" },
      },
    });
    const found = await findIn(cwd);
    expect(found).toMatchObject([
      { name: "num", reach: "node x.js 8080 true", blockedTools: [], obstacle: undefined },
      {
        name: "remote",
        variables: ["auth.client_id", "auth.client_secret", "auth.callback_port"],
        blockedTools: ["remote.get-env"],
        leftOut: ["oauth.tokenUrl"],
        obstacle: undefined,
      },
    ]);
    await addServers(found, { cwd });
    const { config } = await loadConfig({ cwd, trustFolder: true });
    expect(config.guardrails.blockedTools).toEqual(["remote.get-env"]);
    expect(config.mcpServers).toMatchObject([
      { name: "num", command: "node", args: ["x.js", "8080", "true"] },
      { name: "remote", connectionType: "auto", auth: { clientId: "app", callbackPort: 8765 } },
    ]);
  });

  it("refuses what would be another server here or can't be connected to, with the reason, and no others", async () => {
    const cwd = project({
      list: { command: "node", args: ["x.js", { port: 1 }] },
      word: { command: "node", args: "x.js" },
      nothing: { command: "node", env: { N: null } },
      "a.b": { url: "https://x.example", oauth: { callbackPort: "any" } },
      ws: { url: "ws://127.0.0.1:9911/ws" },
      socket: { url: "unix:///tmp/server.sock" },
      bare: { url: "localhost:3000" },
      fine: { url: "${BASE}/mcp" },
    });
    const found = await findIn(cwd);
    expect(found.map(({ name, refusal }) => [name, refusal])).toEqual([
      ["list", "args[1] is a mapping. Allowed: text."],
      ["word", "args is a text. Allowed: a list of texts."],
      ["nothing", "env.N is empty. Allowed: text."],
      ["a.b", 'auth.callback_port is "any". Allowed: a whole number from 1 to 65535.'],
      ["ws", "url begins with ws:, and cem connects to http: and https: only."],
      ["socket", "url begins with unix:, and cem connects to http: and https: only."],
      ["bare", "url needs its scheme, as in https://example.com/mcp."],
      ["fine", undefined],
    ]);
    expect(found.map(({ obstacle }) => obstacle)).toEqual([...Array<string>(7).fill("refused"), undefined]);
  });
});
