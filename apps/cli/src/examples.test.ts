import { describe, expect, it } from "vitest";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

const cem = (...args: string[]) => runCem(["examples", ...args], { cwd: temporaryFolder() });

describe("cem examples", () => {
  it("lists them, each with what it shows", async () => {
    const { stdout } = await cem();
    expect(stdout).toMatch(/^ {2}05 {2}state {2,}\S/mu);
    expect((await cem("list", "--quiet")).stdout.trim().split("\n")).toHaveLength(23);
  });

  it("runs one by its number or name, in a folder of its own", async () => {
    const cwd = temporaryFolder();
    const { code, stdout } = await runCem(["examples", "run", "1"], { cwd });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Selected: weather") });
    const { results } = JSON.parse((await cem("run", "basic-call", "--json")).stdout) as {
      results: object[];
    };
    expect(results).toMatchObject([{ example: "01-basic-call", exitCode: 0 }]);
  });

  it("says what to install for one that needs more than this command has", async () => {
    const { code, stderr } = await cem("run", "22");
    expect(code).toBe(2);
    expect(stderr).toMatch(/Example 22 needs .*ai.* not installed here\. .* npm install .*@cem\/ai/u);
  });

  it("says which there are where a number is none", async () => {
    const { code, stderr } = await cem("run", "77");
    expect(code).toBe(2);
    expect(stderr).toContain('no example "77". There are: 00, 01');
  });
});
