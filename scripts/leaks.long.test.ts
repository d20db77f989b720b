import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");

/** A test file that leaves a folder and, if asked, a server in a process that has nothing of the tests' environment. */
const FIXTURE = `import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";

const folder = mkdtempSync(path.join(os.tmpdir(), "left-"));
const left = { folder };
if (process.env["LEAK"] === "server") {
  const server = 'require("node:net").createServer().listen(0, "127.0.0.1", function () { console.log(this.address().port) })';
  const child = spawn(process.execPath, ["-e", server], { cwd: folder, env: {}, detached: true });
  left.port = Number((await once(child.stdout, "data"))[0]);
  left.pid = child.pid;
}
writeFileSync(process.env["NOTE"], JSON.stringify(left));
it("has the outcome that is asked for", () => expect(process.env["OUTCOME"]).toBe("passes"));
`;

interface Run {
  code: number | null;
  output: string;
  left: { folder: string; port?: number; pid?: number };
}

/** Inside the repository, where the fixture finds vitest. */
let folder: string;
beforeAll(async () => {
  await mkdir(path.join(root, ".cem"), { recursive: true });
  folder = await mkdtemp(path.join(root, ".cem", "leaks-"));
  await mkdir(path.join(folder, "src"));
  await writeFile(path.join(folder, "vitest.config.ts"), 'export { default } from "../../vitest.base.ts";\n');
  await writeFile(path.join(folder, "src", "fixture.test.ts"), FIXTURE);
});
afterAll(() => rm(folder, { recursive: true }));

async function runFixture(leak: "folder" | "server", outcome: "passes" | "fails"): Promise<Run> {
  const note = path.join(folder, `${leak}-${outcome}.json`);
  const { CEM_TEST_FOLDER: _folder, TURBO_HASH: _hash, ...env } = process.env;
  const child = spawn(path.join(root, "node_modules", ".bin", "vitest"), ["run"], {
    cwd: folder,
    env: { ...env, NOTE: note, LEAK: leak, OUTCOME: outcome },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (part: string) => (output += part));
  }
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output, left: JSON.parse(await readFile(note, "utf8")) };
}

/** The command line of a process; empty for one that has ended, though nobody may have asked for its end yet. */
const commandOf = (pid: number | undefined): Promise<string> =>
  readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");

describe.skipIf(process.platform !== "linux").concurrent("a test run", () => {
  it("passes when only files are left, and removes them", async ({ expect }) => {
    const { code, left } = await runFixture("folder", "passes");
    expect(code).toBe(0);
    expect(existsSync(path.dirname(left.folder))).toBe(false);
  });

  it.for(["passes", "fails"] as const)(
    "whose test %s fails when a process is left, names it with its port, and ends it",
    async (outcome, { expect }) => {
      const { code, output, left } = await runFixture("server", outcome);
      expect(code).toBe(1);
      expect(output).toMatch(
        new RegExp(`left processes behind:\\s+${left.pid}: .*listening on port ${left.port}`),
      );
      expect(await commandOf(left.pid)).toBe("");
      expect(existsSync(path.dirname(left.folder))).toBe(false);
    },
  );
});
