import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

// A real server and several clients of it. What one of them sends may cost the thread that serves all so much processor
// time at a stretch, and no more: without bounds and threads it is seconds.
const MAX_BLOCK_MS = 400;
const MAX_ANSWER_BYTES = 512 * 1024;
const root = path.resolve(import.meta.dirname, "../../../..");
const cwd = mkdtempSync(path.join(tmpdir(), "cem-hostile-"));

let server: ChildProcess;
let url = "";

beforeAll(async () => {
  const config = {
    execution: { serversDir: path.join(root, "servers") },
    logging: { level: "ERROR", file: path.join(cwd, "log") },
  };
  server = fork(
    path.join(import.meta.dirname, "../../fixtures/measured-server.ts"),
    [JSON.stringify({ cwd, configFile: false, config })],
    { execArgv: ["--conditions=@cem/source"] },
  );
  const [started] = (await once(server, "message")) as [{ url: string }];
  url = started.url;
  const friend = await connect("127.0.1.1");
  // Modules that are loaded at first use would count as a block.
  await friend.call("execute_code", { code: "return 1;" });
  await friend.call("execute_task", { task_description: "add 5 and 3" });
  await friend.call("search_tools", { query: "add numbers" });
});
afterAll(async () => {
  server.disconnect();
  await once(server, "exit");
  rmSync(cwd, { recursive: true, force: true });
});

/** The longest block of the serving thread since the last call, in milliseconds of its processor time. */
async function longestBlock(): Promise<number> {
  server.send("");
  const [{ cpuMs }] = (await once(server, "message")) as [{ cpuMs: number }];
  return cpuMs;
}

interface Answer {
  status: number;
  session: string;
  bytes: number;
  text: string;
}

interface Connection {
  post(body: string): Promise<Answer>;
  call(name: string, args: object): Promise<Answer>;
}

/** A client at an address of its own, in a session of the older protocol, which knows most methods. */
async function connect(localAddress: string): Promise<Connection> {
  const agent = new Agent({ keepAlive: true, ...(process.platform === "linux" && { localAddress }) });
  let session = "";
  const post = (body: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== "" && { "mcp-session-id": session }),
      };
      const sent = request(url, { method: "POST", agent, headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.once("end", () => {
          const all = Buffer.concat(pieces);
          resolve({
            status: response.statusCode ?? 0,
            session: String(response.headers["mcp-session-id"] ?? ""),
            bytes: all.length,
            text: all.toString("utf8", 0, 2_000),
          });
        });
        response.once("error", reject);
      });
      sent.once("error", reject).end(body);
    });
  ({ session } = await post(INITIALIZE));
  return { post, call: (name, args) => post(called(name, JSON.stringify(args))) };
}

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
});
const called = (name: string, args: string): string =>
  `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
const many = (count: number, one: (at: number) => string, separator = ","): string =>
  Array.from({ length: count }, (_, at) => one(at)).join(separator);
const code = (text: string): string => called("execute_code", JSON.stringify({ code: text }));
const task = (text: string): string => called("execute_task", JSON.stringify({ task_description: text }));
const MB = 1024 * 1024;

/** The most expensive requests that a client can send. */
const HOSTILE: [string, () => string][] = [
  ["a long task", () => task("add 1 and 2 and then ".repeat(3_000))],
  ["a task of some thousand characters", () => task("add 1 and 2 and then ".repeat(150))],
  ["a task with a number of 65,000 digits", () => task(`add 5 and ${"1".repeat(65_000)}`)],
  ["a task of quotes", () => task("“".repeat(60_000))],
  ["a long program of strings", () => code(many(10_000, (at) => `"a${at}";`, "\n").slice(0, 127_000))],
  ["a long program of names that are not there", () => code(many(5_000, (at) => `await no${at}({});`, "\n"))],
  ["a program nested deeply", () => code(`${"(".repeat(20_000)}1${")".repeat(20_000)}`)],
  ["a program of generics", () => code("a<b<".repeat(30_000))],
  [
    "a large result with personal data",
    () =>
      code(`return Array.from({ length: 10_000 }, (_, id) => ({ id, mail: "a" + id + "@example.com" }));`),
  ],
  [
    "much output with personal data",
    () => code(`for (let at = 0; at < 20_000; at++) console.log("a" + at + "@example.com");`),
  ],
  ["90,000 unknown arguments", () => called("list_servers", `{${many(90_000, (at) => `"a${at}":1`)}}`)],
  [
    "unknown arguments, as many as a body may have",
    () => called("list_servers", `{${many(19_000, (at) => `"a${at}":1`)}}`),
  ],
  ["an argument with a name of a megabyte", () => called("list_servers", `{"${"a".repeat(MB - 1_000)}":1}`)],
  [
    "an argument of a megabyte",
    () => called("get_server_tools", `{"server_name":"${"x".repeat(MB - 1_000)}"}`),
  ],
  ["a tool with a name of a megabyte", () => called("x".repeat(MB - 1_000), "{}")],
  [
    "a number of a megabyte",
    () => called("search_tools", `{"query":"x","max_results":${"9".repeat(MB - 1_000)}}`),
  ],
  ["100,000 brackets", () => called("list_servers", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)],
  ["half a megabyte of brackets that are not closed", () => "[".repeat(MB / 2)],
  ["a name 100,000 times", () => called("list_servers", `{${many(100_000, () => `"a":1`)}}`)],
  [
    "a client that says much of itself",
    () =>
      INITIALIZE.replace(
        `"capabilities":{}`,
        `"capabilities":{"experimental":{${many(19_000, (at) => `"a${at}":{}`)}}}`,
      ),
  ],
  ["a client with a long name", () => INITIALIZE.replace(`"name":"t"`, `"name":"${"t".repeat(MB - 1_000)}"`)],
  [
    "a batch of all that it may have",
    () => `[${many(50, (at) => `{"jsonrpc":"2.0","id":${at + 9},"method":"tools/list"}`)}]`,
  ],
  ["a batch of 10,000", () => `[${many(10_000, () => `{"jsonrpc":"2.0","method":"a"}`)}]`],
  [
    "a skill of a megabyte",
    () =>
      called(
        "save_skill",
        JSON.stringify({ name: "s", description: "d", test: "t", code: "f();".repeat(200_000) }),
      ),
  ],
  [
    "state of 19,000 values",
    () =>
      called("save_state", `{"state_file":"s.yaml","state_data":{${many(19_000, (at) => `"a${at}":1`)}}}`),
  ],
  ["that state again", () => called("get_state", `{"state_file":"s.yaml"}`)],
  [
    "a large state that a program wrote",
    () => code(`await Deno.writeTextFile("state.json", JSON.stringify(Array(1_000_000).fill([])));`),
  ],
  ["to read it", () => called("get_state", "{}")],
  [
    "a long search",
    () => called("search_tools", JSON.stringify({ query: many(20_000, (at) => `w${at}`, " ") })),
  ],
  [
    "a search as long as it may be",
    () => called("search_tools", JSON.stringify({ query: "天気予報を東京で調べて".repeat(370) })),
  ],
];

/** Those that are run, and so are answered after what is only looked up. */
const IN_GUESTS = new Set([
  "a long program of strings",
  "a large result with personal data",
  "much output with personal data",
  "a large state that a program wrote",
]);

describe("one client's hostile requests", () => {
  it.each(HOSTILE)("hold up nobody: %s", async (title, body) => {
    const [hostile, friend] = [await connect("127.0.1.2"), await connect("127.0.1.3")];
    const text = body();
    await longestBlock();
    const order: string[] = [];
    const answered = hostile.post(text).then((answer) => {
      order.push("hostile");
      return answer;
    });
    const listed = friend.call("list_servers", {}).then((answer) => {
      order.push("friend");
      return answer;
    });
    expect((await listed).text).toContain("calculator");
    const { status, bytes } = await answered;
    const cpuMs = await longestBlock();
    expect([status, cpuMs < MAX_BLOCK_MS ? "short" : cpuMs, bytes < MAX_ANSWER_BYTES || bytes]).toEqual([
      expect.toBeOneOf([200, 400, 413]),
      "short",
      true,
    ]);
    expect(IN_GUESTS.has(title) ? order : order.toSorted()).toEqual(["friend", "hostile"]);
  });

  it("hold up no run of others: four long tasks at once", async () => {
    const friend = await connect("127.0.1.3");
    await longestBlock();
    const hostile = await Promise.all(["a", "b", "c", "d"].map(() => connect("127.0.1.2")));
    const all = hostile.map((one) => one.post(task("add 1 and 2 and then ".repeat(250))));
    const { text } = await friend.call("execute_code", { code: "return 6 * 7;" });
    expect(text).toContain(String.raw`\"result\":42`);
    await Promise.all(all);
    expect(await longestBlock()).toBeLessThan(MAX_BLOCK_MS);
  });
});
