import type { Elicit, JsonObject } from "@cem/core";
import { isProcessRunning } from "@cem/core/files";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { accounts, connect, odd, twoEra, until } from "../../fixtures/servers.ts";
import type { TestConnections } from "../../fixtures/servers.ts";
import { serve, startEverything } from "../../fixtures/start-http.ts";
import { createTwoEraServer } from "../../fixtures/two-era-server.ts";
import { ConnectionHealth } from "./open-client.ts";
import { createConnectionPool } from "./connection-pool.ts";
import type { CallOptions } from "./connection-types.ts";
import { createConnection } from "./connection.ts";

const signal = new AbortController().signal;
const client = { identity: { name: "test", version: "1" }, redact: (text: string) => text, log: () => {} };

async function mostAtOnce(connections: TestConnections, options: Partial<CallOptions>): Promise<unknown> {
  const { content } = await connections.callTool("odd", "most_at_once", {}, { signal, ...options });
  return content;
}

/** Calls a tool of the server that keeps its user. */
async function ask(
  connections: TestConnections,
  tool: string,
  args: JsonObject,
  options: Partial<CallOptions>,
): Promise<{ user: string; pid: number; mostAtOnce?: number }> {
  const { content } = await connections.callTool("accounts", tool, args, { signal, ...options });
  const [{ text }] = content as [{ text: string }];
  return JSON.parse(text) as { user: string; pid: number };
}

const decline = (): Elicit => async () => ({ action: "decline" });

function serveModern() {
  const handle = toNodeHandler(createMcpHandler(() => createTwoEraServer()));
  return serve((request, response) => void handle(request as never, response));
}

const said = (text: string) => [{ type: "text", text }];

describe.concurrent("the connections to a server", () => {
  it("keep what one session does from another, and give a session the same one again", async () => {
    await using connections = connect([odd("plain")]);
    const wait = () => connections.callTool("odd", "wait", { calls: 3 }, { signal, session: "ada" });
    await Promise.all([wait(), wait(), wait()]);
    expect(await mostAtOnce(connections, { session: "bob" })).toEqual(said("0"));
    expect(await mostAtOnce(connections, { session: "ada" })).toEqual(said("3"));
  });

  it("are one where the entry says so", async () => {
    await using connections = connect([odd("plain", { connections: "shared" })]);
    const wait = (session: string) => connections.callTool("odd", "wait", { calls: 3 }, { signal, session });
    await Promise.all(["ada", "bob", "eve"].map(wait));
    expect(await mostAtOnce(connections, { session: "fay" })).toEqual(said("3"));
  });

  it.each(["auto", "session", undefined] as const)(
    "are one for a session, whose runs at once meet its state: %s",
    async (connections) => {
      await using servers = connect([accounts({ connections })]);
      await ask(servers, "login", { name: "ada" }, { session: "ada", run: "0", elicit: decline() });
      const runs = await Promise.all(
        ["1", "2", "3"].map((run) =>
          ask(servers, "wait", { calls: 3 }, { session: "ada", run, elicit: decline() }),
        ),
      );
      expect(runs.map(({ user }) => user)).toEqual(["ada", "ada", "ada"]);
      expect(new Set(runs.map(({ pid }) => pid)).size).toBe(1);
      expect(runs.at(-1)?.mostAtOnce).toBe(3);
      expect((await ask(servers, "whoami", {}, { session: "bob" })).user).toBe("nobody");
    },
  );

  it("are further ones for a session's runs at once where the entry says so", async () => {
    await using servers = connect([accounts({ connections: "run" })]);
    const wait = (run: string, calls: number) =>
      ask(servers, "wait", { calls }, { session: "ada", run, elicit: decline() });
    const runs = await Promise.all([wait("1", 2), wait("1", 2), wait("2", 1)]);
    expect(new Set(runs.map(({ pid }) => pid)).size).toBe(2);
    expect(runs[0]?.pid).toBe(runs[1]?.pid);
  });

  it("are a run's own while it lasts, where it has no session, and then another's", async () => {
    await using servers = connect([accounts()]);
    const one = new AbortController();
    // Redaction wraps the function anew for each call, so it cannot identify the run.
    const of = (run: string, ending = one) => ({ run, signal: ending.signal, elicit: decline() });
    const { pid } = await ask(servers, "login", { name: "ada" }, of("1"));
    const other = await ask(servers, "whoami", {}, of("2", new AbortController()));
    expect(other).toMatchObject({ user: "nobody" });
    const own = await Promise.all([1, 2].map(() => ask(servers, "wait", { calls: 2 }, of("1"))));
    expect(own).toMatchObject([
      { user: "ada", pid },
      { user: "ada", pid },
    ]);
    one.abort();
    expect(await ask(servers, "whoami", {}, of("3", new AbortController()))).toMatchObject({ pid });
  });

  it("stay with a run under way where another one has to go", async () => {
    await using servers = connect([accounts({ maxConnections: 2 })]);
    const ended = new AbortController();
    const lasting = new AbortController();
    const { pid } = await ask(servers, "login", { name: "ada" }, { run: "1", signal: lasting.signal });
    await ask(servers, "whoami", {}, { run: "2", signal: ended.signal });
    ended.abort();
    await ask(servers, "whoami", {}, { session: "bob" });
    expect(await ask(servers, "whoami", {}, { run: "1", signal: lasting.signal })).toMatchObject({
      user: "ada",
      pid,
    });
  });

  it("pass a question to the session that called, though several of its runs share one", async () => {
    await using servers = connect([accounts()]);
    const bothAsked = Promise.withResolvers<void>();
    let questions = 0;
    // Neither is answered before both are asked, so that both calls are under way on the connection.
    const acceptTogether: Elicit = async () => {
      if (++questions === 2) bothAsked.resolve();
      await bothAsked.promise;
      return { action: "accept", content: { name: "Ada" } };
    };
    const accept: Elicit = async () => ({ action: "accept", content: { name: "Bob" } });
    const [one, two, others] = await Promise.all([
      ask(servers, "login", {}, { session: "ada", run: "1", elicit: acceptTogether }),
      ask(servers, "login", {}, { session: "ada", run: "2", elicit: acceptTogether }),
      ask(servers, "login", {}, { session: "bob", run: "3", elicit: accept }),
    ]);
    expect([one.user, two.user, others.user]).toEqual(["Ada", "Ada", "Bob"]);
    expect(two.pid).toBe(one.pid);
    expect(others.pid).not.toBe(one.pid);
  });

  it("are at most so many: the one unused for longest makes room, and calls wait for one in use", async () => {
    await using connections = connect([odd("plain", { maxConnections: 2 })]);
    const wait = (session: string, ms: number) =>
      connections.callTool("odd", "wait", { ms }, { signal, session });
    const three = await Promise.all([wait("ada", 100), wait("bob", 100), wait("eve", 0)]);
    expect(three).toHaveLength(3);
    const closed = connections.logged.filter(({ message }) => message.includes("2 are open"));
    expect(closed).toHaveLength(1);
  });

  it("say that all are in use, when none becomes free in time", async () => {
    await using connections = connect([twoEra({ protocol: "legacy", maxConnections: 1, timeoutMs: 5_000 })]);
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const elicit: Elicit = async () => {
      asked.resolve();
      await answered.promise;
      return { action: "accept", content: { name: "Ada" } };
    };
    const ada = connections.callTool("two-era", "greet", {}, { signal, elicit, session: "ada" });
    await asked.promise;
    const bob = connections.callTool("two-era", "add", { a: 1, b: 1 }, { signal, session: "bob" });
    await expect(bob).rejects.toMatchObject({
      code: "SERVER_BUSY",
      details: { server: "two-era", maxConnections: 1, timeoutMs: 5_000 },
    });
    answered.resolve();
    expect((await ada).content).toEqual(said("Hello Ada"));
  });

  it("are closed when nobody uses them, but for the last and those that watch something", async () => {
    const settings = odd("plain");
    const health = new ConnectionHealth();
    const context = { ...client, health, onToolsChanged() {}, onContentsChanged() {} };
    const create = () => createConnection(settings, context);
    const pool = createConnectionPool(settings, create, () => {}, 50);
    await using disposed = { pool, [Symbol.asyncDispose]: () => pool.close() };
    const pids: number[] = [];
    for (const session of ["ada", "bob", "eve"]) {
      await pool.use({ session }, signal, async (connection) => {
        await connection.open(signal);
        pids.push(connection.current?.process?.pid ?? 0);
        if (session === "ada") connection.current?.watched.add("note://1");
      });
    }
    await until(() => pids.filter((pid) => isProcessRunning(pid)).length === 1);
    expect(disposed.pool.connections.map(({ current }) => current?.process?.pid)).toEqual([pids[0]]);
  });

  it.each([
    ["legacy", "trigger-elicitation-request", () => startEverything("streamableHttp")],
    ["2026-07-28", "greet", () => serveModern()],
  ] as const)(
    "know over HTTP (%s) which call asks, also where all share one",
    async (protocol, tool, start) => {
      const running = await start();
      await using server = { ...running, [Symbol.asyncDispose]: () => running.close() };
      const transport = { kind: "http", url: `http://127.0.0.1:${server.port}/mcp` } as const;
      await using connections = connect([{ name: "remote", transport, protocol, connections: "shared" }]);
      const all = Promise.withResolvers<void>();
      let asked = 0;
      const ask = async (name: string, session: string) => {
        const elicit: Elicit = async () => {
          if (++asked === 3) all.resolve();
          await all.promise;
          return { action: "accept", content: { name } };
        };
        const { content } = await connections.callTool("remote", tool, {}, { signal, session, elicit });
        return JSON.stringify(content).includes(name);
      };
      expect(await Promise.all([ask("Ada", "a"), ask("Bob", "b"), ask("Eve", "b")])).toEqual([
        true,
        true,
        true,
      ]);
    },
  );

  it("are shared by default where the protocol keeps no state", async () => {
    await using connections = connect([twoEra({ protocol: "2026-07-28", maxConnections: 1 })]);
    const sleep = (session: string) =>
      connections.callTool("two-era", "sleep", { ms: 100 }, { signal, session });
    await Promise.all(["ada", "bob", "eve", "fay"].map(sleep));
    expect(connections.logged.filter(({ message }) => message.includes("was closed"))).toEqual([]);
  });
});
