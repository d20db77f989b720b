import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { deleteCustomer, listRuns, readRun, recordingOfRun } from "./admin.ts";
import { createAgent, defineTool } from "./index.ts";
import type { AgentOptions } from "./options.ts";

const MAIL = "ada.lovelace@example.org";
const CODE = `import { find } from "./servers/crm/index.ts";\nconsole.log("for ${MAIL}");\nreturn await find({ mail: "${MAIL}", rows: 1 });`;

const folder = (): string => mkdtempSync(path.join(os.tmpdir(), "cem-run-records-"));

function crm(answer: (input: Record<string, unknown>) => unknown): AgentOptions["tools"] {
  return {
    crm: {
      find: defineTool({
        description: "Find contacts.",
        annotations: { readOnlyHint: true },
        input: { type: "object", properties: { mail: { type: "string" }, rows: { type: "number" } } },
        execute: (input) => answer(input) as never,
      }),
    },
  };
}

async function run(options: AgentOptions, code = CODE): Promise<unknown> {
  const agent = createAgent({ oneRun: true, records: true, ...options });
  try {
    const { status, value, error } = await agent.executeCode(code);
    expect([status, error]).toEqual(["success", null]);
    return value;
  } finally {
    await agent.dispose();
  }
}

/** All that is in the files of a folder. */
function bytesIn(place: string): string {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

describe("records of runs", () => {
  it.each([true, false])(
    "have no value of a person on disk (redaction of runs: %s)",
    async (piiDetection) => {
      const cwd = folder();
      const config = { guardrails: { piiDetection } };
      await run({ cwd, config, tools: crm(() => ({ name: "Ada", mail: MAIL })) });
      const [listed] = await listRuns({}, { cwd });
      const record = await readRun(listed?.id ?? "", { cwd });
      expect(record).toMatchObject({
        status: "success",
        calls: [{ server: "crm", tool: "find", ok: true, args: { value: { rows: 1 } } }],
        isolation: { sandbox: "deno" },
      });
      expect(JSON.stringify(record)).toContain("[[EMAIL:");
      expect(bytesIn(path.join(cwd, ".cem/runs"))).not.toContain(MAIL);
    },
  );

  it("answer the calls of a replay, without the tool", async () => {
    const cwd = folder();
    let calls = 0;
    const tools = crm(() => ({ count: (calls += 1) }));
    const code = `import { find } from "./servers/crm/index.ts";\nreturn await find({ rows: 2 });`;
    expect(await run({ cwd, tools }, code)).toEqual({ count: 1 });
    const { recording, missing } = recordingOfRun(await readRun("last", { cwd }));
    expect(missing).toBe(0);
    expect(await run({ cwd, tools, replay: recording }, code)).toEqual({ count: 1 });
    expect(calls).toBe(1);
    expect(await run({ cwd, tools }, code)).toEqual({ count: 2 });
  });

  it("replay code whose values became tokens, with the tokens as text", async () => {
    const cwd = folder();
    const tools = crm(({ mail }) => ({ known: mail }));
    await run({ cwd, tools });
    const record = await readRun("last", { cwd });
    expect(record.code).toMatch(/\[\[EMAIL:\w+\]\]/u);
    const replayed = await run({ cwd, tools, replay: recordingOfRun(record).recording }, record.code);
    expect(replayed).toEqual({ known: expect.stringMatching(/^\[\[EMAIL:\w+\]\]$/u) });
  });

  it("tell of large data and of what is not to be kept by its size", async () => {
    const cwd = folder();
    const large = `import { find } from "./servers/crm/index.ts";\nconst all = await find({});\nawait find({});\nreturn all.length;`;
    const tools = crm(() => Array.from({ length: 5_000 }, (_, at) => `row ${at}`));
    await run({ cwd, tools }, large);
    const [one, other] = (await readRun("last", { cwd })).calls;
    expect(one?.result).toMatchObject({
      bytes: expect.any(Number),
      digest: expect.stringMatching(/^[\da-f]{16}$/),
    });
    expect(other?.result).toEqual(one?.result);
    await run({ cwd, tools: crm(() => 1), config: { runs: { keepCalls: false } } });
    const record = await readRun("last", { cwd });
    expect(record.calls[0]?.args).toMatchObject({ bytes: expect.any(Number) });
    expect(recordingOfRun(record)).toMatchObject({ missing: 1 });
  });

  it("are off by one setting, and never made without being asked for", async () => {
    const cwd = folder();
    await run({ cwd, config: { runs: { records: false } } }, "return 1;");
    await run({ cwd, records: false }, "return 1;");
    expect(existsSync(path.join(cwd, ".cem/runs"))).toBe(false);
    await expect(listRuns({}, { cwd, config: { runs: { records: false } } })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
  });

  it("do not fail a run where they can't be written", async () => {
    const cwd = folder();
    const said: string[] = [];
    const log: AgentOptions["log"] = (_, message) => void said.push(message);
    await run({ cwd, log, config: { runs: { dir: "./workspace/runs" } } }, "return 1;");
    expect(said.filter((message) => message.startsWith("Runs can't be recorded:"))).toHaveLength(1);
  });

  it.each([false, true])("of a customer are its own, and go with it (shared store: %s)", async (isShared) => {
    const cwd = folder();
    const config = isShared ? { store: { url: folder() } } : {};
    await run({ cwd, config, customer: "ada" }, "return 1;");
    await run({ cwd, config, customer: "bob" }, "return 2;");
    const of = async (customer: string) =>
      (await listRuns({}, { cwd, config, customer })).map(({ title }) => title);
    expect(await of("ada")).toEqual(["return 1;"]);
    expect(await of("bob")).toEqual(["return 2;"]);
    expect(await listRuns({}, { cwd, config })).toEqual([]);
    await deleteCustomer("ada", { cwd, config });
    expect(await of("ada")).toEqual([]);
    expect(await of("bob")).toEqual(["return 2;"]);
  });
});
