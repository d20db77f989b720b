import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { CatalogSnapshot } from "@cem/core";
import { createDiscovery } from "./create-discovery.ts";
import { discover, makeTree, writeTree } from "../test/tool-tree.ts";

const tool = (name: string, type = "string") =>
  `/** The tool ${name}. */\nexport async function ${name}(input: { value: ${type} }): Promise<${type}> { return input.value; }\n`;

function namesOf({ servers }: CatalogSnapshot): string[] {
  return servers.flatMap((server) => server.tools.map((each) => `${each.module}#${each.name}`));
}

describe("createDiscovery", () => {
  describe("list", () => {
    it("finds nothing where there are no folders", async () => {
      expect(await discover("/nowhere/at/all")).toMatchObject({ servers: [], problems: [] });
    });

    it("takes what index.ts exports, with renames, and nothing else", async () => {
      const root = makeTree({
        "servers/math/index.ts": [
          "/** Does sums. */",
          'export { add as plus } from "./add.ts";',
          'export * from "./more.ts";',
          'export { default as three } from "./more.ts";',
          'export { default as four } from "./four.ts";',
          'import { twice } from "./lib/twice.ts";',
          "export { twice };",
          'export { LIMIT, type Input } from "./helper.ts";',
          "/** Its own. */",
          "export const own = async (input: { a: string }): Promise<string> => input.a;",
          "export async function _private(): Promise<void> {}",
        ].join("\n"),
        "servers/math/add.ts": tool("add"),
        "servers/math/more.ts": `${tool("one")}${tool("two")}export default async function three() {}`,
        "servers/math/four.ts":
          "const four = (input: { a: string }): string => input.a;\nexport default four;",
        "servers/math/lib/twice.ts": tool("twice"),
        "servers/math/helper.ts":
          "export const LIMIT = 1;\nexport interface Input { a: string }\nexport function helper() {}",
        "servers/math/add.test.ts": "not read (",
        "servers/math/vendor/lib.js": "not read (",
        "servers/.hidden/a.ts": "not read (",
        "servers/node_modules/a/a.ts": "not read (",
      });
      const found = await discover(root);
      expect(found.problems).toEqual([]);
      expect(found.servers.map(({ name, description, kind }) => ({ name, description, kind }))).toEqual([
        { name: "math", description: "Does sums.", kind: "local" },
      ]);
      expect(namesOf(found).toSorted()).toEqual(
        ["four", "one", "own", "plus", "three", "twice", "two"].map(
          (name) => `./servers/math/index.ts#${name}`,
        ),
      );
      expect(found.servers[0]?.tools.find(({ name }) => name === "plus")).toMatchObject({
        signature: "plus(input: { value: string }): Promise<string>",
        file: path.join(root, "servers/math/add.ts"),
      });
    });

    it("takes no type for a tool, nor what is only declared", async () => {
      const code =
        "export type Find = (input: { q: string }) => Promise<string>;\nexport const find: Find = async ({ q }) => q;\nexport declare function gone(): void;\n";
      const found = await discover(makeTree({ "servers/s/index.ts": code }));
      expect(namesOf(found)).toEqual(["./servers/s/index.ts#find"]);
    });

    it.each([
      ["/** About it. */\n\n/** The a. */\n", "About it."],
      ["// About it,\n// in two lines.\n\n// Not this.\n", "About it, in two lines."],
      ["/**\n * About it.\n * @module\n */\n", "About it."],
      ["// eslint-disable-next-line\n", ""],
      ["/** The a. */\n", ""],
    ])("describes a server by the comment at the top of its index: %j", async (comment, description) => {
      const found = await discover(
        makeTree({ "servers/s/index.ts": `${comment}${tool("a").slice(19)}// Later.\n` }),
      );
      expect(found.servers[0]?.description).toBe(description);
    });

    it("takes one tool from each file where there is no index.ts", async () => {
      const root = makeTree({
        "servers/loose/add.ts": `${tool("add")}${tool("other")}`,
        "servers/loose/get-item.js": "/** Gets. */\nexport const getItem = async (input) => input;",
        "servers/loose/types.ts": "export interface A { a: string }",
        "servers/loose/_helper.ts": "export const a = 1;",
        "servers/loose/README.md": "# Loose tools\n\nThey stand alone,\neach in a file.\n\nMore.",
      });
      const found = await discover(root);
      expect(found.problems).toEqual([]);
      expect(namesOf(found)).toEqual(["./servers/loose/add.ts#add", "./servers/loose/get-item.js#getItem"]);
      expect(found.servers[0]?.description).toBe("They stand alone, each in a file.");
    });

    it("reads skills with their SKILL.md", async () => {
      const found = await discover(
        makeTree({
          "skills/doubling/SKILL.md":
            "---\nname: doubling\ndescription: >\n  Doubles\n  things.\n---\n# Doubling\n",
          "skills/doubling/index.ts":
            "/** Double it. */\nexport function double(x: number): number { return x * 2; }",
          "skills/knowing/SKILL.md": "# Only words\n\nRead this.",
        }),
      );
      expect(found.problems).toEqual([]);
      expect(found.servers).toMatchObject([
        {
          name: "doubling",
          kind: "skill",
          description: "Doubles things.",
          tools: [{ name: "double", kind: "skill", module: "./skills/doubling/index.ts" }],
        },
        { name: "knowing", kind: "skill", description: "Read this.", tools: [] },
      ]);
    });

    it("reports a skill that is called like a server", async () => {
      const found = await discover(
        makeTree({ "servers/same/a.ts": tool("a"), "skills/same/index.ts": tool("b") }),
      );
      expect(namesOf(found)).toEqual(["./servers/same/a.ts#a"]);
      expect(found.problems).toMatchObject([
        { server: "same", message: expect.stringContaining("name of a server") },
      ]);
    });

    it("gives the same catalog and version for the same files anywhere", async () => {
      const files = { "servers/a/x.ts": tool("x"), "servers/b/y.ts": tool("y") };
      const [first, second] = [await discover(makeTree(files)), await discover(makeTree(files))];
      expect(first.version).toBe(second.version);
      expect(
        (await discover(makeTree({ ...files, "servers/b/y.ts": tool("y", "number") }))).version,
      ).not.toBe(first.version);
    });

    it("stops when it is aborted, and works again afterwards", async () => {
      const discovery = createDiscovery({
        serversDir: path.join(makeTree({ "servers/a/x.ts": tool("x") }), "servers"),
      });
      await expect(discovery.list({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
        "enough",
      );
      expect(namesOf(await discovery.list())).toEqual(["./servers/a/x.ts#x"]);
    });

    it("reads files again that changed after it was aborted half-way", async () => {
      const root = makeTree({ "servers/a/x.ts": tool("x"), "servers/b/y.ts": tool("y") });
      const abort = new AbortController();
      const discovery = createDiscovery({
        serversDir: path.join(root, "servers"),
        parallel: false,
        async readListed(folder) {
          if (folder.endsWith("b")) abort.abort(new Error("enough"));
          return undefined;
        },
      });
      await expect(discovery.list({ signal: abort.signal })).rejects.toThrow("enough");
      writeTree(root, { "servers/a/x.ts": tool("x", "number") });
      expect((await discovery.list()).servers[0]?.tools[0]?.outputSchema).toEqual({ type: "number" });
    });

    it("keeps names apart that objects have anyway", async () => {
      const names = ["constructor", "toString", "then", "hasOwnProperty"];
      const found = await discover(
        makeTree(Object.fromEntries(names.map((name) => [`servers/${name}/${name}.ts`, tool(name)]))),
      );
      expect(found.problems).toEqual([]);
      expect(namesOf(found).toSorted()).toEqual(
        names.map((name) => `./servers/${name}/${name}.ts#${name}`).toSorted(),
      );
    });
  });

  describe("problems", () => {
    it.each<[string, string | Uint8Array, RegExp, number | undefined]>([
      ["a syntax error", "export async function bad() {\n  return (;\n}", /is not valid TypeScript/, 2],
      [
        "no export of the file's name",
        "export async function other() {}",
        /exports no function "bad", only "other"/,
        undefined,
      ],
      ["an empty file", "", /exports no function "bad"/, undefined],
      ["text that is not UTF-8", Uint8Array.from([0x65, 0xff, 0xfe, 0x00]), /is not UTF-8/, undefined],
      ["a file that is too large", `// ${"x".repeat(1024 * 1024)}\n${tool("bad")}`, /1,048,576/, undefined],
      [
        "an import of nothing",
        `\nimport "./gone.ts";\n${tool("bad")}`,
        /imports ".\/gone.ts", which does not exist[.]?$/,
        2,
      ],
      [
        "an import of what its compiled form would be",
        `import "./good.js";\n${tool("bad")}`,
        /imports ".\/good.js", which does not exist, but good.ts does: an import has to name the file/,
        1,
      ],
      [
        "an import without the extension",
        `import "./good";\n${tool("bad")}`,
        /imports ".\/good", which does not exist, but good.ts does/,
        1,
      ],
      ["a package", `import "zod";\n${tool("bad")}`, /imports "zod", which is a package/, 1],
      [
        "nesting that exhausts the stack",
        `export const bad = ${"[".repeat(60_000)}`,
        /is not valid TypeScript/,
        undefined,
      ],
      [
        "generics that take for ever to parse",
        `export const bad = ${"<T>(".repeat(40)}`,
        /is not valid TypeScript/,
        undefined,
      ],
    ])("reports %s and leaves the others usable", async (_what, content, message, line) => {
      const found = await discover(
        makeTree({ "servers/s/bad.ts": content, "servers/s/good.ts": tool("good") }),
      );
      expect(namesOf(found)).toEqual(["./servers/s/good.ts#good"]);
      expect(found.problems).toMatchObject([
        { server: "s", file: expect.stringMatching(/bad\.ts$/), message: expect.stringMatching(message) },
      ]);
      expect(found.problems[0]?.line).toBe(line);
    });

    it("imports the others from their own files when the index can't be imported", async () => {
      const index =
        'export { good } from "./good.ts";\nexport { bad } from "./bad.ts";\nexport { deep as renamed } from "./deep.ts";\n';
      const root = makeTree({
        "servers/s/index.ts": index,
        "servers/s/good.ts": tool("good"),
        "servers/s/bad.ts": "export async function bad( {",
        "servers/s/deep.ts": `import "./bad.ts";\n${tool("deep")}`,
      });
      const broken = await discover(root);
      expect(namesOf(broken)).toEqual(["./servers/s/good.ts#good"]);
      expect(broken.problems.map(({ file, line }) => `${path.basename(file)}:${line}`).toSorted()).toEqual([
        "bad.ts:1",
        "deep.ts:1",
      ]);
      writeTree(root, { "servers/s/bad.ts": tool("bad") });
      expect(namesOf(await discover(root))).toEqual(
        ["good", "bad", "renamed"].map((name) => `./servers/s/index.ts#${name}`),
      );
    });

    it("reports an index that exports what is not there", async () => {
      const found = await discover(
        makeTree({
          "servers/s/index.ts": 'export { a } from "./a.ts";\nexport { b } from "./a.ts";',
          "servers/s/a.ts": tool("a"),
        }),
      );
      expect(namesOf(found)).toEqual(["./servers/s/a.ts#a"]);
      expect(found.problems).toMatchObject([
        { line: 2, message: 'index.ts exports "b", which a.ts does not have.' },
      ]);
    });

    it("reports a broken file that the index imports once, by itself", async () => {
      const found = await discover(
        makeTree({ "servers/s/index.ts": 'export { bad } from "./bad.ts";', "servers/s/bad.ts": "(" }),
      );
      expect(found.problems.map(({ file }) => path.basename(file))).toEqual(["bad.ts"]);
    });

    it("reports an import of values and types that is not there, and no import of types alone", async () => {
      const imported = (names: string) =>
        discover(makeTree({ "servers/s/a.ts": `import ${names} from "./gone.ts";\n${tool("a")}` }));
      expect((await imported("{ type T, helper }")).problems).toHaveLength(1);
      expect((await imported("{ type T, type U }")).problems).toEqual([]);
      expect((await imported("type { T }")).problems).toEqual([]);
    });

    it("leaves files beside the folders, and vendored folders, alone", async () => {
      const found = await discover(
        makeTree({ "servers/notes.ts": "(", "servers/vendor/a.ts": "(", "servers/_old/a.ts": "(" }),
      );
      expect(found).toMatchObject({ servers: [], problems: [] });
    });

    it("falls back to single files when the index is not valid", async () => {
      const found = await discover(
        makeTree({
          "servers/s/index.ts": "export {",
          "servers/s/a.ts": tool("a"),
          "servers/s/util.ts": "export const u = 1;",
        }),
      );
      expect(namesOf(found)).toEqual(["./servers/s/a.ts#a"]);
      expect(found.problems).toHaveLength(1);
    });

    it("tells of a tool that the index forgot, and of a broken file beside it", async () => {
      const found = await discover(
        makeTree({
          "servers/s/index.ts": 'export { a } from "./a.ts";',
          "servers/s/a.ts": tool("a"),
          "servers/s/b.ts": tool("b"),
          "servers/s/c.ts": "(",
        }),
      );
      expect(namesOf(found)).toEqual(["./servers/s/index.ts#a"]);
      expect(found.problems.map(({ message }) => message)).toEqual([
        'b.ts looks like a tool, but index.ts does not export it. Add: export { b } from "./b.ts".',
        expect.stringContaining("c.ts is not valid TypeScript"),
      ]);
    });

    it("reports two files that give one tool", async () => {
      const found = await discover(
        makeTree({ "servers/s/a.js": "export const a = async () => {};", "servers/s/a.ts": tool("a") }),
      );
      expect(found.servers[0]?.tools).toHaveLength(1);
      expect(found.problems).toMatchObject([{ message: expect.stringContaining('second tool "a"') }]);
    });

    it("reports re-exports that go in circles", async () => {
      const found = await discover(
        makeTree({
          "servers/s/index.ts": 'export { a } from "./x.ts";',
          "servers/s/x.ts": 'export { a } from "./y.ts";',
          "servers/s/y.ts": 'export { a } from "./x.ts";\nexport * from "./index.ts";',
        }),
      );
      expect(namesOf(found)).toEqual([]);
      expect(found.problems).not.toEqual([]);
    });

    it("reports folders, links and names that can't hold tools", async () => {
      const root = makeTree({
        "servers/good/a.ts": tool("a"),
        "servers/bad name?/a.ts": tool("a"),
        "servers/good/dir.ts/x": "",
        "outside/a.ts": tool("a"),
      });
      const inServers = (name: string) => path.join(root, "servers", name);
      symlinkSync(inServers("loop"), inServers("loop"));
      symlinkSync(inServers("nowhere"), inServers("dangling"));
      symlinkSync(path.join(root, "outside"), inServers("out"));
      symlinkSync(inServers("good"), inServers("alias"));
      symlinkSync(path.join(root, "outside/a.ts"), inServers("good/outside.ts"));
      symlinkSync(inServers("good/self.ts"), inServers("good/self.ts"));
      const found = await discover(root);
      expect(namesOf(found)).toEqual(["./servers/alias/a.ts#a", "./servers/good/a.ts#a"]);
      const told = found.problems
        .filter(({ server }) => server !== "alias")
        .map(({ file, message }) => `${path.basename(file)}: ${message}`);
      expect(told.toSorted()).toEqual([
        expect.stringMatching(/^bad name\?: has a name/),
        expect.stringMatching(/^dangling: is a link to something/),
        expect.stringMatching(/^dir\.ts: dir\.ts is a folder/),
        expect.stringMatching(/^loop: is a link that leads back/),
        expect.stringMatching(/^out: is a link that leads out/),
        expect.stringMatching(/^outside\.ts: outside\.ts is a link that leads out/),
        expect.stringMatching(/^self\.ts: self\.ts is a link that leads back/),
      ]);
    });
  });

  describe("changes", () => {
    it("sees a changed, added and removed file on the next list, also within one tick and of one size", async () => {
      const root = makeTree({ "servers/s/a.ts": tool("a", "string") });
      const discovery = createDiscovery({ serversDir: path.join(root, "servers") });
      const signatures = async () =>
        (await discovery.list()).servers.flatMap((server) => server.tools.map((each) => each.signature));
      expect(await signatures()).toEqual(["a(input: { value: string }): Promise<string>"]);
      for (const type of ["number", "string", "number"]) {
        writeTree(root, { "servers/s/a.ts": tool("a", type) });
        expect(await signatures()).toEqual([`a(input: { value: ${type} }): Promise<${type}>`]);
      }
      writeTree(root, { "servers/s/b.ts": tool("b") });
      expect(await signatures()).toHaveLength(2);
      rmSync(path.join(root, "servers/s/a.ts"));
      expect(await signatures()).toEqual(["b(input: { value: string }): Promise<string>"]);
    });

    it("sees files come and go in a folder that has not changed for long", async () => {
      const root = makeTree({
        "servers/s/a.ts": tool("a"),
        "servers/s/c.py": "",
        "skills/k/SKILL.md": "---\n---\n",
      });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
      onTestFinished(() => void vi.useRealTimers());
      const folders = { serversDir: path.join(root, "servers"), skillsDir: path.join(root, "skills") };
      const discovery = createDiscovery(folders);
      const names = async (): Promise<unknown> => {
        await discovery.list();
        const { servers, problems } = await discovery.list();
        // The time of a folder has a tick of its own.
        await new Promise((resolve) => setTimeout(resolve, 20));
        const python = problems.filter(({ cause }) => cause === "python").length;
        return [python, ...servers.flatMap(({ tools }) => tools.map(({ name }) => name))];
      };
      expect(await names()).toEqual([1, "a"]);
      writeTree(root, { "servers/s/b.ts": tool("b"), "skills/k/scripts/d.ts": tool("d") });
      expect(await names()).toEqual([1, "a", "b", "d"]);
      writeTree(root, { "skills/k/scripts/e.ts": tool("e") });
      rmSync(path.join(root, "servers/s/a.ts"));
      rmSync(path.join(root, "servers/s/c.py"));
      expect(await names()).toEqual([0, "b", "d", "e"]);
      rmSync(path.join(root, "servers/s"), { recursive: true });
      expect(await names()).toEqual([0, "d", "e"]);
    });

    it("sees a change of a type in a neighbour file, and one that appears later", async () => {
      const root = makeTree({ "servers/s/a.ts": `import type { T } from "./_t.ts";\n${tool("a", "T")}` });
      const discovery = createDiscovery({ serversDir: path.join(root, "servers") });
      const type = async () => (await discovery.list()).servers[0]?.tools[0]?.outputSchema;
      expect(await type()).toBeUndefined();
      writeTree(root, { "servers/s/_t.ts": "export type T = string;" });
      expect(await type()).toEqual({ type: "string" });
      writeTree(root, { "servers/s/_t.ts": "export type T = 'abc';" });
      expect(await type()).toEqual({ type: "string", const: "abc" });
    });

    it("gives the same objects as long as nothing changes", async () => {
      const root = makeTree({ "servers/s/a.ts": tool("a"), "servers/t/b.ts": tool("b") });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1_000 });
      onTestFinished(() => void vi.useRealTimers());
      const discovery = createDiscovery({ serversDir: path.join(root, "servers") });
      const [first] = [await discovery.list()];
      expect((await discovery.list()).servers[0]).toBe(first.servers[0]);
      writeTree(root, { "servers/s/a.ts": tool("a", "number") });
      const { servers } = await discovery.list();
      expect(servers[0]).not.toBe(first.servers[0]);
      expect(servers[1]).toBe(first.servers[1]);
    });

    it("answers calls at the same time, each with what is there", async () => {
      const discovery = createDiscovery({
        serversDir: path.join(makeTree({ "servers/s/a.ts": tool("a") }), "servers"),
      });
      const all = await Promise.all(Array.from({ length: 20 }, () => discovery.list()));
      expect(new Set(all.map(({ version }) => version)).size).toBe(1);
      expect(all.map(namesOf)).toEqual(Array.from({ length: 20 }, () => ["./servers/s/a.ts#a"]));
    });
  });

  describe("cacheFile", () => {
    function cached(files: Record<string, string>) {
      const root = makeTree(files);
      const cacheFile = path.join(root, "cache/tools.json");
      const list = () =>
        createDiscovery({
          serversDir: path.join(root, "servers"),
          skillsDir: path.join(root, "skills"),
          cacheFile,
        }).list();
      return { root, cacheFile, list };
    }
    /** The timestamps of a file that has just changed are not relied on. */
    function settle(): void {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1_000 });
      onTestFinished(() => void vi.useRealTimers());
    }
    const files = {
      "servers/s/index.ts": '/** Some. */\nexport { a } from "./a.ts";',
      "servers/s/a.ts": `import type { T } from "./_t.ts";\n${tool("a", "T")}`,
      "servers/s/_t.ts": "export interface T { __proto__: string; n?: T }",
      "servers/s/broken.ts": "export (",
      "skills/k/SKILL.md": "---\ndescription: A skill.\n---",
      "skills/k/index.ts": "export function k(x: number): number { return x; }",
    };

    it("gives the same catalog from the cache as from the files", async () => {
      const { list, cacheFile } = cached(files);
      const fresh = await list();
      expect(statSync(cacheFile).mode & 0o777).toBe(0o600);
      expect(await list()).toEqual(fresh);
      expect(fresh.servers[0]?.tools[0]?.outputSchema?.properties).toHaveProperty(["__proto__"]);
    });

    it("leaves the file alone when nothing changed, and replaces it when a file is gone", async () => {
      const { root, list, cacheFile } = cached(files);
      settle();
      await list();
      const { ino } = statSync(cacheFile);
      await list();
      expect(statSync(cacheFile).ino).toBe(ino);
      rmSync(path.join(root, "skills/k"), { recursive: true });
      await list();
      expect(statSync(cacheFile).ino).not.toBe(ino);
      expect(readFileSync(cacheFile, "utf8")).not.toContain("A skill.");
    });

    it("takes what is in the cache for files that did not change", async () => {
      const { root, list, cacheFile } = cached(files);
      const old = new Date(Date.now() - 60_000);
      settle();
      await list();
      writeFileSync(cacheFile, readFileSync(cacheFile, "utf8").replaceAll("A skill.", "From the cache."));
      expect((await list()).servers.at(-1)?.description).toBe("From the cache.");
      utimesSync(path.join(root, "skills/k/SKILL.md"), old, old);
      expect((await list()).servers.at(-1)?.description).toBe("A skill.");
      writeTree(root, { "skills/k/SKILL.md": "---\ndescription: Another.\n---" });
      expect((await list()).servers.at(-1)?.description).toBe("Another.");
    });

    it.each([
      "",
      "{",
      "null",
      "[]",
      '{"format":"cem-discovery-0"}',
      '{"format":"cem-discovery-6","entries":[["a",1]]}',
      "\0\0",
    ])("ignores a cache that holds %j", async (content) => {
      const { root, list, cacheFile } = cached(files);
      const fresh = await list();
      writeTree(root, { "cache/tools.json": content });
      expect(await list()).toEqual(fresh);
      expect(JSON.parse(readFileSync(cacheFile, "utf8"))).toHaveProperty("format", "cem-discovery-6");
      expect(readdirSync(path.dirname(cacheFile))).toEqual(["tools.json"]);
    });

    it("moves with the folder of tools", async () => {
      const { root, list } = cached(files);
      const fresh = await list();
      const moved = `${root}-moved`;
      onTestFinished(() => rmSync(moved, { recursive: true, force: true }));
      renameSync(root, moved);
      const again = await createDiscovery({
        serversDir: path.join(moved, "servers"),
        skillsDir: path.join(moved, "skills"),
        cacheFile: path.join(moved, "cache/tools.json"),
      }).list();
      expect(again.version).toBe(fresh.version);
      expect(again.servers[0]?.tools[0]?.file).toBe(path.join(moved, "servers/s/a.ts"));
    });

    it("does without a cache that can't be written", async () => {
      const { root, list } = cached(files);
      mkdirSync(path.join(root, "cache/tools.json"), { recursive: true });
      chmodSync(path.join(root, "cache"), 0o500);
      onTestFinished(() => chmodSync(path.join(root, "cache"), 0o700));
      expect(namesOf(await list())).toHaveLength(2);
      expect(readdirSync(path.join(root, "cache"))).toEqual(["tools.json"]);
    });
  });
});
