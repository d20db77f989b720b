import { execFile } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { serverScript } from "../../../packages/mcp-client/fixtures/start-http.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

/** Several servers start, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 240_000 });

const run = promisify(execFile);
const odd = path.resolve(import.meta.dirname, "../../../packages/mcp-client/fixtures/odd-server.ts");
const compiler = createRequire(import.meta.url).resolve("@typescript/native/package.json");

/** The compiler's output for a project, with its own settings and all strict checks. */
async function complaints(folder: string, ...more: string[]): Promise<string> {
  const tsc = path.join(path.dirname(compiler), "bin/tsc");
  const ended = run(process.execPath, [tsc, "-p", folder, "--strict", ...more]);
  return ended.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

describe("the files of a project", () => {
  it("have no error for the compiler, with the tools of several servers", async () => {
    const folder = temporaryFolder();
    const cem = (...args: string[]) => runCem(args, { cwd: folder });
    expect(await cem("init")).toMatchObject({ code: 0 });
    const servers = [
      ["everything", serverScript("server-everything")],
      ["files", serverScript("server-filesystem"), folder],
      ["memory", serverScript("server-memory")],
      ["thinking", serverScript("server-sequential-thinking")],
      ["odd", odd, "plain"],
    ];
    for (const [name = "", ...args] of servers) {
      const { code } = await cem("add", name, "--", process.execPath, ...args);
      expect([name, code]).toEqual([name, 0]);
    }
    writeFileSync(
      path.join(folder, "program.ts"),
      `import { callTool, getPrompt, listPrompts, listResources, listResourceTemplates, readResource, saveSkill, ToolError } from "./client/index.ts";
import type { ResultHandle } from "./client/index.ts";
const draft = { name: "a", description: "b", code: "c", test: "d" };
const asked = [getPrompt("s", "p"), listPrompts("s"), listResources("s"), listResourceTemplates("s"), readResource("s", "u")];
const handle = await callTool<ResultHandle>("s", "t");
export default [(await saveSkill(draft)).version, await Promise.all(asked), handle.page(), (new Error() as ToolError).code];
`,
    );
    const strict = ["--noUncheckedIndexedAccess", "--verbatimModuleSyntax", "--noUnusedParameters"];
    expect(await complaints(folder, ...strict)).toBe("");
    await expect(run(process.execPath, [path.join(folder, "program.ts")])).rejects.toMatchObject({
      stderr: expect.stringContaining("getPrompt works in the sandbox only: cem exec <file>") as string,
    });
    writeFileSync(
      path.join(folder, "servers", "wrong.ts"),
      'import { echo } from "./odd/index.ts";\nawait echo({ text: 7 });\n',
    );
    expect(await complaints(folder)).toMatch(/servers\/wrong\.ts\(2,14\): error TS2322/u);
  });

  it("are made by cem add alone too, and never in place of one's own or through a link", async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(path.join(folder, "tsconfig.json"), "{}");
    symlinkSync(elsewhere, path.join(folder, "client"));
    const args = ["add", "memory", "--", process.execPath, serverScript("server-memory")];
    expect(await runCem(args, { cwd: folder })).toMatchObject({ code: 0 });
    expect(readFileSync(path.join(folder, "tsconfig.json"), "utf8")).toBe("{}");
    expect(readFileSync(path.join(folder, ".gitignore"), "utf8")).toContain("\n.cem/\n");
    expect(existsSync(path.join(elsewhere, "index.ts"))).toBe(false);
  });
});
