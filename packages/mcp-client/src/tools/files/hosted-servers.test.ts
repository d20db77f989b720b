import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createDiscovery } from "@cem/discovery";
import { describe, expect, it, onTestFinished } from "vitest";
import { hostedEntries, localTools } from "./hosted-servers.ts";
import type { NamedTool } from "./hosted-servers.ts";
import { createEntryReader } from "./server-entries.ts";

const TOOL = "export async function save(): Promise<number> { return 1; }\n";
const READ = "/** Reads.\n * @readOnly\n */\nexport async function read(): Promise<number> { return 1; }\n";

/** The entries that code must not reach, of a folder with `a/save.ts`, `b/read.ts` and further files and links. */
async function hostedOf(
  more: Record<string, string>,
  {
    isGuarded = ({ server, name }) => server === "a" && name === "save",
    links = {},
  }: { isGuarded?: (tool: NamedTool) => boolean; links?: Record<string, string> } = {},
): Promise<string[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "cem-hosted-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ "a/save.ts": TOOL, "b/read.ts": READ, ...more })) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(folder, name));
  const snapshot = await createDiscovery({ serversDir: folder }).list();
  const generated = new Set(["gen"]);
  const entries = await createEntryReader(folder)((name) => generated.has(name));
  const tools = localTools(snapshot);
  return [...hostedEntries(snapshot, tools, entries, generated, isGuarded)].toSorted();
}

describe("hostedEntries", () => {
  it("are none without a guarded tool, and else the servers that have one", async () => {
    expect(await hostedOf({}, { isGuarded: () => false })).toEqual([]);
    expect(await hostedOf({})).toEqual(["a"]);
    expect(await hostedOf({}, { isGuarded: () => true })).toEqual(["a", "b"]);
    const writes = ({ annotations }: NamedTool): boolean => annotations?.readOnlyHint !== true;
    expect(await hostedOf({}, { isGuarded: writes })).toEqual(["a"]);
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      "a folder",
      { "a/save.ts": `import { w } from "../_all/w.ts";\n${TOOL}`, "_all/w.ts": "export const w = 1;" },
      ["_all", "a"],
    ],
    ["a file", { "a/_w.ts": `export * from "../w.ts";`, "w.ts": "export const w = 1;" }, ["a", "w.ts"]],
    ["another's helper", { "a/_w.ts": `import "../b/_w.ts";`, "b/_w.ts": "" }, ["a", "b"]],
    ["a helper of it", { "b/_w.ts": `const { w } = await import('../a/_w.ts');`, "a/_w.ts": "" }, ["a", "b"]],
    [
      "a helper of it, by its place",
      { "b/_w.ts": "Deno.readTextFile(`/workspace/servers/a/_w.ts`);" },
      ["a", "b"],
    ],
    [
      "a helper behind another",
      {
        "b/_w.ts": `import "../_one/x.ts";`,
        "_one/x.ts": `import "../_two/x.ts";`,
        "_two/x.ts": "",
        "a/_w.ts": `import "../_two/x.ts";`,
      },
      ["_one", "_two", "a", "b"],
    ],
    ["a tool of it", { "b/read.ts": `import { save as one } from "../a/save.ts";\n${READ}` }, ["a", "b"]],
  ])("are those, too, that share %s with one", async (_, files, expected) => {
    expect(await hostedOf(files)).toEqual(expected);
  });

  it.each<[string, Record<string, string>]>([
    [
      "it calls on their servers",
      {
        "gen/index.ts": "",
        "a/_w.ts": `import { list } from "../gen/index.ts";`,
        "b/_w.ts": `import "../gen/index.ts";`,
      },
    ],
    [
      "have a path that leads nowhere",
      { "b/_w.ts": `const outside = ["../", "../../x.ts", "../c/x.ts", "/workspace/a/x.ts"];` },
    ],
  ])("are not those that %s", async (_, files) => {
    expect(await hostedOf(files)).toEqual(["a"]);
  });

  it("are servers of which a file can't be read, or exports what a guard names", async () => {
    const isGuarded = ({ server, name }: NamedTool): boolean => server === "b" && name === "broken";
    expect(await hostedOf({ "b/broken.ts": "export async function broken( {" }, { isGuarded })).toEqual([
      "b",
    ]);
    expect(await hostedOf({ "b/_w.ts": "export const broken = wrapped(1);" }, { isGuarded })).toEqual(["b"]);
    expect(await hostedOf({ "b/_w.ts": "const x = 1;\nexport { x as broken };" }, { isGuarded })).toEqual([
      "b",
    ]);
  });

  it("are what a link leads to, and a link that leads out of the folder is no entry", async () => {
    expect(await hostedOf({}, { links: { alias: "a" } })).toEqual(["a", "alias"]);
    expect(await hostedOf({}, { links: { "b/linked.ts": "../a/save.ts" } })).toEqual(["a", "b"]);
    const outside = { out: os.tmpdir(), lost: "nowhere", "b/round": "../b" };
    expect(await hostedOf({}, { links: outside, isGuarded: () => true })).toEqual(["a", "b"]);
    const folder = mkdtempSync(path.join(os.tmpdir(), "cem-hosted-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(os.tmpdir(), path.join(folder, "out"));
    expect(await createEntryReader(folder)(() => false)).toEqual(new Map());
  });
});
