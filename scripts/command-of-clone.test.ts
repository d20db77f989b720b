import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";

const ASK = 'import("./setup.mjs").then(({ isSetUp }) => process.exit(isSetUp("run") ? 0 : 1))';
/** Else the command would install the packages, beside the tests that use them. */
const isSetUp = spawnSync(process.execPath, ["-e", ASK], { cwd: import.meta.dirname }).status === 0;

it.runIf(isSetUp && process.platform !== "win32")(
  "the command of a clone works in the folder where one stands",
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), "clone-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const commands = path.join(import.meta.dirname, "bin");
    const options = {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, HOME: folder, PATH: `${commands}:${process.env["PATH"]}` },
    } as const;
    expect(spawnSync("cem", ["init", "tools"], options).status).toBe(0);
    const greeted = spawnSync("cem", ["run", "--quiet", "Greet Ada"], {
      ...options,
      cwd: path.join(folder, "tools"),
    });
    expect(greeted.stdout).toContain("Hello, Ada!");
  },
);
