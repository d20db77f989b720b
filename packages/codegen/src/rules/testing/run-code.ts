import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../../../../../", import.meta.url));

/** Imports each program it is told of, and answers with its value and what it printed. */
const RUNNER = `
process.on("disconnect", () => process.exit());
process.on("message", async (file) => {
  const printed = [];
  const write = process.stdout.write;
  process.stdout.write = (text) => printed.push(String(text)) > 0;
  try {
    const { default: value } = await import(file);
    process.send({ value: value === undefined ? null : value, output: printed.join("") });
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  } finally {
    process.stdout.write = write;
  }
});
`;

type Reply = { value: unknown; output: string } | { error: string };

/** A folder with the sample servers in which programs run; `/workspace` in a program stands for the folder. */
interface Workspace {
  run(code: string): Promise<{ value: unknown; output: string }>;
  readJson(file: string): unknown;
  write(file: string, text: string): void;
}

/**
 * Creates a workspace. One child process, started with the first program, runs all of its programs.
 *
 * @param whenDone - Registers what removes the folder and ends the process: `onTestFinished` or `afterAll` of vitest.
 */
export function createWorkspace(whenDone: (cleanUp: () => Promise<void>) => void): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "cem-codegen-"));
  let child: ChildProcess | undefined;
  let programs = 0;
  whenDone(async () => {
    if (child !== undefined && child.exitCode === null) {
      child.kill();
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  });
  for (const part of ["servers", "skills"])
    cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "runner.js"), RUNNER);
  return {
    async run(code) {
      programs += 1;
      writeFileSync(join(folder, `main-${programs}.ts`), code.replaceAll("/workspace", folder));
      child ??= fork(join(folder, "runner.js"), {
        cwd: folder,
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      const listening = new AbortController();
      const answers = ["message", "exit"].map((event) =>
        once(child as ChildProcess, event, { signal: listening.signal }),
      );
      child.send(`./main-${programs}.ts`);
      const [reply] = (await Promise.race(answers)) as [Reply | number | null];
      for (const answer of answers) answer.catch(() => undefined);
      listening.abort();
      if (reply === null || typeof reply === "number") throw new Error(`The runner ended with ${reply}.`);
      if ("error" in reply) throw new Error(reply.error);
      return { value: reply.value, output: reply.output.replaceAll(folder, "/workspace") };
    },
    readJson: (file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as unknown,
    write: (file, text) => writeFileSync(join(folder, file), text),
  };
}
