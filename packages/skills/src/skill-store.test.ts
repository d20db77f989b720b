import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { SkillDraft, ToolDefinition } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSkillStore } from "./skill-store.ts";

const ADD: ToolDefinition = {
  server: "calculator",
  name: "add",
  kind: "local",
  description: "Adds.",
  inputSchema: { type: "object" },
  callStyle: "object",
  signature: "add(input: { a: number; b: number }): Promise<number>",
  module: "./servers/calculator/index.ts",
};
const tools = [ADD];
const DRAFT: SkillDraft = {
  name: "add_twice",
  description: "Adds a number to itself. Use it to double: a sum.",
  code: `import { add } from "./servers/calculator/index.ts";
export async function addTwice(x: number): Promise<number> {
  return add({ a: x, b: x });
}`,
  test: `import { addTwice } from "./skills/add_twice/index.ts";
if ((await addTwice(2)) !== 4) throw new Error("2 twice is 4");`,
};

let skillsDir: string;
beforeEach(async () => {
  skillsDir = path.join(await mkdtemp(path.join(os.tmpdir(), "cem-skills-")), "skills");
});
afterEach(() => rm(path.dirname(skillsDir), { recursive: true, force: true }));

const fileOf = (...parts: string[]): Promise<string> => readFile(path.join(skillsDir, ...parts), "utf8");

describe("a store of skills", () => {
  it("saves a skill as a folder in the open format, with imports that work from there", async () => {
    const saved = await createSkillStore({ skillsDir }).save(DRAFT, { tools, session: "s1" });
    expect(saved).toMatchObject({
      name: "add_twice",
      status: "active",
      version: 1,
      tools: ["calculator.add"],
      changedTools: [],
      provenance: { author: "person", session: "s1" },
    });
    expect(await fileOf("add_twice", "index.ts")).toContain('from "../../servers/calculator/index.ts"');
    expect(await fileOf("add_twice", "index.test.ts")).toContain('from "../../skills/add_twice/index.ts"');
    expect(await fileOf("add_twice", "SKILL.md")).toMatch(
      /^---\nname: add_twice\ndescription: "Adds a number to itself\. Use it to double: a sum\."\nmetadata:\n {2}version: "1"\n/u,
    );
    expect((await stat(path.join(skillsDir, "add_twice", "SKILL.md"))).mode & 0o077).toBe(0);
  });

  it("takes the code out of Markdown fences", async () => {
    const fenced = { code: `\`\`\`ts\n${DRAFT.code}\n\`\`\`\n`, test: `\`\`\`\n${DRAFT.test}\n\`\`\`` };
    const saved = await createSkillStore({ skillsDir }).save({ ...DRAFT, ...fenced }, { tools });
    expect(saved).toMatchObject({ name: "add_twice", tools: ["calculator.add"] });
    expect(await fileOf("add_twice", "index.ts")).not.toContain("```");
    expect(await fileOf("add_twice", "index.test.ts")).not.toContain("```");
  });

  it("counts versions and keeps the one before", async () => {
    const store = createSkillStore({ skillsDir });
    await store.save(DRAFT, { tools });
    const second = await store.save({ ...DRAFT, description: "Another." }, { tools });
    expect(second).toMatchObject({ version: 2, description: "Another." });
    expect(await fileOf(".versions", "add_twice", "1", "SKILL.md")).toContain("Use it to double");
    expect(await store.list()).toHaveLength(1);
  });

  it("holds what a model wrote as a proposal until it is promoted", async () => {
    const store = createSkillStore({ skillsDir });
    await store.save(DRAFT, { tools, author: "model" });
    expect(await readdir(skillsDir)).toEqual([".proposals"]);
    expect(await store.list()).toMatchObject([{ name: "add_twice", status: "proposal" }]);
    const promoted = await store.promote("add_twice", "ada");
    expect(promoted).toMatchObject({
      status: "active",
      version: 1,
      tools: ["calculator.add"],
      provenance: { author: "model", approvedBy: "ada" },
    });
    expect(await store.list()).toMatchObject([{ status: "active" }]);
    await expect(store.promote("add_twice", "ada")).rejects.toMatchObject({ code: "SKILL_NOT_FOUND" });
  });

  it("lets no other proposal take the place of one that waits", async () => {
    const store = createSkillStore({ skillsDir });
    const saving = { tools, author: "model" } as const;
    await store.save(DRAFT, saving);
    const code = DRAFT.code.replace("b: x", "b: -x");
    for (const change of [
      { code },
      { test: `${DRAFT.test}\n` },
      { instructions: "Do." },
      { description: "Other." },
    ])
      await expect(store.save({ ...DRAFT, ...change }, saving)).rejects.toMatchObject({
        code: "SKILL_INVALID",
        message: expect.stringContaining("take another name"),
      });
    const other = {
      ...DRAFT,
      instructions: "Do.\n",
      name: "other",
      test: 'import "./skills/other/index.ts";',
    };
    for (let times = 0; times < 2; times += 1) await store.save(other, saving);
    await store.save(DRAFT, saving);
    const { code: kept } = await store.promote("add_twice", "ada");
    expect(kept).toContain("add({ a: x, b: x })");
    expect(await store.save({ ...DRAFT, code }, saving)).toMatchObject({ status: "proposal", version: 2 });
  });

  it("marks a skill whose tool changed or is gone", async () => {
    const store = createSkillStore({ skillsDir });
    await store.save(DRAFT, { tools });
    const changed = { ...ADD, signature: "add(input: { a: number }): Promise<string>" };
    expect(await store.list({ tools })).toMatchObject([{ changedTools: [] }]);
    expect(await store.list({ tools: [changed] })).toMatchObject([{ changedTools: ["calculator.add"] }]);
    expect(await store.get("add_twice", { tools: [] })).toMatchObject({ changedTools: ["calculator.add"] });
  });

  it("puts the version before in place where a process died while it replaced a skill", async () => {
    const store = createSkillStore({ skillsDir });
    await store.save(DRAFT, { tools });
    await mkdir(path.join(skillsDir, ".versions", "add_twice"), { recursive: true });
    await rename(path.join(skillsDir, "add_twice"), path.join(skillsDir, ".versions", "add_twice", ".1"));
    expect(await createSkillStore({ skillsDir }).get("add_twice")).toMatchObject({ version: 1 });
  });

  it("leaves a skill deleted whose folder someone deleted", async () => {
    const store = createSkillStore({ skillsDir });
    for (const description of ["One.", "Two.", "Three."])
      await store.save({ ...DRAFT, description }, { tools });
    expect((await readdir(path.join(skillsDir, ".versions", "add_twice"))).toSorted()).toEqual(["1", "2"]);
    await rm(path.join(skillsDir, "add_twice"), { recursive: true });
    expect(await store.list()).toEqual([]);
    for (const description of ["Four.", "Five."]) await store.save({ ...DRAFT, description }, { tools });
    expect(await fileOf(".versions", "add_twice", "1", "SKILL.md")).toContain("Four.");
    expect(await store.list()).toMatchObject([{ description: "Five.", version: 2 }]);
  });

  it("removes a skill and everything of it", async () => {
    const store = createSkillStore({ skillsDir });
    await store.save(DRAFT, { tools });
    await store.save(DRAFT, { tools });
    await store.save(DRAFT, { tools, author: "model" });
    await store.remove("add_twice");
    expect(await store.list()).toEqual([]);
    await expect(store.get("add_twice")).rejects.toMatchObject({ code: "SKILL_NOT_FOUND" });
  });

  it("reads skills from elsewhere", async () => {
    await mkdir(path.join(skillsDir, "Their Skill"), { recursive: true });
    await writeFile(
      path.join(skillsDir, "Their Skill", "SKILL.md"),
      "---\nname: theirs\ndescription: >-\n  Does\n  things.\nlicense: MIT\n---\n# How\n",
    );
    expect(await createSkillStore({ skillsDir }).get("Their Skill")).toMatchObject({
      description: "Does things.",
      version: 0,
      instructions: "# How",
      code: "",
    });
  });

  it.each<[string, Partial<SkillDraft>, RegExp]>([
    ["a name that leads elsewhere", { name: "../x" }, /can't be a skill's name/u],
    ["a name in upper case", { name: "Add" }, /lower-case/u],
    ["the name of a server", { name: "calculator" }, /is the name of a server/u],
    ["the name of a folder that is never a skill", { name: "vendor" }, /never a skill/u],
    ["no test", { test: undefined as unknown as string }, /its test must be text/u],
    ["no description", { description: " " }, /description is empty/u],
    ["a long description", { description: "x".repeat(1_025) }, /1025 characters, and 1024/u],
    ["code that can't be parsed", { code: "export function (" }, /code can't be parsed, line 1/u],
    ["code without exports", { code: "const a = 1;" }, /exports nothing/u],
    ["a default export alone", { code: "export default () => 1;" }, /exports nothing by name/u],
    ["no test", { test: "" }, /has no test/u],
    ["a test of something else", { test: "if (1 > 2) throw 1;" }, /does not import it/u],
    ["too much code", { code: `export const a = "${"x".repeat(300_000)}";` }, /characters, and 262144/u],
    [
      "a value that is kept",
      { code: 'export const a = "[[EMAIL:pu3v5bwvaioc2hfg]]";' },
      /kept from the model/u,
    ],
    ["code that is no text", { code: 5 as never }, /code must be text/u],
  ])("refuses %s", async (_what, change, message) => {
    const saving = createSkillStore({ skillsDir }).save({ ...DRAFT, ...change }, { tools });
    await expect(saving).rejects.toMatchObject({
      code: "SKILL_INVALID",
      message: expect.stringMatching(message),
    });
  });

  it("keeps no more than a hundred proposals", async () => {
    const proposals = path.join(skillsDir, ".proposals");
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        mkdir(path.join(proposals, `p${index}`), { recursive: true }),
      ),
    );
    const saving = createSkillStore({ skillsDir }).save(DRAFT, { tools, author: "model" });
    await expect(saving).rejects.toMatchObject({ message: expect.stringContaining("100 proposals wait") });
  });

  it("lets no name of a skill lead out of the folder", async () => {
    const store = createSkillStore({ skillsDir });
    for (const name of ["..", "../skills", ".versions", "a/b", "a\\b", ""]) {
      const message = expect.stringMatching(/^"[^"]*" can't be a skill's name: /u);
      await expect(store.get(name)).rejects.toMatchObject({ code: "SKILL_INVALID", message });
    }
  });
});
