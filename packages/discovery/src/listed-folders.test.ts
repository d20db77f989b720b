import path from "node:path";
import { CemError } from "@cem/core";
import type { ToolServer } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createDiscovery } from "./create-discovery.ts";
import { makeTree } from "../test/tool-tree.ts";

const tool = "export async function plain(): Promise<void> {}\n";

describe("createDiscovery with readListed", () => {
  const listed: ToolServer = { name: "remote", description: "Far away.", kind: "host", tools: [] };

  it("takes a listed folder as it is listed, and parses the others", async () => {
    const root = makeTree({
      "servers/remote/index.ts": "this is not TypeScript (",
      "servers/local/plain.ts": tool,
      "skills/remote_skill/index.ts": tool,
    });
    const asked: string[] = [];
    const catalog = createDiscovery({
      serversDir: path.join(root, "servers"),
      skillsDir: path.join(root, "skills"),
      async readListed(folder) {
        asked.push(path.relative(root, folder));
        return folder.endsWith("remote") ? listed : undefined;
      },
    });
    const { servers, problems } = await catalog.list();
    expect(problems).toEqual([]);
    expect(servers.map(({ name, kind }) => [name, kind])).toEqual([
      ["local", "local"],
      ["remote", "host"],
      ["remote_skill", "skill"],
    ]);
    expect(servers[1]).toBe(listed);
    expect(asked.toSorted()).toEqual(["servers/local", "servers/remote"]);
  });

  it("reports a list that can't be read, and keeps the other folders", async () => {
    const root = makeTree({ "servers/broken/index.ts": "export {};", "servers/local/plain.ts": tool });
    const catalog = createDiscovery({
      serversDir: path.join(root, "servers"),
      async readListed(folder) {
        if (folder.endsWith("broken")) throw new CemError("TOOL_LOCK_INVALID", "The list is broken.");
        return undefined;
      },
    });
    expect(await catalog.list()).toMatchObject({
      servers: [{ name: "local" }],
      problems: [{ server: "broken", message: "The list is broken." }],
    });
  });
});
