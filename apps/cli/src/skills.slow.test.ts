import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCem, SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";

let cwd: string;
const PROPOSE = `import { saveSkill } from "./client/index.ts";
return await saveSkill({
  name: "twice", description: "Double a number.",
  code: "export const twice = (x: number): number => 2 * x;",
  test: 'import { twice } from "./skills/twice/index.ts";\\nif (twice(4) !== 8) throw new Error("wrong");',
});`;

beforeAll(() => {
  cwd = temporaryFolder();
  writeFileSync(path.join(cwd, "propose.ts"), PROPOSE);
});

const [servers = "", serversDir = ""] = SAMPLES;
const cem = (...args: string[]): Promise<Ended> => runCem([...args, servers, serversDir], { cwd });

describe("cem skills", () => {
  it("lists none, with how to add one", async () => {
    expect((await cem("skills")).stdout).toContain("no skills here. A folder in skills");
  });

  it("shows, promotes, tests and removes what code proposed", async () => {
    // With what it says on stderr where it fails.
    const says = async (words: RegExp, ...args: string[]): Promise<void> => {
      const { code, stdout, stderr } = await cem(...args);
      expect({ code, complaint: code === 0 ? "" : stderr }).toEqual({ code: 0, complaint: "" });
      expect(stdout).toMatch(words);
    };
    await says(/twice/u, "exec", "propose.ts");
    await says(/twice {2}version 1, proposal[^]*0 skills, 1 proposal/u, "skills", "list");
    await says(/promoted {3}twice/u, "skills", "promote", "twice");
    await says(/origin {5}by a model at [^]*export const twice/u, "skills", "show", "twice");
    await says(/passed {5}twice/u, "skills", "test", "twice");
    await says(/^twice\n$/u, "skills", "remove", "twice", "--quiet");
    const gone = await cem("skills", "show", "twice");
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain("See which there are with  cem skills");
  });

  it("lists a folder that somebody put there", async () => {
    mkdirSync(path.join(cwd, "skills/notes"), { recursive: true });
    writeFileSync(
      path.join(cwd, "skills/notes/SKILL.md"),
      "---\nname: notes\ndescription: Take notes.\n---\n",
    );
    expect((await cem("skills")).stdout).toContain("Take notes.");
  });

  it("says what a name is missing", async () => {
    const { code, stderr } = await cem("skills", "promote");
    expect(code).toBe(2);
    expect(stderr).toContain("cem skills promote needs the name of a skill.");
  });
});
