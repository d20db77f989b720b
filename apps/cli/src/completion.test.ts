import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCem, SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import { SHELL_COMMAND } from "./testing/spawn-cem.ts";

const cwd = temporaryFolder();

/** The words that can follow. */
async function complete(...words: string[]): Promise<string[]> {
  const { code, stdout } = await runCem([...SAMPLES, "complete", "--", ...words], { cwd });
  expect(code).toBe(0);
  return stdout.split("\n").flatMap((line) => line.split("\t")[0] || []);
}

describe("cem complete", () => {
  it.each([
    [["ca"], ["call"]],
    [["exec", "--sandb"], ["--sandbox"]],
    [
      ["exec", "--sandbox", ""],
      ["auto", "deno", "microsandbox", "kubernetes"],
    ],
    [["exec", "--sandbox", "deno", "--js"], ["--json"]],
    [["--sandbox", "deno", "skill"], ["skills"]],
    [["tools", "ca"], ["calculator"]],
    [["call", "calculator.a"], ["calculator.add"]],
    [
      ["call", "calculator.add", ""],
      ["a=", "b="],
    ],
    [["call", "calculator.add", "b=1", ""], ["a="]],
    [["help", "mig"], ["migrate"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["nonsense", ""], []],
    [["run", "some words"], []],
  ])("knows what follows %j", async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  it("lists the commands, itself left out", async () => {
    const words = await complete("");
    expect(words).toContain("run");
    expect(words).not.toContain("complete");
  });
});

describe("cem completion", () => {
  const scripts = new Map<string, string>();

  beforeAll(async () => {
    writeFileSync(path.join(cwd, "cem"), `#!/bin/sh\nexec ${SHELL_COMMAND} "$@"\n`);
    chmodSync(path.join(cwd, "cem"), 0o755);
    for (const shell of ["bash", "zsh", "fish"]) {
      const { stdout } = await runCem(["completion", shell, "--quiet"], { cwd });
      scripts.set(shell, stdout);
      writeFileSync(path.join(cwd, `completion.${shell}`), stdout);
    }
  });

  it("makes bash complete", () => {
    const script = `${scripts.get("bash")}
COMP_WORDS=(cem skills pro); COMP_CWORD=2; _cem; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...process.env, PATH: `${cwd}:${process.env["PATH"]}` };
    expect(execFileSync("bash", ["-c", script], { cwd, env, encoding: "utf8" })).toBe("promote\n");
  });

  it.each(["bash", "zsh", "fish"])("is a script that %s can read, where it is installed", (shell) => {
    const { status, stderr } = spawnSync(shell, ["-n", path.join(cwd, `completion.${shell}`)]);
    // Null: there is no such shell.
    expect([status, String(stderr ?? "")]).toEqual([expect.toBeOneOf([0, null]), ""]);
  });
});
