import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { person } from "../../mcp-client/fixtures/people.ts";
import { COMPILE_CACHE, makeProject } from "../test/upstream-project.ts";
import type { Project } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";
import { createAgent, defineTool } from "./index.ts";
import type { Agent, ConfigInput } from "./index.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const fixture = fileURLToPath(new URL("../../mcp-client/fixtures/directory-server.ts", import.meta.url));
/** More than 1 MiB, in more than one part. */
const rows = Array.from({ length: 1_100 }, (_, index) => {
  const { email, card, iban, password, account_card } = person(100 + (index % 700));
  return { email, card, iban, password, account_card, note: "a note ".repeat(140) };
});
const one = person(899);

const tools = {
  crm: {
    rows: defineTool({ description: "Rows.", execute: () => rows }),
    nested: defineTool({ description: "Rows in an object.", execute: () => ({ data: { people: rows } }) }),
    by_email: defineTool({
      description: "Rows by their email.",
      execute: () => Object.fromEntries(rows.map((row, at) => [`${at}.${row.email}`, { ...row, at }])),
    }),
    lines: defineTool({
      description: "Rows as lines.",
      execute: () => rows.map((row) => JSON.stringify(row)).join("\n"),
    }),
    table: defineTool({
      description: "Rows as a table.",
      execute: () => rows.map((row) => Object.values(row).join(";")).join("\n"),
    }),
    blob: defineTool({
      description: "A small file of no known type.",
      execute: () => ({ file: new Blob([`id;mail\n1;${one.email};${one.iban}\n`]) }),
    }),
    latin: defineTool({
      description: "A file in Latin-1.",
      execute: () => ({ file: Buffer.from(`M\u00fcller;${one.email}\n`, "latin1") }),
    }),
    failing: defineTool({
      description: "Fails with a person in its message.",
      execute: () => {
        throw new Error(`${one.email} is locked`);
      },
    }),
    small: defineTool({ description: "One.", execute: () => one }),
  },
  sink: {
    store: defineTool({
      description: "Stores.",
      input: z.object({ value: z.unknown() }),
      execute: ({ value }) => {
        stored.push(value);
        return "ok";
      },
    }),
  },
};
const stored: unknown[] = [];
const importing = `import * as crm from "./servers/crm/index.ts";
import { store } from "./servers/sink/index.ts";
import * as directory from "./servers/directory/index.ts";
const handleIn = (value: any): any =>
  typeof value?.path === "string" && typeof value.size === "number" ? value
  : Object.values(value).map((one: any) => one && typeof one === "object" ? handleIn(one) : undefined).find(Boolean);
const parse = (text: string): any => { try { return JSON.parse(text); } catch { return text.trim().split("\\n"); } };
const lastOf = (all: any): any => {
  const last = all.data ? lastOf(all.data.people) : Array.isArray(all) ? all.at(-1) : Object.values(all).at(-1);
  return typeof last === "string" && last.startsWith("{") ? JSON.parse(last) : last;
};
const attempt = (value: unknown): Promise<string> => store({ value }).catch((error: any) => error.message);
`;

/** Reads of a handle. Each ends with the data that it holds. */
const READS = {
  json: "await handle.json()",
  text: "parse(await handle.text())",
  bytes: "parse(new TextDecoder().decode(await handle.bytes()))",
  page: `await (async () => { let text = ""; for (let at: number | null = 0; at !== null;) { const page = await handle.page(at, 300_000); text += page.text; at = page.next; } return parse(text); })()`,
  file: "parse(await Deno.readTextFile(handle.path))",
  stream: `await (async () => { let text = ""; const decoder = new TextDecoder(); using file = await Deno.open(handle.path); for await (const part of file.readable) text += decoder.decode(part, { stream: true }); return parse(text); })()`,
};

let project: Project;
beforeAll(async () => {
  project = await makeProject(afterAll);
  await generateTools(project.source(servers()));
});

function servers(): NonNullable<ConfigInput["mcpServers"]> {
  const args = ["--conditions=@cem/source", fixture, path.join(project.folder, "got.jsonl"), "stdio"];
  return { directory: { command: process.execPath, args, env: { ...COMPILE_CACHE } } };
}

describe.each(["values", "tokens"] as const)("a rule that denies a flow, where code sees %s", (guest) => {
  let agent: Agent;
  beforeAll(() => {
    const privacy = { guest, rules: [{ from: "crm", to: "sink", action: "deny" as const }] };
    agent = createAgent({ ...project.source(servers(), { privacy }), tools, log: () => {} });
  });
  afterAll(() => agent.dispose());
  const execute = async (code: string, session = "one") => {
    const { error, value } = await agent.executeCode(importing + code, { session, typeCheck: "off" });
    return error === null ? value : error.message;
  };
  const DENIED = /may not go to sink\.store/;

  it.each(["rows", "nested", "by_email", "lines", "table"])(
    "holds for what is read of the large result of %s",
    async (tool) => {
      const reads = Object.entries(READS).filter(([name]) => name !== "json" || !/lines|table/.test(tool));
      const { path: kept, answers } = (await execute(`const handle: any = handleIn(await crm.${tool}({}));
const answers: Record<string, string> = {};
${reads.map(([name, read]) => `answers.${name} = await attempt(lastOf(${read}));`).join("\n")}
return { path: handle.path, answers };`)) as { path: string; answers: Record<string, string> };
      expect(answers).toEqual(
        Object.fromEntries(reads.map(([name]) => [name, expect.stringMatching(DENIED)])),
      );
      // In a later run of the session the file is still there.
      const later = `const last: any = lastOf(parse(await Deno.readTextFile(${JSON.stringify(kept)})));
const cells = typeof last === "string" ? last.split(";") : Object.values(last);
return Promise.all(cells.slice(0, 4).map(attempt));`;
      expect(await execute(later)).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(DENIED)));
      expect(stored).toEqual([]);
    },
  );

  it.each([
    ["a file", `(await handleIn(await crm.blob({})).bytes())`],
    ["a file in Latin-1", `(await handleIn(await crm.latin({})).bytes())`],
  ])("holds for %s that a result has in it", async (_what, bytes) => {
    const text = `const text = new TextDecoder("latin1").decode(${bytes});`;
    expect(await execute(`${text} await store({ value: text });`)).toMatch(DENIED);
    expect(await execute(`${text} await store({ value: { blob: btoa(text) } });`)).toMatch(DENIED);
    expect(stored).toEqual([]);
  });

  it("holds for an error, and for a small result", async () => {
    const failing = `const message = await crm.failing({}).catch((error: any) => error.message); await store({ value: message.split(" ").find((word: string) => word.includes("@") || word.includes("[[")) });`;
    expect(await execute(failing)).toMatch(DENIED);
    expect(await execute("await store({ value: (await crm.small({})).iban });")).toMatch(DENIED);
    expect(stored).toEqual([]);
  });

  it("holds for what a server gave as a resource, large or in base64", async () => {
    const large = `const row = (await handleIn(await directory.large({})).json()).at(-1); await store({ value: row.email });`;
    expect(await execute(large)).toMatch(/came from directory\.large may not go to sink\.store/);
    const resource = `const { contents } = await directory.mcp_resources_read({ uri: "people://x" }); const text = new TextDecoder().decode(await handleIn(contents).bytes()); await store({ value: text });`;
    expect(await execute(resource)).toMatch(/resources\/read may not go to sink\.store/);
    expect(stored).toEqual([]);
  });

  it("holds for the files of an earlier session, and for no value that code has in its text", async () => {
    const kept = await execute("return handleIn(await crm.rows({})).path;", "earlier");
    const later = `const row: any = lastOf(parse(await Deno.readTextFile(${JSON.stringify(kept)})));`;
    const refused = guest === "values" ? DENIED : /no value of this session/;
    const fields = `return Promise.all([row.email, row.card, row.iban, row.password].map(attempt));`;
    expect(await execute(`${later} ${fields}`, "later")).toEqual(
      Array.from({ length: 4 }, () => expect.stringMatching(refused)),
    );
    // Nor once it was returned, and left as a token.
    const returned = await execute(`${later} return row.email;`, "later");
    expect(await execute(`return attempt(${JSON.stringify(returned)});`, "later")).toMatch(refused);
    expect(stored).toEqual([]);
    // An author of code knows the values in it, wherever else they came from.
    expect(await execute(`return store({ value: "${rows[0]?.email}" });`, "written")).toBe("ok");
    expect(stored.splice(0)).toEqual([rows[0]?.email]);
  });

  it.each([
    ["an address with a letter before it", "`x${one.email}`"],
    ["a number in a password", "`password=${one.card.replaceAll(' ', '-')}z`"],
    ["a password in a longer one", "`password='my ${one.password} here'`"],
    ["an account in an address", "`${one.iban}@example.com`"],
  ])("holds for a longer value that a run returned, when a later one sends it: %s", async (what, written) => {
    const returned = await execute(`const one: any = await crm.small({}); return ${written};`, what);
    expect(JSON.stringify(returned)).toContain("[[");
    expect(await execute(`return attempt(${JSON.stringify(returned)});`, what)).toMatch(DENIED);
    expect(stored).toEqual([]);
  });

  it("leaves what it does not name: a value goes back to its server", async () => {
    const back = `const row = lastOf(await handleIn(await directory.large({})).json()); await directory.keep({ value: row.email });`;
    await execute(back);
    const file = path.join(project.folder, "got.jsonl");
    expect(existsSync(file) && readFileSync(file, "utf8")).toContain(`"kept","got":"${person(53).email}"`);
  });
});
