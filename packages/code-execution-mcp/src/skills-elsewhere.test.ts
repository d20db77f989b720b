import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { listSkills } from "./admin/extensions.ts";
import { createAgent } from "./index.ts";

const FILES: Readonly<Record<string, string>> = {
  "skills/flat.ts": "export function flat_one(x: number): number { return x; }",
  "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Fill PDF forms.\n---\n\nRun scripts/fill.py\n",
  "skills/pdf/scripts/fill.py": "print(1)\n",
  "skills/text/SKILL.md": "---\nname: text\ndescription: Work on texts.\n---\n",
  "skills/text/slugs.mjs": `/**
 * Turns a title into a URL slug.
 *
 * @param {string} title The title.
 * @returns {string} The slug.
 */
export function slugify(title) {
  return title.toLowerCase().split(/\\W+/u).join("-");
}
`,
  "servers/shop/index.ts": 'export { price_of } from "./price_of.ts";\n',
  "servers/shop/price_of.ts":
    "/** Finds a price. */\nexport async function price_of(input: { name: string }): Promise<number> {\n  return input.name.length;\n}\n",
};

async function makeProject() {
  const folder = await mkdtemp(path.join(os.tmpdir(), "cem-skills-elsewhere-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  const source = {
    cwd: folder,
    configFile: false as const,
    config: { optimizations: { toolCache: false, sandboxPooling: false } },
  };
  const agent = createAgent(source);
  onTestFinished(() => agent.dispose());
  return { folder, source, agent };
}

it("skills from elsewhere are used where they can be, and say why where they can't", async () => {
  const { agent } = await makeProject();
  const slug = await agent.executeTask('Use slugify on the title "Hello World Again"');
  expect(slug).toMatchObject({ error: null, value: "hello-world-again" });

  const flat = "Move it to skills/flat/index.ts.";
  const python = "scripts/fill.py is not TypeScript or JavaScript";
  for (const [task, hint] of [
    ["Use the flat skill on 3", flat],
    ["Fill PDF forms", python],
  ] as const) {
    const { status, error } = await agent.executeTask(task);
    expect({ status, message: error?.message }).toEqual({
      status: "refused",
      message: expect.stringContaining(hint),
    });
  }
  for (const [module, hint] of [
    ["flat.ts", flat],
    ["flat/index.ts", flat],
    ["pdf/index.ts", python],
  ] as const) {
    const { error } = await agent.executeCode(`import { any } from "./skills/${module}";\nreturn any();`);
    expect(error).toMatchObject({ code: "CODE_REFUSED", message: expect.stringContaining(hint) });
  }
});

it("a skill whose tool changed is marked, and says by whom it was made", async () => {
  const { folder, source, agent } = await makeProject();
  await agent.saveSkill({
    name: "cheap",
    description: "Says whether a thing is cheap.",
    code: 'import { price_of } from "./servers/shop/index.ts";\nexport const cheap = async (name: string): Promise<boolean> => (await price_of({ name })) < 4;',
    test: 'import { cheap } from "./skills/cheap/index.ts";\nreturn (await cheap("tea")) && !(await cheap("saffron"));',
  });
  const find = async () => (await listSkills(source)).find(({ name }) => name === "cheap");
  expect(await find()).toMatchObject({
    tools: ["shop.price_of"],
    changedTools: [],
    provenance: { author: "person" },
  });
  const file = path.join(folder, "servers/shop/price_of.ts");
  await writeFile(
    file,
    (FILES["servers/shop/price_of.ts"] ?? "").replace("name: string", "name: string; unit: string"),
  );
  expect(await find()).toMatchObject({ changedTools: ["shop.price_of"] });
});
