import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

const TOOLS = 1_000;
const other = Array.from({ length: TOOLS }, (_, n) =>
  tool("cloud", `restart_unit_${n}`, `Restart unit ${n}.`),
);
const tools = [...other, ...sampleTools];
const task = "get the weather forecast in Oslo, and a file that is spelt wethr";

async function search(
  cacheDir: string,
  version: string | undefined,
  catalog: readonly ToolDefinition[] = tools,
) {
  const found = await createSelector({ cacheDir }).search({ task, tools: catalog, catalogVersion: version });
  return found.map(({ tool: { name }, score, reason }) => [name, score, reason]);
}

describe("createSelector", () => {
  describe("with the index of an earlier process", () => {
    it("finds the same", async () => {
      const cacheDir = temporaryFolder("cem-index");
      const first = await search(cacheDir, "1");
      expect(first).not.toEqual([]);
      const file = await readFile(path.join(cacheDir, "index.bin"));
      expect(await search(cacheDir, "1")).toEqual(first);
      expect(await readFile(path.join(cacheDir, "index.bin"))).toEqual(file);
      // It was read: these definitions say something else.
      const renamed = tools.map((one) => ({ ...one, description: "Nothing of the kind." }));
      expect(await search(cacheDir, "1", renamed)).toEqual(first);
      expect(await search(cacheDir, "2", renamed)).not.toEqual(first);
    });

    it("finds what a selector without a file does", async () => {
      const cacheDir = temporaryFolder("cem-index");
      await search(cacheDir, "1");
      const without = await createSelector().search({ task, tools });
      expect(await search(cacheDir, "1")).toEqual(
        without.map(({ tool: { name }, score, reason }) => [name, score, reason]),
      );
    });

    it.each(["", "no index", "\xFF\x0F"])("builds it anew where the file is %j", async (text) => {
      const cacheDir = temporaryFolder("cem-index");
      const first = await search(cacheDir, "1");
      await writeFile(path.join(cacheDir, "index.bin"), text, "latin1");
      expect(await search(cacheDir, "1")).toEqual(first);
    });

    it("keeps none of a catalog without a version, or of a small one", async () => {
      const cacheDir = temporaryFolder("cem-index");
      await search(cacheDir, undefined);
      await search(cacheDir, "1", sampleTools);
      await expect(readFile(path.join(cacheDir, "index.bin"))).rejects.toThrow("ENOENT");
    });
  });
});
