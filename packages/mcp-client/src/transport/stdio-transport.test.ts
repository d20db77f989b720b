import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProcessRunning } from "@cem/core/files";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, node, odd, until } from "../../fixtures/servers.ts";
import { createStdioTransport, networkEnvironment } from "./stdio-transport.ts";

const signal = new AbortController().signal;

describe("environment of a server", () => {
  it("holds what is safe and what was given, and no more", async () => {
    process.env["SECRET_OF_THE_HOST"] = "x";
    const transport = node(fileURLToPath(new URL("../../fixtures/odd-server.ts", import.meta.url)));
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

describe.runIf(process.platform === "linux")("a server that npx does not find", () => {
  it.each([
    ["@scope/server", / \(npx found @scope\/server among .*; @scope\/server@latest is fetched/],
    ["@scope/server@1.2.3", /not found$/],
  ])("is told of with what helps: %s", async (name, message) => {
    const folder = mkdtempSync(join(tmpdir(), "cem-npx-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const command = join(folder, "npx");
    writeFileSync(command, "#!/bin/sh\necho 'sh: 1: server: not found' >&2\nexit 127\n", { mode: 0o755 });
    const transport = createStdioTransport(
      { kind: "stdio", command, args: ["-y", name] },
      { onStderr: () => {} },
    );
    await transport.start();
    await transport.waitForExit();
    expect(transport.describeExit()).toMatch(message);
  });
});

describe.runIf(process.platform === "linux")("a package that npm does not find", () => {
  it.each([
    [
      "npm error code E404\nnpm error 404 The requested resource '@a/b@*' could not be found\nnpm error 404",
      "@a/b",
    ],
    [
      "npm ERR! 404 Not Found - GET https://r.example/@a%2fb\nnpm ERR! 404  '@a/b@2' is not in this registry.",
      "@a/b@2",
    ],
    [
      "npm error code ETARGET\nnpm error notarget No matching version found for b@99.0.0.\nnpm notice",
      "b@99.0.0",
    ],
  ])("is named, without npm's own text: %j", async (words, missing) => {
    const transport = createStdioTransport(
      { kind: "stdio", command: "sh", args: ["-c", 'printf "%s\\n" "$1" >&2; exit 1', "sh", words] },
      { onStderr: () => {} },
    );
    await transport.start();
    await transport.waitForExit();
    expect(transport.describeExit()).toBe(`npm has no package "${missing}". Check its name and version`);
  });
});

it("tells why Node could not run a server, not where in Node that was found", async () => {
  const place = join(tmpdir(), "not-built-yet.js");
  const settings = { kind: "stdio", command: process.execPath, args: [place] } as const;
  const transport = createStdioTransport(settings, { onStderr: () => {} });
  await transport.start();
  await transport.waitForExit();
  expect(transport.describeExit()).toContain(`Error: Cannot find module '${place}'`);
  expect(transport.describeExit()).not.toContain("    at ");
});

describe("close", () => {
  it.runIf(process.platform === "linux")("ends what has left the server's group", async () => {
    const connections = connect([odd("plain")]);
    const { content } = await connections.callTool("odd", "leave_group", {}, { signal });
    const pid = Number((content[0] as { text: string }).text);
    expect(isProcessRunning(pid)).toBe(true);
    await connections.close();
    await until(() => !isProcessRunning(pid));
  });

  it.runIf(process.platform === "linux")("ends a server that will not go, and what it started", async () => {
    const { transport: settings } = odd("stubborn");
    if (settings.kind !== "stdio") throw new Error("The server is started over stdio.");
    const transport = createStdioTransport(settings, { onStderr: () => {} });
    const ready = new Promise((resolve) => Object.assign(transport, { onmessage: resolve }));
    await transport.start();
    await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    await ready;
    const pid = transport.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
    expect(children).toHaveLength(1);
    await transport.close();
    expect(isProcessRunning(pid)).toBe(false);
    // A process whose parent is gone is reaped by the system's first process.
    await expect.poll(() => children.filter(isProcessRunning)).toEqual([]);
    expect(transport.describeExit()).toBe("its process was ended by SIGKILL");
  });

  it("ends a server that goes, for good", async () => {
    const connections = connect([odd("plain")]);
    await connections.listTools("odd");
    const pid = connections.status()[0]?.pid ?? 0;
    await connections.close();
    expect(isProcessRunning(pid)).toBe(false);
    expect(connections.status()).toMatchObject([{ state: "closed" }]);
    await expect(connections.listTools("odd")).rejects.toMatchObject({ code: "SERVER_CLOSED" });
    await connections.close();
  });

  it("ends calls that are under way", async () => {
    const connections = connect([odd("plain")]);
    await connections.listTools("odd");
    const call = connections.callTool("odd", "silent", {}, { signal });
    call.catch(() => {});
    await connections.untilLogged("silent");
    await connections.close();
    await expect(call).rejects.toMatchObject({ code: "SERVER_CLOSED" });
  });

  it.each(["exit", "kill"])("is not needed when the host ends by %s", async (end) => {
    const host = fileURLToPath(new URL("../../fixtures/host.ts", import.meta.url));
    const child = spawn(process.execPath, ["--conditions=@cem/source", host, end], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const pids = await new Promise<number[]>((resolve) => {
      child.stdout.once("data", (data: Buffer) => resolve(JSON.parse(data.toString()) as number[]));
    });
    expect(pids).toHaveLength(2);
    if (end === "kill") child.kill("SIGKILL");
    await until(() => !pids.some(isProcessRunning));
  });
});

describe("networkEnvironment", () => {
  it("takes what says how to reach the network, and no more", () => {
    const network = {
      HTTPS_PROXY: "http://proxy:1",
      no_proxy: "localhost",
      NODE_EXTRA_CA_CERTS: "/ca.pem",
      npm_config_registry: "https://npm.example",
    };
    const other = {
      AWS_SECRET_ACCESS_KEY: "x",
      NODE_OPTIONS: "--inspect",
      MY_HTTP_PROXY: "x",
      NPM_TOKEN: "x",
    };
    expect(networkEnvironment({ ...network, ...other })).toEqual(network);
  });
});
