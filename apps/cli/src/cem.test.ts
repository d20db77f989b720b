import { execFileSync, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Readable } from "node:stream";
import type { TaskResult } from "@cem/core";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { FIRST_TASK } from "./commands/init.ts";
import { runCem, SAMPLES, startCem, temporaryFolder } from "./testing/run-cem.ts";
import { SHELL_COMMAND, spawnCem } from "./testing/spawn-cem.ts";

const MAIN_JOB = "Calculate 5 + 3 and get weather for San Francisco";
/** Says when it is there, and never ends. */
const ENDLESS = 'console.log("the code is running"); for (;;) {}';

const cwd = temporaryFolder();
const cem = (args: readonly string[], input?: string | Uint8Array) => runCem(args, { cwd, input });
const resultOf = (text: string): TaskResult => JSON.parse(text) as TaskResult;

beforeAll(() => {
  mkdirSync(path.join(cwd, "folder"));
  writeFileSync(path.join(cwd, "empty.ts"), " \n");
  writeFileSync(path.join(cwd, "latin1.ts"), Buffer.from([0x72, 0xe9, 0x0a]));
  writeFileSync(path.join(cwd, "endless.ts"), ENDLESS);
  writeFileSync(path.join(cwd, "wrong.yaml"), "execution:\n  sandbox_typ: deno\n");
});

describe("cem run", () => {
  it("does a task and shows each stage, the code, and the value last", async () => {
    const { code, stdout, stderr } = await cem(["run", MAIN_JOB, ...SAMPLES]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const order = [
      "discover",
      "select",
      "generate",
      "review",
      "run",
      "   1  import",
      "context",
      "sum",
      "weather",
    ];
    const places = order.map((word) => stdout.lastIndexOf(`\n  ${word}`));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
    // oxlint-disable-next-line no-control-regex -- there must be none in a pipe
    expect(stdout).not.toMatch(/\u001B/u);
  });

  it("says at once that the records of runs were damaged, and begins new ones", async () => {
    const damaged = path.join(cwd, "damaged");
    mkdirSync(path.join(damaged, ".cem/runs"), { recursive: true });
    writeFileSync(path.join(damaged, ".cem/runs/store.db"), "no database ".repeat(500));
    const run = () => runCem(["run", "Calculate 5 + 3", ...SAMPLES], { cwd: damaged });
    expect(await run()).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^The records of runs were damaged\. What could not be read was moved to .*, and new ones are kept/u,
      ),
    });
    expect(await run()).toMatchObject({ code: 0, stderr: "" });
  });

  it.each([
    ["personal data", `vaults/${hash("sha256", "")}.vault`],
    ["a customer's personal data", "workspaces/ada/vault/any.vault"],
  ])("says in doctor that %s or the audit log are damaged, and the way out", async (what, place) => {
    const folder = path.join(cwd, `damaged ${what}`);
    const vault = path.join(folder, place);
    mkdirSync(path.dirname(vault), { recursive: true });
    writeFileSync(vault, "no vault");
    writeFileSync(path.join(folder, "audit.jsonl"), "no line of an audit log\n");
    writeFileSync(
      path.join(folder, "config.yaml"),
      "privacy: { vault: disk, vault_dir: vaults }\nlogging: { audit_file: audit.jsonl }\n",
    );
    const { code, stdout } = await runCem(["doctor", "--json"], {
      cwd: folder,
      env: { CEM_VAULT_KEY: "ab".repeat(32), CEM_TRUST_FOLDER: "1" },
    });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; notes: string[] }[] };
    const found = (name: string): unknown => checks.find((check) => check.name === name);
    expect(code).toBe(1);
    expect(found("vault")).toMatchObject({
      state: "broken",
      notes: [expect.stringContaining(vault), expect.stringContaining("move the file aside")],
    });
    expect(found("audit log")).toMatchObject({
      state: "warning",
      notes: expect.arrayContaining([expect.stringContaining("audit.jsonl:1  This line was changed")]),
    });
  });

  it("prints the whole result as one JSON object", async () => {
    const { code, stdout } = await cem(["run", "--json", MAIN_JOB, ...SAMPLES]);
    const result = resultOf(stdout);
    expect(code).toBe(0);
    expect(result).toMatchObject({ status: "success", error: null, origin: "rules", availableTools: 15 });
    expect(JSON.stringify(result.value)).toContain("8");
    expect(result.toolCalls.map(({ tool }) => tool)).toContain("get_weather");
    expect(result.isolation?.sandbox).toBe("deno");
  });

  it("takes the task from stdin, and gives the value alone", async () => {
    const { code, stdout } = await cem(["run", "-", "--quiet", ...SAMPLES], "Calculate 6 * 7\n");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "42\n" });
  });

  it("refuses what no tool can do, and says what to do", async () => {
    const { code, stderr } = await cem(["run", "Send an email to bob@example.com", ...SAMPLES]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Nothing was run\.[^]*cem tools/u);
  });
});

describe("cem exec", () => {
  it("runs code from stdin and shows its output as it comes", async () => {
    const { code, stdout } = await cem(
      ["exec", "-", ...SAMPLES],
      'console.log("one\\ntwo"); return { sum: 8 };',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/ {2}output {5}one\n {13}two\n/u);
    expect(stdout).toMatch(/\n {2}sum {8}8\n$/u);
  });

  it("points at the line that failed", async () => {
    const { code, stderr } = await cem(["exec", "-"], 'const a = 1;\n\nthrow new RangeError("too much");\n');
    expect(code).toBe(1);
    expect(stderr).toContain("too much");
    expect(stderr).toMatch(/> {2}3 {2}throw/u);
  });

  it("shows the code as it was written", async () => {
    const { stderr } = await cem(["exec", "-"], 'let path = require("path");\nthrow new Error(path.sep);\n');
    expect(stderr).toContain('1  let path = require("path");');
  });

  it("says that a file beside the code is not in the workspace", async () => {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, "helper.ts"), "export const twice = (n: number) => 2 * n;\n");
    for (const from of ["./helper.ts", "./none.ts"]) {
      writeFileSync(path.join(folder, "a.ts"), `import { twice } from "${from}";\nreturn twice(2);\n`);
      const { stdout } = await cem(["exec", path.join(folder, "a.ts"), "--json"]);
      const { error } = resultOf(stdout);
      expect(error?.message).toContain(`There is no module ${from}.`);
      expect(error?.hint).toBe(
        from === "./helper.ts"
          ? `${folder}/helper.ts is not in the workspace folder: copy it there.`
          : undefined,
      );
    }
  });

  it("stops code that takes too long", async () => {
    const { code, stdout } = await cem(["exec", "endless.ts", "--timeout", "1", "--json"]);
    expect(code).toBe(1);
    expect(resultOf(stdout)).toMatchObject({
      status: "timeout",
      output: "the code is running\n",
      error: { code: "RUN_TIMED_OUT", hint: expect.stringContaining("guardrails.max_execution_time") },
    });
  });

  it("keeps hostile output away from the terminal", async () => {
    const hostile = 'console.log("\\u001b[2J\\u009b1m\\u202e"); throw new Error("\\u001b]0;x\\u0007");';
    const { stdout, stderr } = await cem(["exec", "-"], hostile);
    expect(stdout + stderr).toMatch(/^[\n -~…]+$/u);
  });
});

describe("cem init", () => {
  it("makes what a first run needs, and changes nothing the second time", async () => {
    const folder = temporaryFolder();
    const first = JSON.parse((await runCem(["init", "--json"], { cwd: folder })).stdout) as {
      made: string[];
    };
    expect(first.made).toContain("config.yaml");
    const { stdout } = await runCem(["run", "--quiet", FIRST_TASK], { cwd: folder });
    expect(stdout).toBe("Hello, Ada!\n");

    writeFileSync(path.join(folder, "config.yaml"), "# mine\n");
    const second = await runCem(["init"], { cwd: folder });
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining("there already") });
    expect(readFileSync(path.join(folder, "config.yaml"), "utf8")).toBe("# mine\n");
  });

  it("leaves a folder of servers alone", async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, "servers", "mine"), { recursive: true });
    const { stdout } = await runCem(["init", "--json"], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({
      made: ["skills/", "workspace/", "config.yaml", "client/index.ts", "tsconfig.json", ".gitignore"],
      kept: ["servers/"],
    });
  });
});

describe("cem doctor", () => {
  it("looks at everything and hides secrets", async () => {
    const env = { OPENAI_API_KEY: "sk-do-not-show", LLM_MODEL: "some-model" };
    const { code, stdout } = await runCem(["doctor", "--config", ...SAMPLES], { cwd, env });
    expect(code).toBe(0);
    expect(stdout).not.toContain("sk-do-not-show");
    expect(stdout).toMatch(/llm\.model +some-model {2}\(environment LLM_MODEL/u);
    for (const name of ["node", "config", "servers", "deno", "workspace", "llm"]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "mu"));
    }
  });

  it("fails when something that a task needs is broken", async () => {
    const { code, stdout } = await cem(["doctor", "--json", "--workspace", "endless.ts"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: "error", error: { code: "DOCTOR_FOUND_BROKEN" } });
  });
});

describe("cem search", () => {
  it("lists what is relevant alone", async () => {
    const { stdout } = await cem([...SAMPLES, "search", "weather forecast tomorrow"]);
    expect(stdout).toMatch(/^\s+[\d.]+ {2}weather\.get_forecast/u);
    expect(stdout).not.toContain("filesystem");
  });

  it("shows with --detail full how a tool is called, and its code", async () => {
    const { stdout } = await cem([...SAMPLES, "search", "get weather", "--detail", "full", "--max", "1"]);
    expect(stdout).toContain('import { get_weather } from "./servers/weather/index.ts";');
    expect(stdout).toContain('await get_weather({ location: "San Francisco" })');
    expect(stdout).toMatch(/^ +\d+ {2}export async function get_weather\(/mu);
  });

  it("says what to try where nothing fits", async () => {
    const { code, stdout } = await cem([...SAMPLES, "search", "order a pizza"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Nothing here fits\. Try other or fewer words.*cem tools/u);
    expect(stdout).toContain("no close match");
  });
});

describe("--json", () => {
  it.each([
    [["tools"], 0, "success"],
    [["tools", "weather"], 0, "success"],
    [["search", "weather", "--detail", "full"], 0, "success"],
    [["doctor"], 0, "success"],
    [["exec", "-"], 2, "error"],
    [["run", "Send an email to bob@example.com"], 1, "refused"],
    [["tools", "wether"], 2, "error"],
    [["exec", "missing.ts"], 2, "error"],
    [["run", "x", "--config", "wrong.yaml"], 2, "error"],
    [["run", "x", "--jsno"], 2, "error"],
    [["nonsense"], 2, "error"],
  ])("is one object and nothing else for %j", async (args, code, status) => {
    const given = await cem([...SAMPLES, "--json", ...args]);
    expect(given).toMatchObject({ code, stderr: "" });
    expect(given.stdout.trimEnd()).not.toContain("\n");
    expect(JSON.parse(given.stdout)).toMatchObject({ status });
  });
});

describe("wrong use", () => {
  it.each([
    [["run", ""], /There is no task/u],
    [["run", "-"], /stdin is empty/u],
    [["search", " "], /There is no query/u],
    [["exec", "missing.ts"], /missing\.ts can't be read: it is not there/u],
    [["exec", "folder"], /folder is not a file/u],
    [["exec", "empty.ts"], /empty\.ts is empty/u],
    [["exec", "latin1.ts"], /latin1\.ts is not UTF-8/u],
    [["exec", "/dev/zero"], /is not a file/u],
    [["tools", "--config", "wrong.yaml"], /wrong\.yaml:2 {2}execution\.sandbox_typ .*Did you mean/u],
    [["tools", "--config", "missing.yaml"], /missing\.yaml/u],
    [["init", "endless.ts"], /a file stands where a folder should be/u],
    [["call", "calculator.nope", ...SAMPLES], /has no tool "nope"/u],
    [["workflow", "run", "nope.yaml"], /the file does not exist/u],
    [["run", "x", "--customer", "../x"], /can't be a customer's id/u],
    [["rnu"], /Did you mean run\?/u],
  ])("ends with 2 and says why for %j", async (args, message) => {
    const { code, stdout, stderr } = await cem(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("finds a task whose bytes are not UTF-8", () => {
    const script = `${SHELL_COMMAND} run "$(printf 'caf\\351')"`;
    const { status, stderr } = spawnSync("sh", ["-c", script], { cwd, encoding: "utf8" });
    expect(status).toBe(2);
    expect(stderr).toContain("not valid UTF-8");
  });
});

describe.skipIf(process.platform === "win32")("being stopped", () => {
  const runs = (stdout: Readable): Promise<void> =>
    new Promise((resolve) => {
      stdout.on("data", (text: string) => text.includes("the code is running") && resolve());
    });
  const processes = (): string => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });

  it("ends on SIGINT with nothing left running, as a process", async () => {
    const workspace = temporaryFolder();
    const child = spawnCem(["exec", "../endless.ts", "--workspace", workspace], {
      cwd: path.join(cwd, "folder"),
    });
    await runs(child.stdout);
    expect(processes()).toContain(workspace);
    // A terminal and a parent may both send it.
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await child.ended).toMatchObject({ code: 130, stderr: "Stopped by Ctrl-C.\n" });
    expect(processes()).not.toContain(workspace);
  });

  it.each([
    ["SIGINT", 130, "Stopped by Ctrl-C.\n"],
    ["SIGTERM", 143, "Stopped from outside (SIGTERM).\n"],
    ["SIGHUP", 129, "Stopped: the terminal was closed.\n"],
  ] as const)("ends on %s with nothing left running", async (signal, code, message) => {
    const workspace = temporaryFolder();
    const running = startCem(["exec", "endless.ts", "--workspace", workspace], { cwd });
    await runs(running.stdout);
    running.signal(signal);
    running.signal(signal);
    expect(await running.ended).toMatchObject({ code, stderr: message });
    expect(processes()).not.toContain(workspace);
  });

  it("says so in JSON", async () => {
    const code = `import { write_file } from "./servers/filesystem/index.ts";
      await write_file({ path: "started", content: "" });
      for (;;) {}`;
    const folder = temporaryFolder();
    const args = ["exec", "-", "--json", ...SAMPLES, "--workspace", folder];
    const running = startCem(args, { cwd, input: code });
    await vi.waitFor(() => statSync(path.join(folder, "started")), { timeout: 60_000 });
    running.signal("SIGINT");
    const { code: exitCode, stdout } = await running.ended;
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ status: "error", error: { code: "INTERRUPTED" } });
  });

  it.skipIf(process.platform !== "linux")("fails when its answer can't be written", () => {
    const { status, stderr } = spawnSync("sh", ["-c", `${SHELL_COMMAND} init --json . > /dev/full`], {
      cwd: temporaryFolder(),
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("ENOSPC");
  });

  it("says nothing when nobody reads any more", () => {
    const script = `set -o pipefail; ${SHELL_COMMAND} tools ${SAMPLES.join(" ")} | head -1`;
    const { status, stderr } = spawnSync("bash", ["-c", script], { cwd, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("requests of cem", () => {
  it("take the proxy of the environment, but not to this machine", async () => {
    const asked: string[] = [];
    const listen = async (server: Server): Promise<number> => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      return (server.address() as AddressInfo).port;
    };
    const proxy = await listen(
      createServer().on("connect", ({ url = "" }, socket) => {
        asked.push(url);
        socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      }),
    );
    const near = await listen(createServer((_, response) => response.writeHead(418).end()));
    const folder = temporaryFolder();
    const servers = {
      far: { url: "https://mcp.example/mcp" },
      near: { url: `http://127.0.0.1:${near}/mcp` },
    };
    writeFileSync(path.join(folder, "config.yaml"), JSON.stringify({ mcp_servers: servers }));
    const url = `http://127.0.0.1:${proxy}`;
    const env = { HTTPS_PROXY: url, HTTP_PROXY: url, CEM_TRUST_FOLDER: "1" };
    const { stdout } = await spawnCem(["generate", "--json"], { cwd: folder, env }).ended;
    expect(stdout).toContain("answered with HTTP status 418");
    expect(new Set(asked)).toEqual(new Set(["mcp.example:443"]));
  });
});
