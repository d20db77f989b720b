import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { connect, isAlive, node, odd, reference, twoEra, until } from "../fixtures/servers.ts";

const signal = new AbortController().signal;

describe("createMcpConnections", () => {
  it("starts nothing before it is needed", async () => {
    await using connections = connect([odd("plain")]);
    expect(connections.status()).toEqual([{ name: "odd", state: "idle", transport: "stdio" }]);
  });

  it("shares one connection between callers", async () => {
    await using connections = connect([odd("plain")]);
    await Promise.all(
      Array.from({ length: 10 }, () => connections.callTool("odd", "echo", { text: "a" }, { signal })),
    );
    const [before] = connections.status();
    await connections.callTool("odd", "echo", { text: "a" }, { signal });
    expect(before?.pid).toBeTypeOf("number");
    expect(connections.status()[0]?.pid).toBe(before?.pid);
  });

  it.each(["server-everything", "server-memory", "server-sequential-thinking"])(
    "talks to %s",
    async (name) => {
      await using connections = connect([reference(name)]);
      const [status] = await connections.check();
      expect(status).toMatchObject({ state: "ready", transport: "stdio", protocol: "2025-11-25" });
      expect(status?.toolCount).toBeGreaterThan(0);
      expect(status?.latencyMs).toBeGreaterThan(0);
    },
  );

  it("reads a folder through server-filesystem", async () => {
    const folder = fileURLToPath(new URL("../fixtures", import.meta.url));
    await using connections = connect([reference("server-filesystem", folder)]);
    const file = `${folder}/servers.ts`;
    const result = await connections.callTool("filesystem", "read_text_file", { path: file }, { signal });
    expect(JSON.stringify(result.content)).toContain("Connections that are closed when the test ends");
  });

  it("names the server that was probably meant", async () => {
    await using connections = connect([odd("plain", { name: "weather" })]);
    await expect(connections.listTools("wether")).rejects.toMatchObject({
      code: "SERVER_NOT_FOUND",
      message: 'There is no server "wether". Did you mean "weather"?',
    });
  });

  it("does not start a server that is switched off", async () => {
    await using connections = connect([odd("plain", { enabled: false })]);
    expect(await connections.check()).toMatchObject([{ state: "disabled" }]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({ code: "SERVER_DISABLED" });
  });

  it("lets no server wait for another", async () => {
    await using connections = connect([
      odd("hang", { name: "hanging", connectTimeoutMs: 60_000 }),
      odd("plain"),
    ]);
    const hanging = connections.listTools("hanging");
    hanging.catch(() => {});
    expect((await connections.listTools("odd")).tools.length).toBeGreaterThan(0);
    expect(connections.status()).toMatchObject([{ state: "connecting" }, { state: "ready" }]);
  });
});

describe("a server that is down", () => {
  it("is reported with how its process ended and what it said, without secrets", async () => {
    await using connections = connect([odd("crash-at-start", { secrets: ["ABCDEF-secret"] })]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message:
        'Server "odd" is down: its process exited with code 3 after writing: fatal: no API key [redacted] given',
    });
    expect(connections.status()).toMatchObject([{ state: "down", lastError: { code: "SERVER_DOWN" } }]);
    expect(connections.logged).toContainEqual({
      server: "odd",
      level: "info",
      source: "stderr",
      message: "fatal: no API key [redacted] given",
    });
  });

  it("is not tried again before its time, unless asked", async () => {
    await using connections = connect([odd("crash-at-start")]);
    await expect(connections.listTools("odd")).rejects.toThrow("exited with code 3");
    await expect(connections.listTools("odd")).rejects.toThrow(/The next attempt is in \d+ ms/);
    expect(connections.status()[0]?.retryInMs).toBeGreaterThan(0);
    const starts = (): number => connections.logged.filter(({ source }) => source === "stderr").length;
    expect(starts()).toBe(1);
    await connections.check();
    expect(starts()).toBe(2);
  });

  it("is given up when it does not answer in time", async () => {
    await using connections = connect([odd("hang", { connectTimeoutMs: 300 })]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message: 'Server "odd" did not answer within 300 ms.',
    });
  });

  it("is named when its command is not there", async () => {
    await using connections = connect([
      { name: "x", transport: { kind: "stdio", command: "no-such-program" } },
    ]);
    await expect(connections.listTools("x")).rejects.toThrow(
      'its command "no-such-program" can\'t be started (ENOENT)',
    );
  });

  it("keeps its last list, and is connected again when it is used", async () => {
    await using connections = connect([odd("plain")]);
    const { tools } = await connections.listTools("odd");
    const failure = connections.callTool("odd", "crash", {}, { signal });
    await expect(failure).rejects.toMatchObject({
      code: "SERVER_DOWN",
      message:
        'Server "odd" is down: its process exited with code 7 after writing: fatal: the disk is on fire',
    });
    expect(connections.status()).toMatchObject([{ state: "down", toolCount: tools.length }]);
    expect(connections.knownTools("odd")?.tools).toHaveLength(tools.length);
    const result = await connections.callTool("odd", "echo", { text: "back" }, { signal });
    expect(result.content).toEqual([{ type: "text", text: "back" }]);
  });
});

describe("stray output of a server", () => {
  it("does not disturb it", async () => {
    await using connections = connect([odd("garbage")]);
    const result = await connections.callTool("odd", "echo", { text: "a" }, { signal });
    expect(result.content).toEqual([{ type: "text", text: "a" }]);
    expect(connections.logged.map(({ message }) => message)).toContain(
      "The server wrote a line that is not a message: Welcome to the server!",
    );
  });

  it("makes it down when there is nothing else", async () => {
    await using connections = connect([odd("only-garbage", { connectTimeoutMs: 500 })]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({ code: "SERVER_DOWN" });
  });
});

describe("limits of a server", () => {
  it("ends a call whose time is up, and tells the server", async () => {
    await using connections = connect([odd("plain", { timeoutMs: 200 })]);
    await expect(connections.callTool("odd", "wait", { ms: 60_000 }, { signal })).rejects.toMatchObject({
      code: "TOOL_TIMEOUT",
      message: 'Server "odd" did not answer within 200 ms.',
    });
    await until(() => connections.logged.some(({ message }) => message.startsWith("cancelled")));
  });

  it("carries a cancellation to the server", async () => {
    await using connections = connect([odd("plain")]);
    const controller = new AbortController();
    await connections.listTools("odd");
    const call = connections.callTool("odd", "wait", { ms: 60_000 }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await until(() => connections.logged.some(({ message }) => message.startsWith("cancelled")));
  });

  it("frees a caller that waits for its turn when it is cancelled", async () => {
    await using connections = connect([odd("plain", { concurrency: 1 })]);
    const first = connections.callTool("odd", "wait", { ms: 400 }, { signal });
    const controller = new AbortController();
    const second = connections.callTool("odd", "echo", { text: "b" }, { signal: controller.signal });
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: "ABORTED" });
    expect((await first).content).toEqual([{ type: "text", text: "waited" }]);
  });

  it("holds the number of calls at once", async () => {
    await using connections = connect([odd("plain", { concurrency: 3 })]);
    await Promise.all(
      Array.from({ length: 9 }, () => connections.callTool("odd", "wait", { ms: 30 }, { signal })),
    );
    const { content } = await connections.callTool("odd", "most_at_once", {}, { signal });
    expect(content).toEqual([{ type: "text", text: "3" }]);
  });

  it("passes progress on", async () => {
    await using connections = connect([odd("plain")]);
    const seen: unknown[] = [];
    await connections.callTool("odd", "count", {}, { signal, onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([
      { progress: 1, total: 3, message: "step 1" },
      { progress: 2, total: 3, message: "step 2" },
      { progress: 3, total: 3, message: "step 3" },
    ]);
  });
});

describe("environment of a server", () => {
  it("holds what is safe and what was given, and no more", async () => {
    process.env["SECRET_OF_THE_HOST"] = "x";
    const transport = node(fileURLToPath(new URL("../fixtures/odd-server.ts", import.meta.url)));
    await using connections = connect([
      { name: "odd", transport: { ...transport, env: { GIVEN: "1" } } as never },
    ]);
    const { content } = await connections.callTool("odd", "environment", {}, { signal });
    const names = JSON.parse((content[0] as { text: string }).text) as string[];
    expect(names).toContain("PATH");
    expect(names).toContain("GIVEN");
    expect(names).not.toContain("SECRET_OF_THE_HOST");
  });
});

describe("close", () => {
  it.runIf(process.platform === "linux")("ends a server that will not go, and what it started", async () => {
    const connections = connect([odd("stubborn")]);
    await connections.listTools("odd");
    const pid = connections.status()[0]?.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
    expect(children).toHaveLength(1);
    await connections.close();
    expect([pid, ...children].filter(isAlive)).toEqual([]);
    expect(connections.status()).toMatchObject([{ state: "closed" }]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({ code: "SERVER_CLOSED" });
    await connections.close();
  });

  it("ends calls that are under way", async () => {
    const connections = connect([odd("plain")]);
    await connections.listTools("odd");
    const call = connections.callTool("odd", "silent", {}, { signal });
    call.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    await connections.close();
    await expect(call).rejects.toMatchObject({ code: "SERVER_CLOSED" });
  });

  it("is not needed when the host ends or is killed", async () => {
    const host = fileURLToPath(new URL("../fixtures/host.ts", import.meta.url));
    for (const end of ["exit", "kill"]) {
      const child = spawn(process.execPath, ["--conditions=@cem/source", host, end], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const pids = await new Promise<number[]>((resolve) => {
        child.stdout.once("data", (data: Buffer) => resolve(JSON.parse(data.toString()) as number[]));
      });
      expect(pids).toHaveLength(end === "exit" ? 2 : 1);
      if (end === "kill") child.kill("SIGKILL");
      await until(() => !pids.some(isAlive));
    }
  });
});

describe("both generations of the protocol", () => {
  it.each([
    [{}, [], "2025-11-25"],
    [{ protocol: "legacy" }, [], "2025-11-25"],
    [{ protocol: "2026-07-28" }, [], "2026-07-28"],
    [{}, ["modern-only"], "2026-07-28"],
  ] as const)("are spoken over stdio: %o %o", async (more, args, protocol) => {
    await using connections = connect([twoEra(more, ...args)]);
    const { structuredContent } = await connections.callTool("two-era", "add", { a: 1, b: 2 }, { signal });
    expect(structuredContent).toEqual({ sum: 3 });
    expect(await connections.listTools("two-era")).toMatchObject({
      protocol,
      server: { name: "two-era", version: "2.1.0" },
      leftOut: [],
    });
  });
});
