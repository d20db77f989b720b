import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ENDLESS_TYPES, HOSTILE_PROGRAMS } from "../../fixtures/hostile-programs.ts";
import { createTypeChecker } from "../type-checker.ts";
import { findCompiler, startCompilerProcess, type CompilerProcessSettings } from "./compiler-process.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "cem-compiler-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(settings: Partial<CompilerProcessSettings> = {}) {
  const compiler = findCompiler();
  if ("missing" in compiler) throw new Error(compiler.missing);
  const started = startCompilerProcess({
    compiler,
    workingFolder: "/workspace",
    callbacks: [],
    handle: () => null,
    memoryMb: 512,
    ...settings,
  });
  onTestFinished(() => started.dispose());
  return started;
}

/** Has a compiler look for what is wrong with a program. */
async function diagnose(code: string, settings: Partial<CompilerProcessSettings>): Promise<unknown> {
  const files = new Map<unknown, string>([
    ["/workspace/tsconfig.json", JSON.stringify({ files: ["/workspace/program.ts"] })],
    ["/workspace/program.ts", code],
  ]);
  const handle = (method: string, file: unknown): unknown => {
    if (method === "fileExists") return files.has(file);
    // Of the host it reads its library.
    return files.has(file) ? { content: files.get(file) } : null;
  };
  const compiler = start({ ...settings, callbacks: ["readFile", "fileExists"], handle });
  const openProjects = ["/workspace/tsconfig.json"];
  const { snapshot } = (await compiler.request("updateSnapshot", { openProjects })) as { snapshot: number };
  return compiler.request("getSemanticDiagnostics", { snapshot, project: "/workspace/tsconfig.json" });
}

/** A file in place of the compiler. */
function program(name: string, text: string, mode = 0o755): CompilerProcessSettings["compiler"] {
  const executable = path.join(folder, name);
  writeFileSync(executable, text);
  chmodSync(executable, mode);
  return { executable, libraryFolder: folder };
}

const WAIT = { timeout: 9_000 };

describe("CompilerProcess", () => {
  it("answers, and after it has ended says why it does not", async () => {
    const compiler = start();
    await expect(compiler.request("initialize", null)).resolves.toMatchObject({
      currentDirectory: "/workspace",
    });
    await expect(compiler.request("getNothing", {})).rejects.toThrow('unknown API method "getNothing"');
    expect(compiler.ended).toBeUndefined();
    const asked = compiler.request("updateSnapshot", {});
    compiler.end("it is enough");
    await expect(asked).rejects.toThrow("it is enough");
    await expect(compiler.request("initialize", null)).rejects.toThrow("it is enough");
    await compiler.dispose();
    expect(compiler.ended).toBe("it is enough");
  });

  it.each([
    ["is no program", "no program", 0o755, true],
    ["may not be started", "#!/bin/sh", 0o644, true],
    ["is no program, without limits", "no program", 0o755, false],
    ["may not be started, without limits", "#!/bin/sh", 0o644, false],
    ["ends at once", "#!/bin/sh\nexit 3", 0o755, true],
  ])("says that the compiler did not start where the file %s", async (_, text, mode, kernelLimit) => {
    const compiler = start({ compiler: program("tsc", text, mode), kernelLimit });
    await expect(compiler.request("initialize", null)).rejects.toThrow(
      /^TypeScript's compiler did not start \(.+\)$/,
    );
  });

  it("has one listener for the end of the host, however many there are", async () => {
    const before = process.listenerCount("exit");
    const compilers = Array.from({ length: 3 }, () => start({ deathSignal: [] }));
    expect(process.listenerCount("exit")).toBe(before + 1);
    await Promise.all(compilers.map((compiler) => compiler.dispose()));
    expect(process.listenerCount("exit")).toBe(before);
  });

  it("says that the compiler ended where it had answered", async () => {
    const answer = '{"jsonrpc":"2.0","id":1,"result":5}';
    const text = `#!/bin/sh\nread line\nprintf 'Content-Length: ${answer.length}\\r\\n\\r\\n${answer}'\nread line\n`;
    const compiler = start({ compiler: program("brief", text) });
    await expect(compiler.request("initialize", null)).resolves.toBe(5);
    await expect(compiler.request("updateSnapshot", null)).rejects.toThrow(
      "TypeScript's compiler ended unexpectedly (0)",
    );
  });

  it("ends one that does not speak the protocol", async () => {
    const compiler = start({
      compiler: program("noise", "#!/bin/sh\nprintf 'Length: 5\\r\\n\\r\\n'\nread line"),
    });
    await expect(compiler.request("initialize", null)).rejects.toThrow("A message of NaN bytes");
  });

  it("lets one work on that needs less memory, which the host measures", async () => {
    const { "10,000 texts of a type": long = "" } = HOSTILE_PROGRAMS;
    await expect(diagnose(long, { kernelLimit: false })).resolves.toBeDefined();
  });

  it.each([
    ["the kernel", true],
    ["the host", false],
  ])("ends one that needs too much memory, which %s bounds", async (_, kernelLimit) => {
    await expect(diagnose(ENDLESS_TYPES, { kernelLimit, memoryMb: 80 })).rejects.toThrow(
      "it needed more than 80 MiB",
    );
  });
});

// Processes are looked for in /proc.
describe.runIf(process.platform === "linux")("CompilerProcess, on Linux", () => {
  it("ends with its host, also with one that is killed while the compiler is busy", async () => {
    const [host, output] = runHost(`
      await checker.check({ code: "1", tools: [] });
      void checker.check({ code: ${JSON.stringify(ENDLESS_TYPES)}, tools: [] });
      console.log("checking");`);
    await once(output, "data");
    const [compiler = 0] = childrenOf(host.pid ?? 0);
    expect(readFileSync(`/proc/${compiler}/cmdline`, "utf8")).toContain("--api");
    const before = processorTicksOf(compiler);
    await vi.waitFor(() => expect(processorTicksOf(compiler)).toBeGreaterThan(before + 10), WAIT);
    host.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(compiler)).toBe(false), WAIT);
  });

  it.each([
    ["the kernel sees to it", "undefined", 1],
    ["a process watches the host", "[]", 2],
  ])(
    "ends with a host that is killed before it has answered, where %s",
    async (_, deathSignal, processes) => {
      const [host, output] = runHost(`
      const callbacks = ["readFile"];
      const handle = () => process.kill(process.pid, "SIGKILL");
      const settings = { compiler: findCompiler(), workingFolder: "/", memoryMb: 512, callbacks, handle };
      const compiler = startCompilerProcess({ ...settings, deathSignal: ${deathSignal} });
      console.log(readFileSync(\`/proc/self/task/\${process.pid}/children\`, "utf8"));
      compiler.keepHostAlive(true);
      await compiler.request("updateSnapshot", { openProjects: ["/tsconfig.json"] });`);
      const [text] = (await once(output, "data")) as [Buffer];
      const children = text.toString().trim().split(" ").map(Number);
      expect(children).toHaveLength(processes);
      if (host.signalCode === null) await once(host, "exit");
      expect(host.signalCode).toBe("SIGKILL");
      await vi.waitFor(() => expect(children.filter(isAlive)).toEqual([]), WAIT);
    },
  );

  it("is gone when its checker is disposed", async () => {
    const compilers = () =>
      childrenOf(process.pid).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--api"));
    const checker = createTypeChecker();
    await checker.check({ code: "1", tools: [] });
    expect(compilers()).toHaveLength(1);
    const asked = checker.check({ code: ENDLESS_TYPES, tools: [] });
    await checker.dispose();
    expect(compilers()).toEqual([]);
    expect((await asked)[0]?.message).toBe(
      "The types were not checked: the type checker was disposed. The code may still be right.",
    );
  });

  it.each([
    ["has checked", 'await checker.check({ code: "1", tools: [] });\nchecker.prepare();'],
    ["starts", "checker.prepare();"],
  ])("does not keep its host alive when it %s", async (_, script) => {
    const [host, output] = runHost(`${script}
      console.log(readFileSync(\`/proc/self/task/\${process.pid}/children\`, "utf8"));`);
    const [text] = (await once(output, "data")) as [Buffer];
    if (host.exitCode === null) await once(host, "exit");
    expect(host.exitCode).toBe(0);
    await vi.waitFor(() => expect(isAlive(Number(text))).toBe(false), WAIT);
  });
});

/** Runs a script with a type checker. */
function runHost(script: string): [host: ReturnType<typeof spawn>, output: NodeJS.ReadableStream] {
  const source = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const code = `import { readFileSync } from "node:fs";
    import { findCompiler } from ${source("./compiler-process.ts")};
    import { startCompilerProcess } from ${source("./compiler-process.ts")};
    import { createTypeChecker } from ${source("../type-checker.ts")};
    const checker = createTypeChecker();
    ${script}`;
  const args = ["--conditions=@cem/source", "--input-type=module", "--eval", code];
  const host = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  return [host, host.stdout];
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** How long a process has used the processor, in hundredths of a second. */
function processorTicksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
