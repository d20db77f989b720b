import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent, SkillDraft } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listSkills, promoteSkill, readSkill, removeSkill, testSkill } from "./admin/extensions.ts";
import { createAgent } from "./index.ts";

const serversDir = fileURLToPath(new URL("../../../servers", import.meta.url));
const DRAFT: SkillDraft = {
  name: "add-twice",
  description: "Add a number to itself.",
  code: `import { add } from "./servers/calculator/index.ts";
/** Adds a number to itself. @param x The number. */
export async function add_twice(x: number): Promise<number> {
  return add({ a: x, b: x });
}`,
  test: `import { add_twice } from "./skills/add-twice/index.ts";
return (await add_twice(4)) === 8;`,
};
const USE = 'import { add_twice } from "./skills/add-twice/index.ts";\nreturn await add_twice(21);';

let folder: string;
let agent: Agent;
const source = () => ({
  configFile: false as const,
  config: {
    execution: {
      workspaceDir: path.join(folder, "workspace"),
      serversDir,
      skillsDir: path.join(folder, "skills"),
    },
    optimizations: { toolCache: false, sandboxPooling: false },
  },
});

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-skills-"));
  agent = createAgent(source());
});
afterAll(async () => {
  await agent.dispose();
  await rm(folder, { recursive: true, force: true });
});

describe("skills", () => {
  it("are saved once they passed, and imported and found from then on", async () => {
    const saved = await agent.saveSkill(DRAFT);
    expect(saved).toMatchObject({ status: "active", version: 1, tools: ["calculator.add"] });
    expect(await agent.executeCode(USE)).toMatchObject({ error: null, value: 42 });
    const found = await agent.searchTools("add a number to itself twice", { limit: 3 });
    expect(found.map(({ tool }) => tool.name)).toContain("add_twice");
  });

  it.each<[string, Partial<SkillDraft>, RegExp]>([
    [
      "a test that throws",
      { test: `${DRAFT.test.split("\n")[0]}\nadd_twice;\nthrow new Error("no");` },
      /test failed.*no/u,
    ],
    ["a test that returns false", { test: DRAFT.test.replace("8", "9") }, /test returned false/u],
    [
      "a result of another type than its own",
      { code: `${DRAFT.code}\nexport const thrice = (x: number): string => 3 * x;` },
      /code failed: Line 6: Type 'number' is not assignable to type 'string'.*types are checked strictly/u,
    ],
    [
      "a type from a module that is not there",
      {
        code: `import type { Sum } from "../../servers/nowhere/index.ts";\n${DRAFT.code}\nexport type S = Sum;`,
      },
      /code failed: Line 1: Cannot find module/u,
    ],
    [
      "a test that a test runner would run",
      {
        test: `${DRAFT.test.replace("return ", "it('adds', async () => ").replace(";\nit", ";\nimport { it } from 'node:test';\nit").slice(0, -1)});`,
      },
      /test failed: Line 2: node:test .*assertions of node:assert at the top level/u,
    ],
    ["mistyped code", { code: DRAFT.code.replace("b: x", 'b: "x"') }, /code failed: Line 4/u],
    [
      "code that imports what is not there",
      { code: DRAFT.code.replace("calculator", "calculater") },
      /calculater/u,
    ],
  ])("are refused with %s", async (_what, change, message) => {
    await expect(agent.saveSkill({ ...DRAFT, ...change })).rejects.toMatchObject({
      code: "SKILL_REFUSED",
      message: expect.stringMatching(message),
    });
    expect((await listSkills(source())).map(({ version }) => version)).toEqual([1]);
  });

  it("are proposed by code in the sandbox, and promoted by a person", async () => {
    const proposal = { ...DRAFT, name: "thrice", code: DRAFT.code.replace("b: x", "b: 2 * x") };
    proposal.test =
      'import { add_twice } from "./skills/thrice/index.ts";\nreturn (await add_twice(3)) === 9;';
    const code = `import { saveSkill } from "./client/index.ts";\nreturn await saveSkill(${JSON.stringify(proposal)});`;
    const ran = await agent.executeCode(code);
    expect(ran).toMatchObject({ error: null, value: { name: "thrice", status: "proposal" } });
    const use = 'import { add_twice } from "./skills/thrice/index.ts";\nreturn await add_twice(3);';
    expect(await agent.executeCode(use)).toMatchObject({ status: "refused" });
    const promoted = await promoteSkill("thrice", { ...source(), approvedBy: "ada" });
    expect(promoted).toMatchObject({
      status: "active",
      tools: ["calculator.add"],
      provenance: { approvedBy: "ada" },
    });
    expect(await agent.executeCode(use)).toMatchObject({ value: 9 });
    await removeSkill("thrice", source());
    await expect(readSkill("thrice", source())).rejects.toMatchObject({ code: "SKILL_NOT_FOUND" });
  });

  it("say what is wrong with a proposal to the code that makes it", async () => {
    const code =
      'import { saveSkill } from "./client/index.ts";\nreturn await saveSkill({ name: "../x", description: "d", code: "export const a = 1;", test: "" });';
    const { error } = await agent.executeCode(code);
    expect(error?.message).toContain("can't be a skill's name");
  });

  it("are not promoted when they no longer pass", async () => {
    const wrong = {
      ...DRAFT,
      name: "wrong",
      test: 'import "./skills/wrong/index.ts";\nthrow new Error("never");',
    };
    const { createConfiguredSkills } = await import("./wiring/skills.ts");
    const { openProject } = await import("./wiring/open-project.ts");
    const store = await createConfiguredSkills(await openProject(source()));
    await store.save(wrong, { author: "model", tools: [] });
    await expect(promoteSkill("wrong", source())).rejects.toMatchObject({
      code: "SKILL_REFUSED",
      message: expect.stringContaining('The skill "wrong" did not pass: its test failed: '),
      details: { failure: { code: "CODE_THREW" } },
    });
    expect(await store.get("wrong")).toMatchObject({ status: "proposal" });
    await store.remove("wrong");
  });

  it("may be a folder that somebody put there", async () => {
    const theirs = path.join(folder, "skills", "report");
    await mkdir(path.join(theirs, "scripts"), { recursive: true });
    await writeFile(
      path.join(theirs, "SKILL.md"),
      "---\nname: report\ndescription: Write a report.\n---\n\n# How\n",
    );
    await writeFile(
      path.join(theirs, "scripts", "format_report.ts"),
      "/** Formats rows as a report. */\nexport function format_report(rows: string[]): string {\n  return rows.join('; ');\n}\n",
    );
    expect(await readSkill("report", source())).toMatchObject({ status: "active", version: 0 });
    const use =
      'import { format_report } from "./skills/report/scripts/format_report.ts";\nreturn format_report(["a", "b"]);';
    expect(await agent.executeCode(use)).toMatchObject({ error: null, value: "a; b" });
    const [found] = await agent.searchTools("format rows as a report", { limit: 1 });
    expect(found?.tool).toMatchObject({ server: "report", name: "format_report" });
  });

  it("are tested again when asked", async () => {
    expect(await testSkill("add-twice", source())).toMatchObject({ name: "add-twice" });
  });
});
