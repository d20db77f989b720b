import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeProject, reference } from "../test/upstream-project.ts";
import type { Project } from "../test/upstream-project.ts";
import { generateTools, readRun } from "./admin.ts";
import { createAgent, defineTool } from "./index.ts";
import type { ConfigInput } from "./index.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** In code the server is `every-thing`, and its tool `get-sum` is `get_sum`. */
const servers = { "every thing": reference("everything") };
const NAMES = ["every thing.get-sum", "every-thing.get_sum"];
const card = 4_111_111_111_111_111;
const tools = { crm: { card: defineTool({ description: "A card.", execute: () => ({ card }) }) } };
const INNOCENT = `import { get_sum } from "./servers/every-thing/index.ts";\nreturn await get_sum({ a: 1, b: 2 });`;
/** The review does not see what is called. */
const HIDDEN = `const tools: any = await import("./servers/" + ["every", "thing"].join("-") + "/index.ts");
return await tools[["get", "sum"].join("_")]({ a: 1, b: 2 });`;
const ANSWER = "The sum of 1 and 2 is 3.";

let project: Project;
beforeAll(async () => {
  project = await makeProject(afterAll);
  await generateTools(project.source(servers));
});

/** Runs programs, one after the other, and returns what each returned, or its error. */
async function run(settings: ConfigInput, ...programs: string[]): Promise<unknown[]> {
  const agent = createAgent({ ...project.source(servers, settings), tools });
  const answers: unknown[] = [];
  for (const code of programs) {
    const { error, value } = await agent.executeCode(code, { session: "one", typeCheck: "off" });
    answers.push(error?.message ?? value);
  }
  await agent.dispose();
  return answers;
}

describe.each(NAMES)("a tool whose name in code is another, named %s", (name) => {
  it("is blocked, also where the review sees no call of it", async () => {
    const [seen, hidden] = await run({ guardrails: { blockedTools: [name] } }, INNOCENT, HIDDEN);
    expect(seen).toContain("every-thing.get_sum may not be called: it is blocked here");
    expect(hidden).toContain("every thing.get-sum may not be called: it is blocked here");
  });

  it("is allowed where it alone is", async () => {
    expect(await run({ guardrails: { allowedTools: [name] } }, INNOCENT, HIDDEN)).toEqual([ANSWER, ANSWER]);
  });

  it("waits for a yes", async () => {
    const [answer] = await run({ guardrails: { approvals: [name] } }, INNOCENT);
    expect(answer).toContain("every thing.get-sum was not called: it is set to need a yes");
  });

  it("is called no more often than it may be", async () => {
    const rateLimits = [{ tools: [name], calls: 1, per: 600 }];
    const [first, second] = await run({ guardrails: { rateLimits } }, INNOCENT, INNOCENT);
    expect(first).toBe(ANSWER);
    expect(second).toContain("may be called 1 times in 600 s");
  });

  it.each(["values", "tokens"] as const)(
    "gets no value that a rule keeps, where code sees %s",
    async (guest) => {
      const rules = [{ from: "crm", to: name, action: "deny" as const }, { action: "allow" as const }];
      const code = `import { card } from "./servers/crm/index.ts";
import { get_sum } from "./servers/every-thing/index.ts";
return await get_sum({ a: (await card()).card, b: 0 });`;
      const [denied] = await run({ privacy: { guest, rules } }, code);
      expect(denied).toContain("came from crm.card may not go to every thing.get-sum");
    },
  );
});

it("is listed and recorded once for each call, however its module is imported", async () => {
  const source = project.source(servers);
  const agent = createAgent({ ...source, records: true });
  const code = `import * as all from "./servers/every-thing/index.ts";\n${INNOCENT}`;
  const both = code.replace("return", "await all.get_sum({ a: 1, b: 2 });\nreturn");
  const { toolCalls, value } = await agent.executeCode(both);
  await agent.dispose();
  expect(value).toBe(ANSWER);
  const listed = expect.objectContaining({ server: "every-thing", tool: "get_sum", ok: true }) as object;
  expect(toolCalls).toEqual([listed, listed]);
  const { calls } = await readRun("last", source);
  const args = { value: { a: 1, b: 2 } };
  const recorded = expect.objectContaining({ server: "every thing", tool: "get-sum", args }) as object;
  expect(calls).toEqual([recorded, recorded]);
});
