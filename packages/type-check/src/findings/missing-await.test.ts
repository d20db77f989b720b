import type { ToolDefinition } from "@cem/core";
import { afterAll, describe, expect, it } from "vitest";
import { createTypeChecker } from "../type-checker.ts";

const tools = [
  "query(input: { sql: string }): Promise<Record<string, string | number | null>[]>",
  "raw(input: { v: unknown }): Promise<unknown>",
  "w(input: { city: string }): Promise<{ t: number; city: string }>",
].map((signature): ToolDefinition => ({
  module: "./servers/db/index.ts",
  server: "db",
  name: signature.split("(", 1).join(""),
  kind: "host",
  description: "",
  inputSchema: {},
  callStyle: "object",
  signature,
}));
const IMPORT = 'import { query, raw, w } from "./servers/db/index.ts";\n';

const checker = createTypeChecker();
afterAll(() => checker.dispose());

describe("a promise", () => {
  it.each([
    'const r = w({ city: "x" }); return "t" in r;',
    "async function f() { return 1; } switch (f()) { case 1: return 2; }",
    'const r = query({ sql: "" }); return Array.isArray(r);',
    `const r = query({sql:""}); return r?.length`,
    `const r = w({city:"x"}); r.length = 1; return r.length`,
    'const r = w({city:"x"}); console.log(`${r}`)',
    'const r = w({city:"x"}); return r + 1',
    'const r = w({city:"x"}); return r > 1',
    'const r = w({city:"x"}); if (r) return 1',
    'if (w({city:"x"})) return 1',
    'if (!w({city:"x"})) return 1',
    'return JSON.stringify(w({city:"x"}))',
    'const r=w({city:"x"}); return {...r}',
    'const r=query({sql:"x"}); return [...r]',
    'for (const r of query({sql:""})) console.log(r)',
    'const r=w({city:"x"}); await raw({v: r})',
    'const r=w({city:"x"}); await w({city: r})',
    'await w(w({city:""}))',
    'return ["a"].map(async (c) => (await w({city:c})).t)',
    'return ["a"].map((c) => w({city:c}))',
    'return {a: w({city:"c"}), b: 1}',
    'const a = {a: w({city:"c"}), b: 1}; return a',
    'const rs = await ["a"].map(async (c) => w({city:c})); return rs',
    'const x=["a"].filter(async (c) => (await w({city:c})).t > 3); return x',
    'const rs = ["a"].map(async (c) => (await w({city:c})).t); return rs.reduce((a,b)=>a+b, 0)',
    'const rs = ["a"].map(async (c) => (await w({city:c})).t); return rs.map(r => r * 2)',
    'const [r] = query({sql:""}); return r',
    'const r = query({sql:""}); return r[0]',
    "async function f(){ return 5 } const x = f(); return x * 2",
    "async function f(){ return 5 }\nfunction g(n: number){return n}\nreturn g(f())",
    'const text = Deno.readTextFile("x"); return text.split(",")',
    'import { readFile } from "node:fs/promises"; const t = readFile("x","utf8"); return JSON.parse(t)',
    'import fs from "fs/promises"; const t = fs.readFile("x","utf8"); return t.trim()',
    'const main = async () => { return ["a"].map(async (c) => w({city:c})); }; return await main();',
    'const res = fetch("http://x"); return res.status',
    'console.log(["a"].map((c) => w({city:c})))',
    "class A { async go() { return 1 } }\nconst a = new A(); return a.go() + 1",
    'const t = (await w({city:""})).t; const q = query({sql:""}); return `${t}: ${q}`',
    'const w1 = w({city:"c"}); return { city: w1.city }',
    'export default { a: [w({city:"x"})] }',
    'const ps = ["a"].map((c) => w({city:c})); return ps.join(", ")',
    'return ["a"].reduce(async (sum, c) => sum + (await w({city:c})).t, 0)',
    'const p = w({city:"x"}); return p && 1',
    'const out: number[] = []; ["a"].forEach(async (city) => { out.push((await w({city})).t); }); return out',
    '["a"].forEach((city) => w({city})); return 1',
    'const save = async (city: string) => { await w({city}); }; new Set(["a"]).forEach(save); return 1',
    'return w({city:"x"}) || 1',
    'const r = w({city:"x"}) as any; return r.t',
    'return (w({city:"x"}) as unknown as { t: number }).t',
    'const rows: any = query({sql:""}); return rows.map((r: any) => r.name)',
    'const r: any = w({city:"x"}); const { t } = r; return t',
    'const cache = new Map(); cache.set("a", w({city:"a"})); return cache.get("a").t',
    'const by: Record<string, any> = {}; by["a"] = w({city:"a"}); return by',
    "new Promise((done) => setTimeout(done, 1)) + 1",
    'if (w({city:"x"}) === w({city:"y"})) return 1',
  ])("is no value in %j", async (code) => {
    const [finding] = await checker.check({ code: IMPORT + code, tools });
    expect(finding).toMatchObject({ rule: "missing-await", severity: "error" });
    expect(finding?.message).toContain("await");
  });

  it.each([
    '["a"].forEach(async (city) => { console.log(city); }); return 1',
    'const ps: Promise<unknown>[] = []; ["a"].forEach((city) => { ps.push(w({city})); }); return (await Promise.all(ps)).length',
    'const p = w({city:"x"}); const q = w({city:"y"}); return [await p, (await q).t]',
    'return Promise.all(["a"].map(async (c) => w({city:c})))',
    'return w({city:"x"})',
    'const p = w({city:"x"}).then((r) => r.t).catch(() => 0); return p',
    'const jobs: Promise<any>[] = []; for (const c of ["a"]) jobs.push(w({city:c})); const r = await Promise.allSettled(jobs); return r.map(x => x.status)',
    'const cache = new Map(); async function get(c){ const hit = cache.get(c); if (hit) return hit; const p = w({city:c}); cache.set(c,p); return p } return await get("x")',
    'const cache: Record<string, Promise<any>> = {}; function get(c: string){ return cache[c] ??= w({city:c}) } return (await get("x")).t',
    'const cache: Record<string, Promise<any>> = {}; if (!cache["a"]) cache["a"] = w({city:"a"}); return (await cache["a"]).t',
    'const total = await ["a"].reduce(async (acc, c) => (await acc) + (await w({city:c})).t, Promise.resolve(0)); return total',
    'const [a,b] = await Promise.all([w({city:"a"}), w({city:"b"})]); return a.t+b.t',
    'const ps = ["a"].map((c) => w({city:c})); const out = []; for (const p of ps) out.push(await p); return out',
    'const ps = ["a"].map((c) => w({city:c})); for await (const r of ps) console.log(r.t)',
    'let p: Promise<any> | undefined; if (!p) p = w({city:"x"}); return await p',
    'async function* gen(){ yield await w({city:"x"}); } for await (const x of gen()) console.log(x.t)',
    'const r = await Promise.race([w({city:"x"}), new Promise<never>((_, no) => setTimeout(() => no(new Error("t")), 10))]); return r.t',
    'const fns = [() => w({city:"x"})]; for (const f of fns) console.log((await f()).t)',
    'const isOk = w({city:"x"}).then(() => true, () => false); return { ok: await isOk }',
    'const ps = [w({city:"x"}), ...["a"].map((c) => w({city:c}))]; return await Promise.all(ps)',
    'const entries = await Promise.all(["a"].map(async (c) => [c, await w({city:c})] as const)); return Object.fromEntries(entries)',
    'const retry = async <T>(f: () => Promise<T>, n = 2): Promise<T> => { try { return await f() } catch (e) { if (n) return retry(f, n-1); throw e } }; return (await retry(() => w({city:"a"}))).t',
    'const results = []; await Promise.all(["a"].map(c => w({city:c}).then(r => results.push(r)))); return results',
    'const m = new Map(["a"].map((c) => [c, w({city:c})])); const out = {}; for (const [k,p] of m) out[k] = await p; return out',
    'let p = w({city:"x"}); if (p) return 1; return await p',
    'const ps = { a: w({city:"x"}) }; const p = ps.a; return (p ? await p : undefined)?.t',
    'const cache = new Map(); cache.set("a", 1); cache.set("b", w({city:"b"})); return cache.get("a").t',
    'const sum = await ["a"].reduce(async (before, c) => { const all = await before; return all + (await w({city:c})).t }, Promise.resolve(0)); return sum',
    "const add = (a: number, b: number) => a + b; return [1].reduce(add, 0)",
    'const get = (c: string) => w({city:c}); if (get("a") === get("a")) return "shared"; return get("a") != get("a")',
  ])("is kept for later in %j", async (code) => {
    expect(await checker.check({ code: IMPORT + code, tools })).toEqual([]);
  });

  it("is told with its line and what to write", async () => {
    const code = `${IMPORT}const found = query({ sql: "" });\nconsole.log(\`Rows: \${found}\`);\nreturn ["a"].map((city) => w({ city }));`;
    expect(await checker.check({ code, tools })).toMatchObject([
      { line: 3, column: 22, message: "found is a Promise: write (await found)." },
      {
        line: 4,
        message:
          '["a"].map((city) => w({ city })) is a list of Promises: write await Promise.all(["a"].map((city) => w({ city }))).',
      },
    ]);
  });
});
