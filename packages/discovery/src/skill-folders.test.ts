import path from "node:path";
import { describe, expect, it } from "vitest";
import { createDiscovery } from "./create-discovery.ts";
import { discover, makeTree } from "../test/tool-tree.ts";

const add =
  "/** Adds. */\nexport async function add(a: number, b: number): Promise<number> {\n  return a + b;\n}\n";
const twice = `import { add } from "../../servers/calc/add.ts";
/** Adds a number to itself. */
export async function twice(x: number): Promise<number> {
  return add(x, x);
}
`;

describe("folders of skills", () => {
  it("may stand anywhere: imports are read as in the sandbox, where servers and skills are side by side", async () => {
    const root = makeTree({ "tools/calc/add.ts": add, "ours/kept/twice/index.ts": twice });
    const catalog = createDiscovery({
      serversDir: path.join(root, "tools"),
      skillsDir: path.join(root, "ours/kept"),
    });
    const { servers, problems } = await catalog.list();
    expect(problems).toEqual([]);
    expect(servers[1]).toMatchObject({ name: "twice", kind: "skill", tools: [{ name: "twice" }] });
  });

  it.each([
    '"../../servers/calc/index.ts"',
    '"../../servers/calc"',
    '"../../servers/calc/index.js"',
    '"/workspace/servers/calc/index.ts"',
    '"servers/calc/index.ts"',
    '"file:///workspace/servers/calc/index.ts"',
  ])("use tools of servers, which call the host by the client: %s", async (module) => {
    const { servers, problems } = await discover(
      makeTree({
        "servers/calc/add.ts": `import { callTool } from "../../client/index.ts";\n${add}export { callTool };\n`,
        "servers/calc/index.ts": 'export { add } from "./add.ts";\n',
        "skills/twice/index.ts": twice.replace('"../../servers/calc/add.ts"', module),
        "skills/more/index.ts": 'export { twice as more } from "../twice/index.ts";\n',
      }),
    );
    expect(problems).toEqual([]);
    const skills = servers.filter(({ kind }) => kind === "skill").flatMap(({ tools }) => tools);
    expect(skills.map(({ name, uses }) => [name, uses])).toEqual([
      ["more", ["calc.add"]],
      ["twice", ["calc.add"]],
    ]);
  });

  it("use tools of the host, which have no file", async () => {
    const root = makeTree({ "skills/find/index.ts": twice.replace("calc/add.ts", "crm/index.ts") });
    const list = (hostTools: Record<string, string[]>) =>
      createDiscovery({
        serversDir: path.join(root, "servers"),
        skillsDir: path.join(root, "skills"),
        hostTools,
      }).list();
    expect((await list({ crm: ["add"] })).problems).toEqual([]);
    const [problem] = (await list({})).problems;
    expect(problem?.message).toContain('imports "../../servers/crm/index.ts", which does not exist');
  });

  it("may import types without saying so, and what a pattern exports", async () => {
    const { problems } = await discover(
      makeTree({
        "servers/calc/index.ts": `export interface Sum { value: number }\nexport const { add, ...rest } = { add: 1, other: 2 };\n`,
        "skills/twice/index.ts":
          'import { add, rest, Sum } from "../../servers/calc/index.ts";\n/** Sums. */\nexport function sum(): Sum {\n  return { value: add + rest.other };\n}\n',
      }),
    );
    expect(problems).toEqual([]);
  });

  it("of other programs have their functions in scripts/", async () => {
    const { servers, problems } = await discover(
      makeTree({
        "skills/report/SKILL.md": "---\nname: report\ndescription: Reports.\n---\n",
        "skills/report/scripts/format.ts":
          "/** Formats. */\nexport function format_rows(rows: string[]) {\n  return rows;\n}\n",
        "skills/report/scripts/run.js": "console.log(process.argv);\n",
        "skills/report/scripts/notes.py": "print(1)\n",
      }),
    );
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([
      {
        kind: "skill",
        description: "Reports.",
        tools: [{ name: "format_rows", module: "./skills/report/scripts/format.ts" }],
      },
    ]);
  });

  it.each(["ts", "mts", "js", "mjs"])(
    "have what their files beside SKILL.md export: .%s",
    async (extension) => {
      const { servers, problems } = await discover(
        makeTree({
          "skills/text/SKILL.md": "---\nname: text\ndescription: Texts.\n---\n",
          [`skills/text/helpers.${extension}`]:
            "/** Shouts. */\nexport function shout(text) {\n  return text;\n}\n",
          [`skills/text/scripts/slug.${extension}`]: "/** Slugs. */\nexport const slug = (text) => text;\n",
        }),
      );
      expect(problems).toEqual([]);
      expect(servers[0]?.tools.map(({ name, module }) => [name, module])).toEqual([
        ["shout", `./skills/text/helpers.${extension}`],
        ["slug", `./skills/text/scripts/slug.${extension}`],
      ]);
    },
  );

  it("say that their code does not run here, where it is Python", async () => {
    const { servers, problems } = await discover(
      makeTree({
        "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Forms.\n---\nRun scripts/fill.py\n",
        "skills/pdf/scripts/fill.py": "print(1)\n",
      }),
    );
    expect(servers).toMatchObject([{ name: "pdf", description: "Forms.", tools: [] }]);
    expect(problems).toMatchObject([
      { server: "pdf", message: expect.stringMatching(/^scripts\/fill.py is not TypeScript or JavaScript/u) },
    ]);
  });

  it("say that their SKILL.md can't be read", async () => {
    const { servers, problems } = await discover(
      makeTree({ "skills/pdf/SKILL.md": "---\ndescription: [a\n---\n", "skills/pdf/index.ts": add }),
    );
    expect(servers).toMatchObject([{ name: "pdf", description: "", tools: [{ name: "add" }] }]);
    expect(problems).toMatchObject([
      { server: "pdf", message: expect.stringMatching(/^SKILL.md has front matter that can't be read/u) },
    ]);
  });

  it("are asked for where a file stands alone", async () => {
    const { problems } = await discover(makeTree({ "skills/twice.ts": twice, "servers/notes.ts": add }));
    expect(problems.map(({ message }) => message)).toEqual([
      "twice.ts is not in a folder of its own, so it is not a skill. Move it to skills/twice/index.ts.",
    ]);
  });

  it("names files in Python once for a folder, but no packages, tests or those that are moved", async () => {
    const { servers, problems } = await discover(
      makeTree({
        "servers/weather/__init__.py": "",
        "servers/weather/get_weather.py": "",
        "servers/weather/test_weather.py": "",
        "servers/calc/add.py": "",
        "servers/calc/add.ts": add,
        "skills/clean.py": "",
        "skills/moved.py": "",
        "skills/moved/index.ts": add,
      }),
    );
    expect(servers.map(({ name }) => name)).toEqual(["calc", "moved"]);
    expect(problems.map(({ cause, message }) => [cause, message])).toEqual([
      ["python", "1 file in servers/ is in Python, which does not run here: weather/get_weather.py."],
      ["python", "1 file in skills/ is in Python, which does not run here: clean.py."],
    ]);
  });
});
