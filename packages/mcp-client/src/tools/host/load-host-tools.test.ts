import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createHostTools, defineTool } from "@cem/bridge";
import type { CatalogSnapshot, ToolCatalog } from "@cem/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { withHostTools } from "./host-catalog.ts";
import { loadHostTools } from "./load-host-tools.ts";

const tool = defineTool({ description: "Finds a customer.", execute: () => 1 });

/** A folder of servers with these files, deleted after the test. */
async function makeServers(files: Record<string, string>): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "cem-host-tools-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  return folder;
}

/** Imports a package that nothing beside the file provides. */
const GOOD = `import { defineTool } from "@cem/bridge";
export default defineTool({ description: "Adds.", execute: () => 2 });
`;
const ownPackage = { name: "@cem/bridge", from: import.meta.url };

describe("loadHostTools", () => {
  it("takes tools from files and from code, of which those in code win", async () => {
    const serversDir = await makeServers({
      "crm/find_customer.host.ts": GOOD,
      "crm/add.host.ts": GOOD,
      "crm/plain.ts": GOOD,
      "_drafts/add.host.ts": GOOD,
    });
    const loaded = await loadHostTools(
      { serversDir, writableDirs: [], ownPackage },
      { crm: { find_customer: tool }, lab: { find_customer: tool } },
    );
    expect(Object.keys(loaded.tools)).toEqual(["crm", "lab"]);
    expect(loaded.tools["crm"]?.["find_customer"]).toBe(tool);
    expect(loaded.tools["crm"]?.["add"]?.description).toBe("Adds.");
    expect([...loaded.files]).toEqual([["crm.add", path.join(serversDir, "crm/add.host.ts")]]);
    expect(loaded.hidden).toEqual([
      "/workspace/servers/crm/add.host.ts",
      "/workspace/servers/crm/find_customer.host.ts",
    ]);
    expect(loaded.problems).toEqual([]);
  });

  it("never imports a file that guest code can write", async () => {
    const serversDir = await makeServers({
      "evil/take_over.host.ts": "globalThis.tookOver = true;\nexport default 1;\n",
    });
    const { problems, tools, hidden } = await loadHostTools({ serversDir, writableDirs: [serversDir] });
    expect(problems).toMatchObject([
      { server: "evil", message: expect.stringContaining("is not run on the host") },
    ]);
    expect(tools).toEqual({});
    expect(hidden).toHaveLength(1);
    expect("tookOver" in globalThis).toBe(false);
  });

  it("skips links", async () => {
    const elsewhere = await makeServers({ "crm/add.host.ts": GOOD });
    const serversDir = await makeServers({ "crm/index.ts": "" });
    await symlink(path.join(elsewhere, "crm/add.host.ts"), path.join(serversDir, "crm/add.host.ts"));
    await symlink(path.join(elsewhere, "crm"), path.join(serversDir, "linked"));
    const { tools, hidden } = await loadHostTools({ serversDir, writableDirs: [], ownPackage });
    expect([tools, hidden]).toEqual([{}, []]);
  });

  it("reports files that can't be used", async () => {
    const serversDir = await makeServers({
      "crm/broken.host.ts": "export default {",
      "crm/find-customer.host.ts": GOOD,
      "crm/nothing.host.ts": "export const x = 1;\n",
      "crm/other.host.ts": 'import "@cem/not-installed/part";\n',
    });
    const { problems, tools } = await loadHostTools({ serversDir, writableDirs: [], ownPackage });
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining("broken.host.ts can't be loaded"),
      expect.stringContaining("Call it find_customer."),
      expect.stringContaining("exports no tool"),
      expect.stringMatching(/^other\.host\.ts can't be loaded: .* npm install @cem\/not-installed$/u),
    ]);
    expect(tools).toEqual({});
  });

  it.each([
    [{ crm: { "find-customer": tool } }, "Call it find_customer."],
    [{ "../crm": { add: tool } }, "can't stand in an import"],
  ])("refuses names, given in code, that can't be imported: %o", async (given, message) => {
    const serversDir = await makeServers({});
    await expect(loadHostTools({ serversDir, writableDirs: [], ownPackage }, given)).rejects.toMatchObject({
      code: "TOOL_INVALID",
      message: expect.stringContaining(message),
    });
  });
});

describe("withHostTools", () => {
  const empty: CatalogSnapshot = { servers: [], problems: [], version: "1" };
  const catalogOf = (snapshot: CatalogSnapshot): ToolCatalog => ({
    specificationVersion: "v1",
    list: async () => snapshot,
  });
  const { descriptions } = createHostTools({ tools: { crm: { find_customer: tool } } });
  const loaded = { files: new Map<string, string>(), problems: [], held: new Map() };

  it("adds host tools as servers of their own", async () => {
    const { servers, version } = await withHostTools(catalogOf(empty), descriptions, loaded).list();
    expect(servers).toMatchObject([
      { name: "crm", kind: "host", tools: [{ name: "find_customer", module: "./servers/crm/index.ts" }] },
    ]);
    expect(version).not.toBe(empty.version);
  });

  it("replaces a tool of the same name, and reports it", async () => {
    const other = {
      server: "crm",
      name: "find_customer",
      kind: "local" as const,
      description: "",
      inputSchema: {},
      callStyle: "object" as const,
      signature: "",
      module: "./servers/crm/index.ts",
      file: "crm/find_customer.ts",
    };
    const server = { name: "crm", description: "The shop.", kind: "local" as const, tools: [other] };
    const catalog = catalogOf({ ...empty, servers: [server] });
    const { servers, problems } = await withHostTools(catalog, descriptions, loaded).list();
    expect(servers).toMatchObject([
      { name: "crm", description: "The shop.", tools: [{ kind: "host", description: "Finds a customer." }] },
    ]);
    expect(problems).toMatchObject([{ server: "crm", file: "crm/find_customer.ts" }]);
  });

  it("returns the same snapshot until the catalog changes", async () => {
    const catalog = withHostTools(catalogOf(empty), descriptions, loaded);
    expect(await catalog.list()).toBe(await catalog.list());
  });
});
