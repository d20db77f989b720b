import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { deserialize, serialize } from "node:v8";
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

/** The only file of the folder. */
function fileIn(cacheDir: string): string {
  const [name = "", ...others] = readdirSync(cacheDir);
  expect(others).toEqual([]);
  return path.join(cacheDir, name);
}

describe("createSelector", () => {
  describe("with the index of an earlier process", () => {
    it("finds the same", async () => {
      const cacheDir = temporaryFolder("cem-index");
      const first = await search(cacheDir, "1");
      expect(first).not.toEqual([]);
      const kept = readFileSync(fileIn(cacheDir));
      expect(await search(cacheDir, "1")).toEqual(first);
      expect(readFileSync(fileIn(cacheDir))).toEqual(kept);
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

    it("reads none of other tools, or of another order, whose version did not change", async () => {
      const cacheDir = temporaryFolder("cem-index");
      const first = await search(cacheDir, "1");
      const turned = tools.toReversed();
      expect(await search(cacheDir, "1", turned)).toEqual(first);
      const others = tools.map((one) => ({ ...one, name: `${one.name}_2` }));
      expect(
        (await search(cacheDir, "1", others)).map(([name]) => String(name).endsWith("_2")),
      ).not.toContain(false);
    });

    it.each(["", "no index", "\xFF\x0F"])("builds it anew where the file is %j", async (text) => {
      const cacheDir = temporaryFolder("cem-index");
      const first = await search(cacheDir, "1");
      writeFileSync(fileIn(cacheDir), text, "latin1");
      expect(await search(cacheDir, "1")).toEqual(first);
    });

    it.each<[string, (data: Record<string, unknown>) => void]>([
      ["a length that is none", (data) => Object.assign(data, { order: { length: 4e9 } })],
      ["postings without an end", (data) => (data["starts"] as Uint32Array).fill(4e9)],
      ["names that are objects", (data) => Object.assign(data, { words: [{}, null] })],
      ["nothing inside", (data) => Object.assign(data, { names: {}, grams: null })],
    ])("builds it anew where a stranger's file has %s", async (_, change) => {
      const cacheDir = temporaryFolder("cem-index");
      const first = await search(cacheDir, "1");
      const content = deserialize(readFileSync(fileIn(cacheDir))) as { data: Record<string, unknown> };
      change(content.data);
      writeFileSync(fileIn(cacheDir), serialize(content));
      expect(await search(cacheDir, "1")).toEqual(first);
    });

    it("waits for no pipe, and follows no link", async () => {
      const cacheDir = temporaryFolder("cem-index");
      const first = await search(cacheDir, "1");
      const file = fileIn(cacheDir);
      rmSync(file);
      symlinkSync("/dev/zero", file);
      expect(await search(cacheDir, "1")).toEqual(first);
      rmSync(file);
      execFileSync("mkfifo", [file]);
      expect(await search(cacheDir, "1")).toEqual(first);
    });

    it("keeps those of the last catalogs", async () => {
      const cacheDir = temporaryFolder("cem-index");
      for (let version = 0; version < 6; version += 1) await search(cacheDir, String(version));
      expect(readdirSync(cacheDir)).toHaveLength(4);
    });

    it("keeps none of a catalog without a version, or of a small one", async () => {
      const cacheDir = temporaryFolder("cem-index");
      await search(cacheDir, undefined);
      await search(cacheDir, "1", sampleTools);
      expect(readdirSync(cacheDir)).toEqual([]);
    });
  });
});
