import { describe, expect, it } from "vitest";
import { load } from "../test/config-folder.ts";
import { addServer, blockTools, exemptServer, removeServer } from "./edit.ts";
import { renderStarterConfig } from "./template.ts";

const entry = { command: "npx", args: ["-y", "@scope/server"] };

describe("addServer", () => {
  it("makes a first configuration", () => {
    expect(addServer("", "a", entry)).toBe(
      'mcpServers:\n  a:\n    command: npx\n    args:\n      - -y\n      - "@scope/server"\n',
    );
  });

  it("keeps every comment and setting of what is there", async () => {
    const before = renderStarterConfig();
    const after = addServer(before, "a", entry);
    const comments = (text: string): string[] => [...text.matchAll(/#.*$/gm)].map(String);
    expect(comments(after)).toEqual(comments(before));
    const { config } = await load(after);
    expect(config.mcpServers).toMatchObject([{ name: "a", ...entry }]);
    expect({ ...config, mcpServers: [] }).toMatchObject({
      llm: { provider: "openai" },
      optimizations: { sandboxPoolSize: 2 },
    });
  });

  it.each([
    ["mcp_servers: # ours\n  - name: b # the first\n    url: http://b.example\n"],
    ["mcpServers: # ours\n  b: # the first\n    url: http://b.example\n"],
  ])("adds to the form that is there: %j", async (before) => {
    const after = addServer(before, "a", entry);
    expect(after).toMatch(/# ours[^]*b[^]*# the first/);
    expect((await load(after)).config.mcpServers.map(({ name }) => name)).toEqual(["b", "a"]);
    expect(() => addServer(after, "a", entry)).toThrow(expect.objectContaining({ code: "SERVER_EXISTS" }));
    const { config } = await load(removeServer(after, "a") ?? "");
    expect(config.mcpServers.map(({ name }) => name)).toEqual(["b"]);
  });

  it.each(["a: [1", "- a list", "text"])("refuses %j", (yaml) => {
    expect(() => addServer(yaml, "a", entry)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("removeServer", () => {
  it("leaves nothing behind, and tells when there is no such server", () => {
    const yaml = "# mine\nlogging:\n  level: INFO\n";
    expect(removeServer(addServer(yaml, "a", entry), "a")).toBe(yaml);
    expect(removeServer(yaml, "a")).toBeUndefined();
    expect(removeServer("", "a")).toBeUndefined();
  });
});

describe("exemptServer", () => {
  it.each([
    ["", ["destructive", "!files"]],
    [renderStarterConfig(), ["destructive", "!files"]],
    ["guardrails: # ours\n  approvals: [writes] # all\n", ["writes", "!files"]],
  ])("adds to the approvals of %j", async (before, approvals) => {
    const after = exemptServer(before, "files");
    expect(after.match(/#.*/gu)).toEqual(before.match(/#.*/gu));
    expect((await load(after)).config.guardrails.approvals).toEqual(approvals);
  });
});

describe("blockTools", () => {
  it.each([
    ["", ["files.move", "files.a b"]],
    [renderStarterConfig(), ["files.move", "files.a b"]],
    ["guardrails: # ours\n  blocked_tools: # all\n    - crm.drop\n", ["crm.drop", "files.move", "files.a b"]],
  ])("adds to the blocked tools of %j", async (before, blocked) => {
    const after = blockTools(before, ["files.move", "files.a b"]);
    expect(after.match(/#.*/gu)).toEqual(before.match(/#.*/gu));
    const { guardrails } = (await load(after)).config;
    expect(guardrails).toMatchObject({ blockedTools: blocked, approvals: ["destructive"] });
    expect(blockTools(before, [])).toBe(before);
  });
});
