import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");

async function runExample(name: string): Promise<string> {
  const file = path.join(root, "examples", name);
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@cem/source", file], {
    cwd: root,
    timeout: 60_000,
  });
  return stdout;
}

describe("the examples", () => {
  it("execute-task prints the sum and the weather", async () => {
    const value = JSON.parse(await runExample("execute-task.ts"));
    expect(value).toMatchObject({ sum: 8, weather: { location: "San Francisco" } });
  });

  it("own-code calls forty tools and returns three names", async () => {
    const output = await runExample("own-code.ts");
    expect(output).toMatch(/July: \["[^"]+","[^"]+","[^"]+"\]/);
    expect(output).toContain("41 tool calls");
  });

  it("stages-by-hand runs what the rules wrote", async () => {
    expect(await runExample("stages-by-hand.ts")).toBe("completed 288\n");
  });
});
