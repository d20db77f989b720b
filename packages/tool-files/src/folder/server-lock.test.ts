import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import { readLock } from "./server-lock.ts";
import { type WrittenServerFiles, writeServerFiles } from "./write-server-files.ts";

const ADD = {
  name: "add",
  description: "Adds.",
  inputSchema: { type: "object", properties: { a: { type: "number" } } },
};
const SUB = { name: "sub-tract", title: "Subtract", annotations: { readOnlyHint: true, junk: 1 } };

let serversDir = "";
let folder = "";

beforeEach(async () => {
  serversDir = path.join(await temporaryFolder(), "servers");
  folder = path.join(serversDir, "math");
});

function write(definitions: readonly unknown[], more: object = {}): Promise<WrittenServerFiles> {
  return writeServerFiles({ serversDir, folder: "math", server: "math", definitions, ...more });
}

describe("readLock", () => {
  it("gives the definitions that discovery needs", async () => {
    await write([ADD, { ...SUB, description: "Takes\u200B away." }]);
    const read = await readLock(folder);
    expect(read?.tools).toEqual([
      {
        server: "math",
        name: "add",
        kind: "host",
        description: "Adds.",
        inputSchema: ADD.inputSchema,
        callStyle: "object",
        signature: "add(input?: { a?: number }): Promise<unknown>",
        module: "./servers/math/index.ts",
        file: path.join(folder, "add.ts"),
      },
      {
        server: "math",
        name: "sub_tract",
        originalName: "sub-tract",
        kind: "host",
        description: "Takes away.",
        inputSchema: {},
        annotations: { title: "Subtract", readOnlyHint: true },
        callStyle: "object",
        signature: "sub_tract(input?: { [key: string]: unknown }): Promise<unknown>",
        module: "./servers/math/index.ts",
        file: path.join(folder, "sub_tract.ts"),
      },
    ]);
  });

  it("reads a lock that an earlier version wrote, which keeps its bytes but for digests", async () => {
    const text = await readFile(path.join(import.meta.dirname, "../../fixtures/version-1.lock"), "utf8");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "tools.lock.json"), text);
    const locked = (await readLock(folder))?.lock.tools ?? [];
    expect(locked.map(({ name }) => name)).toEqual(["add", "get_weather", "list_cities"]);
    const definitions = locked.map(({ definition }) => definition);
    const serverInfo = { name: "Weather", version: "1.2.3" };
    await write(definitions, { server: "weather", serverInfo });
    expect(await readFile(path.join(folder, "tools.lock.json"), "utf8")).toBe(
      text.replaceAll(/"sha256":"[0-9a-f]{64}",/g, ""),
    );
  });

  it("refuses a link", async () => {
    await write([ADD]);
    await symlink(path.join(folder, "tools.lock.json"), path.join(serversDir, "tools.lock.json"));
    await expect(readLock(serversDir)).rejects.toMatchObject({
      code: "TOOL_LOCK_INVALID",
      details: { reason: "it is a link" },
    });
  });

  it("takes what is valid of the annotations, and the title of the tool itself first", async () => {
    const annotations = { title: "other", idempotentHint: "yes", openWorldHint: false };
    await write([
      { name: "a", title: "A", annotations, inputSchema: 5, outputSchema: 5 },
      { name: "b", annotations: { title: "B" }, outputSchema: { type: "string" } },
      { name: "c", annotations: [] },
    ]);
    const tools = (await readLock(folder))?.tools ?? [];
    expect(tools.map((tool) => [tool.annotations, tool.description, tool.outputSchema])).toEqual([
      [{ title: "A", openWorldHint: false }, "A", undefined],
      [{ title: "B" }, "", { type: "string" }],
      [undefined, "", undefined],
    ]);
  });

  it("knows nothing where there is no lock", async () => {
    expect(await readLock(path.join(serversDir, "none"))).toBeUndefined();
  });

  it.each([
    ["no JSON", "{", /JSON/],
    ["another shape", "{}", /lockVersion/],
    ["another version", `{"lockVersion":2}`, /another version of cem wrote it/],
    ["a file outside", undefined, /file/],
  ])("refuses %s", async (_, replacement, message) => {
    await write([ADD]);
    const file = path.join(folder, "tools.lock.json");
    const text = await readFile(file, "utf8");
    await writeFile(file, replacement ?? text.replace('"file":"add.ts"', '"file":"../../add.ts"'));
    const error: unknown = await readLock(folder).catch((reason: unknown) => reason);
    expect(CemError.isInstance(error) && error.code).toBe("TOOL_LOCK_INVALID");
    expect(String(error)).toMatch(message);
    expect(JSON.stringify(error)).not.toContain(serversDir);
    expect(String(error)).toMatch(/servers\/[^/]+\/tools\.lock\.json .* Restore it from version control\.$/);
  });
});
