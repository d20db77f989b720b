import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "./testing/run-cem.ts";
import { COMPILE_CACHE, SHELL_COMMAND } from "./testing/spawn-cem.ts";

vi.setConfig({ testTimeout: 120_000 });

const QUESTION = "[N]o ";
const WAIT = { timeout: 60_000, interval: 20 };
const TOOL = `import { defineTool } from "code-execution-mcp";
export default defineTool({ description: "Remove", annotations: { destructiveHint: true }, input: { type: "object" }, execute: () => ({ ok: true }) });`;
const FORM = `import { defineTool } from "code-execution-mcp";
const [first, last] = [{ type: "string" }, { type: "string" }];
const requestedSchema = { type: "object", properties: { first, last }, required: ["first", "last"] };
export default defineTool({ description: "Ask", execute: async (_, { elicit }) => (await elicit({ message: "Who?", requestedSchema })).content });`;

/** Runs code with a tool that needs a yes on a real terminal. */
function startAtTerminal(code: string) {
  const cwd = temporaryFolder();
  mkdirSync(path.join(cwd, "servers/crm"), { recursive: true });
  writeFileSync(path.join(cwd, "servers/crm/remove.host.ts"), TOOL);
  writeFileSync(path.join(cwd, "servers/crm/ask.host.ts"), FORM);
  writeFileSync(path.join(cwd, "code.ts"), `import { ask, remove } from "./servers/crm/index.ts";\n${code}`);
  // It makes a terminal for the command, and passes on what it reads and writes.
  const child = spawn("/usr/bin/script", ["-qefc", `${SHELL_COMMAND} exec code.ts`, "/dev/null"], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: cwd,
      TERM: "xterm",
      CEM_TRUST_FOLDER: "1",
      NODE_COMPILE_CACHE: COMPILE_CACHE,
    },
  });
  onTestFinished(() => void child.kill());
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
  const ended = new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(screen));
  });
  return {
    ended,
    type: (line: string) => void child.stdin.write(`${line}\r`),
    makeFile: (name: string) => writeFileSync(path.join(cwd, "workspace", name), ""),
    sees: (text: string) => vi.waitFor(() => expect(screen).toContain(text), WAIT),
    hasFile: (name: string) =>
      vi.waitFor(() => expect(existsSync(path.join(cwd, "workspace", name))).toBe(true), WAIT),
  };
}

describe.runIf(process.platform === "linux")("a question at the terminal", () => {
  it("is not answered by what was typed before it", async () => {
    const { type, sees, ended } = startAtTerminal("return await remove({});");
    await sees("discover");
    type("y");
    await sees(QUESTION);
    type("n");
    expect(await ended).toContain("the answer was no");
  });

  it("loses no keys that are typed quickly, from field to field", async () => {
    const { type, sees, ended } = startAtTerminal("return await ask({});");
    await sees("[yes] ");
    type("");
    await sees("first: ");
    type("Ada");
    await sees("Ada\r");
    type("Lovelace");
    await sees("last: ");
    // Answers the field, should it have lost its keys.
    type("None");
    expect(await ended).toMatch(/Ada[^]*Lovelace[^]*Lovelace/u);
  });

  it("is not followed by output until it is answered", async () => {
    const { type, sees, makeFile, hasFile, ended } = startAtTerminal(`const removed = remove({});
while (!(await Deno.stat("asked.txt").catch(() => undefined))) await new Promise((go) => setTimeout(go, 50));
console.log("Show the rows? [Y/n]");
await Deno.writeTextFile("printed.txt", "");
return await removed;`);
    await sees(QUESTION);
    makeFile("asked.txt");
    await hasFile("printed.txt");
    type("y");
    const [, behind = ""] = (await ended).split(QUESTION);
    expect(behind).toMatch(/^[^\n]*y\r+\n[^]*Show the rows\? \[Y\/n\]/u);
  });
});
