import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { interleaved, rounded } from "./measure.ts";
import type { Table } from "./table.ts";
import { withFolder, writeSampleServer } from "./workspace.ts";

const BASE = "node -e 0";
const ONE_CALL = 'import { add } from "./servers/math/index.ts";\nexport default await add({ a: 5, b: 3 });';
const LISTED = 2;
/** The messages of a client until it has the list of tools. */
const LIST_TOOLS = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: LISTED, method: "tools/list" },
];

/** Programs that run in a process of their own, by file. Each is given the package's URL and a program for the sandbox. */
const PROGRAMS = {
  "import.mjs": "await import(process.argv[2]);",
  "count.mjs": `
    import { registerHooks } from "node:module";
    const sizes = [];
    registerHooks({
      load(url, context, next) {
        const loaded = next(url, context);
        if (loaded.source) sizes.push(loaded.source.length);
        return loaded;
      },
    });
    await import(process.argv[2]);
    console.log(JSON.stringify({ files: sizes.length, kb: sizes.reduce((sum, size) => sum + size, 0) / 1024 }));`,
  "first.mjs": `
    const [, , url, code, typeCheck] = process.argv;
    const { createAgent } = await import(url);
    const agent = createAgent({ configFile: false });
    const result = await agent.executeCode(code, { typeCheck });
    if (result.value !== 8) throw new Error(JSON.stringify(result));
    console.log(process.memoryUsage.rss() / 2 ** 20);
    await agent.dispose();`,
  "task.mjs": `
    const { executeTask } = await import(process.argv[2]);
    const result = await executeTask("Add 5 and 3", { configFile: false });
    if (result.value !== 8) throw new Error(JSON.stringify(result));`,
};

/**
 * The parts that are loaded and started anew in a process of their own: the package, the first result, the command line, the server.
 *
 * @param packages - The folder that the packages are loaded from. Installed from tarballs they are as users get them.
 */
export async function measureColdStart(rounds: number, packages: string): Promise<Table> {
  return withFolder(async (project) => {
    await writeSampleServer(project);
    for (const [file, text] of Object.entries(PROGRAMS)) await writeFile(path.join(project, file), text);
    const { resolve } = createRequire(path.join(packages, "package.json"));
    const url = pathToFileURL(resolve("code-execution-mcp")).href;
    const cem = commandOf(resolve("@cem/cli/package.json"));
    const node = (...args: string[]) => runNode(args, project);

    // Other code each time: what was checked once is not checked again.
    let nth = 0;
    const code = (): string => `${ONE_CALL}\n// ${(nth += 1)}`;
    const exec = async () => {
      await writeFile(path.join(project, "program.ts"), code());
      await node(cem, "exec", "program.ts");
    };
    let ended: Promise<unknown> = Promise.resolve();
    const serve = async () => {
      ({ ended } = await listTools(cem, project));
    };
    const samples = await interleaved(
      {
        [BASE]: () => node("-e", "0"),
        "import of code-execution-mcp": () => node("import.mjs", url),
        "first result, types checked": () => node("first.mjs", url, code(), "before"),
        "first result, types not checked": () => node("first.mjs", url, code(), "off"),
        "first task, by rules": () => node("task.mjs", url),
        "cem --help": () => node(cem, "--help"),
        "cem exec": exec,
        "cem serve, to its list of tools": serve,
      },
      rounds,
      () => ended,
    );
    const base = samples.get(BASE)?.median ?? NaN;
    const { files, kb } = JSON.parse(await node("count.mjs", url)) as { files: number; kb: number };
    const memory = Number(await node("first.mjs", url, code(), "before"));
    return {
      title: `New processes, ms. The package is ${files} files, ${rounded(kb)} KiB; the host takes ${rounded(memory)} MiB after a first result`,
      columns: ["", "median", "p95", `of ${BASE}`],
      rows: [...samples].map(([name, sample]) => [
        name,
        rounded(sample.median),
        rounded(sample.p95),
        rounded(sample.median / base),
      ]),
    };
  });
}

/** The file of the command `cem`. */
function commandOf(manifest: string): string {
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: { cem: string } };
  return path.join(path.dirname(manifest), bin.cem);
}

/** Runs Node to its end. Returns what it printed. */
async function runNode(args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${printed}`);
  return printed;
}

/** Starts the server and asks for its tools. Returns when they have come, with the server's end, which is under way then. */
async function listTools(cem: string, cwd: string): Promise<{ ended: Promise<unknown> }> {
  const child = spawn(process.execPath, [cem, "serve"], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const messages = LIST_TOOLS.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  child.stdin.write(messages.join(""));
  let printed = "";
  await new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.includes(`"id":${LISTED}`)) resolve();
    });
  });
  child.stdin.end();
  return { ended };
}
