import { parseProgram } from "@cem/program";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { createWorkspace } from "./testing/run-code.ts";
import { otherTools, sampleTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });
const tools = [...sampleTools, ...otherTools];

/** Pieces that end strings, templates and comments, or look like code. */
const PIECES = [
  '"',
  "'",
  "`",
  "\\",
  "${globalThis.pwned=1}",
  "*/globalThis.pwned=1/*",
  "\n",
  "\r",
  "\u2028",
  "\u2029",
  "//",
  "/*",
  "</script>",
  ";globalThis.pwned=1;",
  "');globalThis.pwned=1;('",
  "\0",
  "__proto__",
  "constructor",
  "[",
  "]",
  "{",
  "}",
  "(",
  ")",
  " and ",
  ", then ",
  " if ",
  " otherwise ",
  "\uE0000\uE001",
  "\u202E",
  "'; DROP TABLE users; --",
  "and",
  "5 + 3",
  "/workspace/state.json",
  "- a: ",
  "1. ",
  "😀",
  "\uD800",
];
const FRAMES = [
  (text: string) => `Get weather for "${text}"`,
  (text: string) => `Write '${text}' to a.txt, then read it back and print it`,
  (text: string) => `Write "${text}" to ${text}.txt`,
  (text: string) => `Create /workspace/state.json with: - a: ${text}: ${text} - b: "${text}"`,
  (text: string) => `Create /workspace/x.json with a "${text}" and b 3; update a to "${text}"`,
  (text: string) => `Read a.json, filter for rows where name = "${text}" and sort by ${text}`,
  (text: string) =>
    `Get weather for Oslo, and if temperature is above 20, print "${text}" otherwise print '${text}'`,
  (text: string) => `Post a message to #general saying '${text}' and create an issue in a/b titled "${text}"`,
  (text: string) => `Print confirmation that ${text} was saved. Print "${text}"`,
  (text: string) => `Query database for users where name = '${text}'`,
  (text: string) => text,
];

/** The same numbers on every run. */
function createNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

async function generateCode(task: string): Promise<string | undefined> {
  const result = await generator.generate({ task, tools });
  return result.status === "generated" ? result.code : undefined;
}

describe("createRulesGenerator", () => {
  describe("generate, for hostile text", () => {
    it("never lets text become code", async () => {
      const next = createNumbers(7);
      const leaked: string[] = [];
      const broken: string[] = [];
      let generated = 0;
      for (let round = 0; round < 1_500; round += 1) {
        const text = Array.from({ length: 1 + next(5) }, () => PIECES[next(PIECES.length)] ?? "").join("");
        const task = (FRAMES[next(FRAMES.length)] ?? String)(text);
        const code = await generateCode(task);
        if (code === undefined) continue;
        generated += 1;
        if (!parseProgram(code).ok) broken.push(task);
        const bare = code.replaceAll(
          /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{JSON\.stringify\([^`]*?\)\})*`/gu,
          '""',
        );
        if (bare.includes("pwned")) leaked.push(task);
      }
      expect({ broken, leaked }).toEqual({ broken: [], leaked: [] });
      expect(generated).toBeGreaterThan(300);
    });

    it("keeps a text as it was written", async () => {
      const text = 'a\\b ${1+1} */ `x` "q" \u2028 end';
      const code = await generateCode(`Write '${text}' to a.txt, then read it back`);
      expect((await createWorkspace(onTestFinished).run(code ?? "")).value).toBe(text);
    });

    it("leaves prototypes alone", async () => {
      const code = await generateCode('Create /workspace/x.json with __proto__ "a" and constructor "b"');
      const workspace = createWorkspace(onTestFinished);
      await workspace.run(code ?? "");
      expect(Object.keys(workspace.readJson("x.json") as object)).toEqual(["__proto__", "constructor"]);
    });
  });
});
