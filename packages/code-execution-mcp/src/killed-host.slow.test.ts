import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { makeProject, reference } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";

const HOST = `
const [, start, options] = process.argv;
import(start)
  .then(({ runServer }) => runServer(JSON.parse(options)))
  .then(({ url }) => console.log(url));
`;
const CODE = `import { echo } from "./servers/stubborn/index.ts";
await echo({ message: "hi" });
await Deno.writeTextFile("/workspace/up", "");
while (true) {}`;

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** All processes below one, whichever of its threads started them. */
function below(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}

function nameOfLiving(pid: number): string[] {
  const [, name, state] = /^Name:\s+(.*)$[^]*?^State:\s+(\w)/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return name === undefined || state === "Z" || state === "X" ? [] : [name];
}

it.skipIf(process.platform !== "linux")(
  "leaves no process behind where it is killed in mid-run",
  async () => {
    const project = await makeProject();
    const { command, args } = reference("everything");
    // It outlives the end of its input.
    const stubborn = { command: "/bin/sh", args: ["-c", '"$@"; sleep 1000', "stubborn", command, ...args] };
    // With guests that are kept ready.
    const { onLog: _, ...source } = project.source({ stubborn }, { optimizations: {} });
    await generateTools({ ...source, onLog: () => {} });
    const options = JSON.stringify({ ...source, transport: "http", port: 0 });
    const start = path.join(import.meta.dirname, "create-server.ts");
    const host = spawn(process.execPath, ["--conditions=@cem/source", "-e", HOST, start, options], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, TMPDIR: project.folder },
    });
    onTestFinished(() => void host.kill("SIGKILL"));
    const [url = ""] = await Promise.race([
      new Promise<string[]>((resolve) =>
        createInterface(host.stdout).once("line", (line) => resolve([line])),
      ),
      new Promise<string[]>((resolve) => host.once("exit", () => resolve([]))),
    ]);
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(() => client.close());
    client.callTool({ name: "execute_code", arguments: { code: CODE } }).catch(() => {});
    await expect
      .poll(() => existsSync(path.join(project.folder, "workspace/up")), { timeout: 30_000, interval: 20 })
      .toBe(true);
    const processes = below(host.pid ?? 0);
    expect(processes.flatMap(nameOfLiving)).toEqual(expect.arrayContaining(["deno", "sh"]));
    host.kill("SIGKILL");
    await expect.poll(() => processes.flatMap(nameOfLiving)).toEqual([]);
  },
);
