import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunOutcome, ToolInvoker } from "@cem/core";
import type { GuestSandbox } from "@cem/sandbox";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createDenoSandboxProvider } from "./index.ts";
import { backendPerLevel } from "./testing.ts";

const backends = await backendPerLevel();

const invoker: ToolInvoker = {
  specificationVersion: "v1",
  invoke: async ({ args }) => ({ ok: true, value: args }),
};

describe.each(backends)("reuse of a guest in a session: $isolation", ({ isolation }) => {
  const folder = mkdtempSync(join(tmpdir(), "cem-reuse-"));
  mkdirSync(join(folder, "servers/counter"), { recursive: true });
  writeFileSync(join(folder, "servers/counter/index.ts"), `export { count } from "./count.ts";\n`);
  writeFileSync(
    join(folder, "servers/counter/count.ts"),
    `let calls = 0;\nexport async function count(_: object) { return ++calls; }\n`,
  );
  let sandbox: GuestSandbox | undefined;
  afterEach(async () => {
    await sandbox?.dispose();
    sandbox = undefined;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const open = async (hostTools: Record<string, string[]> = {}) => {
    sandbox = await createDenoSandboxProvider({ isolation, reuse: "session", standby: 1 }).create({
      workspaceDir: folder,
      hostTools,
    });
    return sandbox;
  };
  const run = async (code: string, session = "one", more: object = {}): Promise<RunOutcome> => {
    const outcome = await (sandbox as GuestSandbox).run({ code, session, invoker, ...more });
    // The guest offers itself again, or is thrown away, right after the outcome.
    await expect.poll(() => (sandbox as GuestSandbox).stats().taken, { timeout: 5_000 }).toBe(0);
    return outcome;
  };
  const COUNT = `import { count } from "./servers/counter/index.ts";\nexport default await count({});`;

  it("gives the same guest to the runs of a session, each with modules of its own", async () => {
    await open();
    for (let index = 0; index < 5; index += 1) expect(await run(COUNT)).toMatchObject({ value: 1 });
    expect(sandbox?.stats()).toMatchObject({ reused: 4, kept: 1, discarded: 0 });
    const fs = `import { readFileSync, writeFileSync } from "node:fs";
import { callTool } from "cem:client";
writeFileSync("/workspace/note.txt", "written");
return [readFileSync("note.txt", "utf8"), await callTool("h", "t", { a: 1 })];`;
    expect(await run(fs)).toMatchObject({ value: ["written", { a: 1 }] });
    expect(await run(fs)).toMatchObject({ value: ["written", { a: 1 }] });
    expect(sandbox?.stats()).toMatchObject({ reused: 6, discarded: 0 });
  });

  it("loads every module anew, by whatever address, and leads to the client and to tools of the host", async () => {
    await open({ counter: ["remote"] });
    const code = `import { count, remote } from "./servers/counter/index.ts";
import { count as other } from "./servers/counter/count.ts?other";
import { count as third } from "./servers/counter/count.ts?run=99";
import { count as fourth } from "./servers/counter/count.ts?a&run=2";
import { turns } from "data:text/javascript,let n = 0; export const turns = () => ++n;";
import { callTool } from "./client/index.ts";
export default [await count({}), await other({}), await third({}), await fourth({}), turns(), await remote({ a: 1 }), await callTool("h", "t", 2)];`;
    for (let index = 0; index < 4; index += 1) {
      expect(await run(code)).toMatchObject({ value: [1, 1, 1, 1, 1, { a: 1 }, 2] });
    }
    expect(sandbox?.stats()).toMatchObject({ reused: 3, discarded: 0 });
  });

  it("finds tools on the host and the client module in each run, with the server's own file new", async () => {
    sandbox = await createDenoSandboxProvider({ isolation, reuse: "session", standby: 1 }).create({
      workspaceDir: folder,
      hostTools: { crm: ["find"], counter: ["ask"] },
    });
    const code = `import { find } from "./servers/crm/index.ts";
import { ask, count } from "./servers/counter/index.ts";
import { callTool } from "./client/index.ts";
export default [await find({ a: 1 }), await ask({ a: 2 }), await count({}), await callTool("h", "t", { a: 3 })];`;
    const value = [{ a: 1 }, { a: 2 }, 1, { a: 3 }];
    for (let index = 0; index < 3; index += 1)
      expect(await run(code)).toMatchObject({ status: "completed", value });
    expect(sandbox.stats()).toMatchObject({ reused: 2, discarded: 0 });
    const missing = `import { x } from "./servers/countre/index.ts";\nexport default x;`;
    expect(await run(missing)).toMatchObject({
      error: { message: expect.stringContaining("Did you mean ./servers/counter/index.ts?"), line: 1 },
    });
  });

  it.each([
    "localStorage.setItem('k', 'left')",
    "await (await caches.open('k')).put('http://x/y', new Response('left'))",
  ])("lets no run find what another kept: %s", async (keep) => {
    await open();
    const find = `const found = [];
try { found.push(localStorage.getItem("k")); } catch {}
try { found.push(await (await (await caches.open("k")).match("http://x/y"))?.text()); } catch {}
export default JSON.stringify(found);`;
    await run(`try { ${keep}; } catch {}\nexport default 1;`);
    expect(await run(find)).toMatchObject({ value: expect.not.stringContaining("left") });
    expect(sandbox?.stats()).toMatchObject({ reused: 0 });
  });

  it("never gives a guest to another session, or to a run without one", async () => {
    await open();
    await run(COUNT, "one");
    await run(COUNT, "two");
    expect(sandbox?.stats()).toMatchObject({ reused: 0, kept: 2 });
    await sandbox?.run({ code: COUNT });
    expect(sandbox?.stats()).toMatchObject({ reused: 0, kept: 2 });
  });

  it("keeps the guest after an error of the program, whose places are right", async () => {
    await open();
    const code = `import { count } from "./servers/counter/index.ts";\n\nthrow new Error(String(await count({})));`;
    for (let index = 0; index < 3; index += 1) {
      expect(await run(code)).toMatchObject({ status: "failed", error: { message: "1", line: 3 } });
    }
    const missing = await run(`import { coun } from "./servers/counter/index.ts";\ncoun();`);
    expect(missing).toMatchObject({
      error: { message: "coun is not exported by ./servers/counter/index.ts. Did you mean count?" },
    });
    const nowhere = await run(`import "./servers/conter/index.ts";`);
    expect(nowhere).toMatchObject({ error: { message: expect.stringContaining("Did you mean") } });
    expect(sandbox?.stats().reused).toBeGreaterThanOrEqual(3);
  });

  it("throws the guest away that is left with work without end", async () => {
    await open();
    const code =
      "const again = (): Promise<void> => Promise.resolve().then(again); void again();\nexport default 1;";
    await run(code, "one", { limits: { timeoutMs: 500 } });
    expect(sandbox?.stats()).toMatchObject({ kept: 0 });
    expect(await run(COUNT)).toMatchObject({ value: 1 });
    expect(sandbox?.stats()).toMatchObject({ reused: 0, kept: 1 });
  });

  it("throws the guest away after a run that was ended", async () => {
    await open();
    expect(await run("while (true) {}", "one", { limits: { timeoutMs: 200 } })).toMatchObject({
      status: "timed-out",
    });
    expect(sandbox?.stats()).toMatchObject({ kept: 0, reused: 0 });
  });

  it("counts each run's calls anew", async () => {
    await open();
    const code = `import { callTool } from "cem:client";\nfor (let i = 0; i < 5; i++) await callTool("h", "t", i);\nreturn "end";`;
    for (let index = 0; index < 3; index += 1) {
      expect(await run(code, "one", { limits: { calls: 5 } })).toMatchObject({ value: "end" });
    }
    expect(sandbox?.stats()).toMatchObject({ reused: 2 });
  });

  it("runs what is more than types, what a script would read otherwise, and what is strict", async () => {
    await open();
    const programs: [string, unknown][] = [
      ["enum Color { Red = 3 }\nexport default Color.Red;", 3],
      ["let left = 5;\nwhile (left --> 2);\nexport default left;", 1],
      ["export default [typeof this, (function () { return typeof this; })()];", ["undefined", "undefined"]],
      ["const mark: number = 1;\nexport default 'mark' in globalThis;", false],
    ];
    for (const [code, value] of programs) {
      for (let index = 0; index < 2; index += 1) expect(await run(code)).toMatchObject({ value });
    }
    expect(sandbox?.stats()).toMatchObject({ reused: 7, discarded: 0 });
    expect(await run("const a = /(/;\nexport default a;")).toMatchObject({
      status: "failed",
      kind: "syntax",
    });
  });
});
