import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Finding, ToolDefinition, TypeChecker } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ENDLESS_TYPES, HOSTILE_PROGRAMS } from "../fixtures/hostile-programs.ts";
import { findCompiler } from "./compiler/compiler-process.ts";
import { createTypeChecker, openTypeChecker } from "./type-checker.ts";

const root = path.resolve(import.meta.dirname, "../../..");
/** A tool without a file: only its signature is known. */
const search: ToolDefinition = {
  server: "web",
  name: "search",
  kind: "host",
  description: "",
  inputSchema: {},
  callStyle: "object",
  signature: "search(input: { query: string; limit?: number }): Promise<unknown>",
  module: "./servers/web/index.ts",
};

let checker: TypeChecker;

async function check(code: string): Promise<string[]> {
  return (await checker.check({ code, tools: [] })).map(inWords);
}

function inWords({ line, rule, message }: Finding): string {
  return `${line} ${rule}: ${message}`;
}

beforeAll(() => {
  checker = createTypeChecker({
    serversDir: path.join(root, "servers"),
    skillsDir: path.join(root, "skills"),
  });
});

afterAll(() => checker.dispose());

describe("createTypeChecker", () => {
  describe("check", () => {
    it("finds in the worker what the checker finds, and lets right code pass", async () => {
      const code = 'import { get_wether } from "./servers/weather/index.ts";';
      expect(await check(code)).toEqual([
        expect.stringMatching(/^1 unknown-export: .*Did you mean 'get_weather'\?$/u),
      ]);
      expect(await check(code.replace("wether", "weather"))).toEqual([]);
    });

    it("finds the tools of skills", async () => {
      const code = 'import { double_numbr } from "/workspace/skills/double_number/index.ts";';
      expect(await check(code)).toHaveLength(1);
    });

    it.each([
      ["await serch({});", "search"],
      ["const x = 1;\n  await tools.web.search({});", "search"],
      ["await mcp__web__search({});", "search"],
      ["await web__find_pges({});", "find_pages"],
      ["await callTool('web', 'search', {});", "search"],
      ["await servers.web.findPages({});", "find_pages"],
    ])("names the tool that %j means", async (code, name) => {
      const tools = [search, { ...search, name: "find_pages" }, { ...search, server: "b", name: "other" }];
      const hint = `Did you mean ${name}? Write import { ${name} } from "./servers/web/index.ts".`;
      for (let round = 0; round < 2; round += 1)
        expect(await checker.check({ code, tools })).toMatchObject([{ rule: "unknown-name", hint }]);
    });

    it("names no tool where none is alike, and not `undefined`", async () => {
      const [finding] = await checker.check({ code: "return undefinedName;", tools: [search] });
      expect(finding).toMatchObject({ message: "Cannot find name 'undefinedName'." });
      expect(finding).not.toHaveProperty("hint");
    });

    it.each(["print('a');", "await axios.get('u');", "await client.connect();", "fs.readFileSync('a');"])(
      "takes %j for no call of a tool with a name like it",
      async (code) => {
        const names = ["point", "Get_User", "contact", "read_file"];
        const tools = names.map((name) => ({ ...search, name }));
        const [finding] = await checker.check({ code, tools: [...tools, { ...search, server: "fs" }] });
        expect(finding).toMatchObject({ rule: "unknown-name" });
        expect(finding).not.toHaveProperty("hint");
      },
    );

    it("knows a tool by its very name in any object", async () => {
      const found = await checker.check({
        code: "await client.getUser();",
        tools: [{ ...search, name: "get_user" }],
      });
      expect(found).toMatchObject([{ hint: expect.stringContaining("import { get_user }") }]);
    });

    it("looks only at the tools whose modules the code names", async () => {
      const code = 'import { search } from "./servers/web/index.ts";\nawait search({ quer: "x" });';
      expect(await checker.check({ code, tools: [search] })).toMatchObject([{ rule: "wrong-arguments" }]);
      const folder = code.replace("/index.ts", "/");
      expect(await checker.check({ code: folder, tools: [search] })).toHaveLength(1);
      const other = { ...search, module: "./servers/other/index.ts" };
      expect(await checker.check({ code, tools: [other] })).toEqual([]);
    });

    it("does not check code that is too long, and says so", async () => {
      const [finding, ...rest] = await checker.check({ code: " ".repeat(256 * 1024 + 1), tools: [] });
      expect(rest).toEqual([]);
      expect(finding).toEqual({
        rule: "not-type-checked",
        severity: "warning",
        message:
          "The types were not checked: it is longer than 262,144 characters. The code may still be right.",
      });
      expect(await checker.check({ code: " ".repeat(256 * 1024), tools: [] })).toEqual([]);
    });

    it("checks the same code against the same tools once", async () => {
      const request = { code: "export default totally_unknown;", tools: [] };
      const first = await checker.check(request);
      expect(first).toHaveLength(1);
      expect(await checker.check({ ...request })).toBe(first);
      expect(await checker.check({ ...request, code: `${request.code}\n` })).not.toBe(first);
    });

    it("keeps the findings of the last 500 checks", async () => {
      const checkNumber = (index: number) => checker.check({ code: `export default ${index};`, tools: [] });
      const found: Finding[][] = [];
      for (let index = 0; index <= 500; index += 1) found.push(await checkNumber(index));
      expect(await checkNumber(1)).toBe(found[1]);
      expect(await checkNumber(0)).not.toBe(found[0]);
    });

    it("stops waiting when it is cancelled, and checks the next", async () => {
      const cancel = new AbortController();
      const code = "export default cancelled;";
      const checking = checker.check({ code, tools: [], signal: cancel.signal });
      cancel.abort(new Error("enough"));
      await expect(checking).rejects.toThrow("enough");
      await expect(checker.check({ code, tools: [], signal: cancel.signal })).rejects.toThrow("enough");
      expect(await check("export default still_good;")).toHaveLength(1);
    });
  });

  describe("with code that exhausts it", () => {
    it("ends a check that takes too long, says so, and checks the next", async () => {
      const own = createTypeChecker({ timeoutMs: 1_000 });
      onTestFinished(() => own.dispose());
      await own.check({ code: "1", tools: [] });
      const [finding] = await own.check({ code: ENDLESS_TYPES, tools: [] });
      expect(finding).toMatchObject({ rule: "not-type-checked", severity: "warning" });
      expect(finding?.message).toBe(
        "The types were not checked: it took more than 1 s. The code may still be right.",
      );
      expect(await own.check({ code: "export default missing;", tools: [] })).toHaveLength(1);
      await own.dispose();
      await expect(own.check({ code: "1", tools: [] })).rejects.toMatchObject({
        code: "TYPE_CHECKER_DISPOSED",
      });
    });

    it("lets code pass, with a warning, when there is not enough memory to check it", async () => {
      const own = createTypeChecker({ memoryMb: 24 });
      onTestFinished(() => own.dispose());
      const [finding] = await own.check({ code: "export default missing;", tools: [] });
      expect(finding).toMatchObject({ rule: "not-type-checked", severity: "warning" });
      expect(finding?.message).toContain("24 MiB");
    });

    it("survives code that is nested too deep", async () => {
      const deep = `export default ${"[".repeat(20_000)}${"]".repeat(20_000)};`;
      const findings = await check(deep);
      expect(findings.every((finding) => finding.includes("not-type-checked"))).toBe(true);
      expect(await check("export default missing_too;")).toHaveLength(1);
    });
  });

  describe("before it has to check", () => {
    it("looks for no compiler, and for one only while it is used", async () => {
      let searches = 0;
      const open = () =>
        openTypeChecker({}, () => {
          searches += 1;
          return findCompiler();
        });
      const own = open();
      expect(searches).toBe(0);
      void own.prepare();
      void own.prepare();
      expect(await own.check({ code: "export default 1;", tools: [] })).toEqual([]);
      expect(searches).toBe(1);
      await own.dispose();
      void own.prepare();
      const disposed = open();
      const checking = disposed.check({ code: "export default 3;", tools: [] });
      await disposed.dispose();
      expect(await checking).toMatchObject([{ rule: "not-type-checked" }]);
      expect(searches).toBe(1);
    });

    it("lets a compiler go that nobody has used for five minutes, and starts another for the next check", async () => {
      let searches = 0;
      const own = openTypeChecker({}, () => {
        searches += 1;
        return findCompiler();
      });
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      onTestFinished(async () => {
        vi.useRealTimers();
        await own.dispose();
      });
      const check = (code: string) => own.check({ code, tools: [] });
      await check("missing_1;");
      vi.advanceTimersByTime(200_000);
      await check("missing_2;");
      vi.advanceTimersByTime(200_000);
      expect(await check("missing_3;")).toMatchObject([{ rule: "unknown-name" }]);
      expect(searches).toBe(1);
      vi.advanceTimersByTime(300_000);
      expect(await check("missing_4;")).toMatchObject([{ rule: "unknown-name" }]);
      expect(searches).toBe(2);
    });

    it("keeps its compiler, also after a program that can't be parsed", async () => {
      let searches = 0;
      const own = openTypeChecker({}, () => {
        searches += 1;
        return findCompiler();
      });
      onTestFinished(() => own.dispose());
      const { "200,000 brackets": unreadable = "" } = HOSTILE_PROGRAMS;
      for (const code of ["1", unreadable, "const = ;", "2", "missing;"])
        await own.check({ code, tools: [] });
      expect(searches).toBe(1);
    });

    it("loads TypeScript's API only to explain what is wrong", async () => {
      const file = JSON.stringify(new URL("./index.ts", import.meta.url).href);
      const script = `import { registerHooks } from "node:module";
        let loads = 0;
        registerHooks({
          load(url, context, next) {
            if (/[\\/]typescript[\\/]/u.test(url)) loads += 1;
            return next(url, context);
          },
        });
        const { createTypeChecker } = await import(${file});
        const checker = createTypeChecker();
        for (const code of ["1", "missing;"]) {
          await checker.check({ code, tools: [] });
          console.log(loads > 0);
        }
        await checker.dispose();`;
      const args = ["--conditions=@cem/source", "--input-type=module", "--eval", script];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(stdout.split("\n")).toEqual(["false", "true", ""]);
    });
  });

  describe("without a compiler for the platform", () => {
    it.each([
      [
        { missing: "TypeScript's compiler for plan9-z80 is not installed here (package x)" },
        /^The types were not checked: TypeScript's compiler for plan9-z80 is not installed here \(package x\)\. The code may still be right\.$/,
      ],
      [
        { executable: path.join(root, "package.json"), libraryFolder: root },
        /^The types were not checked: TypeScript's compiler did not start \(.+\)\. The code may still be right\.$/,
      ],
      [
        { executable: path.join(root, "missing"), libraryFolder: root },
        /^The types were not checked: TypeScript's compiler did not start \(.+\)\. The code may still be right\.$/,
      ],
      [
        { executable: "no \0 path", libraryFolder: root },
        /^The types were not checked: TypeScript's compiler did not start \(.+\)\. The code may still be right\.$/,
      ],
    ])("lets code pass, with a warning: %o", async (found, message) => {
      const own = openTypeChecker({}, () => found);
      onTestFinished(() => own.dispose());
      void own.prepare();
      for (const code of ["export default missing;", "export default another;"]) {
        expect(await own.check({ code, tools: [] })).toEqual([
          { rule: "not-type-checked", severity: "warning", message: expect.stringMatching(message) },
        ]);
      }
    });

    it("says so where the compiler does not find its library", async () => {
      const libraryFolder = path.join(root, path.sep);
      const own = openTypeChecker({}, () => {
        const found = findCompiler();
        return "missing" in found ? found : { ...found, libraryFolder };
      });
      onTestFinished(() => own.dispose());
      const [finding] = await own.check({ code: "export default 1;", tools: [] });
      expect(finding?.message).toContain("TypeScript's library could not be read");
    });
  });
});
