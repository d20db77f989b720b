import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { ask, at, INITIALIZE, post, servesInTests } from "../../fixtures/serve.ts";
import { createLogger } from "../logger.ts";
import { parseMeasured } from "./json-body.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../limits.ts";

const serve = servesInTests(createLocalAgent().agent);

const TOO_MANY = `more than ${MAX_JSON_VALUES} values`;
const TOO_DEEP = `more than ${MAX_JSON_DEPTH} levels`;

describe("JSON", () => {
  it.each<[string, string, string | undefined]>([
    ["a request", INITIALIZE, undefined],
    ["as many values as may be", `[${"1,".repeat(MAX_JSON_VALUES - 2)}1]`, undefined],
    ["one value more", `[${"1,".repeat(MAX_JSON_VALUES - 1)}1]`, TOO_MANY],
    ["empty lists", `[${"[],".repeat(MAX_JSON_VALUES / 2)}1]`, TOO_MANY],
    ["properties of one name", `{${`"a":1,`.repeat(MAX_JSON_VALUES)}"a":1}`, TOO_MANY],
    ["as many levels as may be", "[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH), undefined],
    ["one level more", `{"a":${"[".repeat(MAX_JSON_DEPTH)}`, TOO_DEEP],
    ["a long text", `["${"x".repeat(50_000)}", 1]`, undefined],
    ["marks in a text", `["${"[{,:".repeat(10_000)}"]`, undefined],
    ["escaped quotes", String.raw`["${String.raw`\"[,`.repeat(20_000)}\\", 1]`, undefined],
    [
      "marks behind a text that ends with a backslash",
      String.raw`["\\"${",1".repeat(MAX_JSON_VALUES)}]`,
      TOO_MANY,
    ],
    ["a long name", `{"${"x".repeat(1_025)}" : 1}`, "a name of 1025 bytes, and 1024 are the most"],
    ["a text that does not end", `["${",".repeat(50_000)}`, undefined],
    ["what is no JSON", "x".repeat(1_025), undefined],
    ["many spaces", `[${" ".repeat(5_000)}1]`, undefined],
  ])("is measured: %s", (_, text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });
});

/** Too much of what a text has as JSON. `undefined` for what is no JSON, too. */
function problemOf(text: string): string | undefined {
  try {
    parseMeasured(Buffer.from(text));
    return undefined;
  } catch (error) {
    return error instanceof RangeError ? error.message : undefined;
  }
}

describe("a body over HTTP", () => {
  it("is refused with what it has too much of, and the connection stays", async () => {
    const { url } = await serve();
    const { status, body } = await post(url, `[${"[".repeat(100_000)}${"]".repeat(100_000)}]`);
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { error: { code: -32_600, message: `Bad Request: the body's JSON has ${TOO_DEEP}` } },
    ]);
    expect((await post(url, INITIALIZE)).status).toBe(200);
  });

  it("names nothing at length: ids, methods, tools", async () => {
    const { url } = await serve();
    const long = "x".repeat(3_000);
    for (const message of [
      { id: long, method: "ping" },
      { id: 1, method: long },
      { id: 1, method: "tools/call", params: { name: long, arguments: {} } },
      { id: 1, method: "resources/read", params: { uri: long } },
    ]) {
      const { status, body } = await post(url, JSON.stringify({ jsonrpc: "2.0", ...message }));
      expect([status, body.length < 300, body]).toEqual([
        400,
        true,
        expect.stringContaining("has 3000 characters"),
      ]);
    }
  });

  it.each(["gzip", "br"])("is refused where it is compressed: %s", async (encoding) => {
    const { url } = await serve();
    const { status, body, headers } = await post(url, INITIALIZE, { "content-encoding": encoding });
    expect([status, headers["accept-encoding"]]).toEqual([415, "identity"]);
    expect(body).toContain("send the body uncompressed");
    expect((await post(url, INITIALIZE, { "content-encoding": "identity" })).status).toBe(200);
  });

  it.each([
    undefined,
    { protocolVersion: "2025-11-25", capabilities: {} },
    { protocolVersion: null, capabilities: {}, clientInfo: { name: "t", version: "1" } },
  ])("is told what its initialize lacks: %j", async (params) => {
    const { url } = await serve();
    const request = { jsonrpc: "2.0", id: 7, method: "initialize", params };
    const { status, body } = await post(url, JSON.stringify(request));
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      {
        id: 7,
        error: { code: -32_602, message: expect.stringContaining("initialize takes protocolVersion") },
      },
    ]);
  });

  it.each(["PUT", "TRACE"])(
    "need not be there where its type is named: %s is no method of this server",
    async (method) => {
      const { url } = await serve();
      const { status } = await ask(url, { method, headers: { "content-type": "application/json" } });
      expect(status).toBe(405);
    },
  );

  it("that its client breaks off is no fault of the server", async () => {
    const folder = await mkdtemp(join(tmpdir(), "cem-log-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "log");
    const { url } = await serve({ logger: createLogger({ file, level: "DEBUG" }) });
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    socket.on("error", () => {}).resume();
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nno size\r\n`);
    await expect.poll(() => readFile(file, "utf8").catch(() => "")).toContain('"msg":"fault"');
    expect(await readFile(file, "utf8")).not.toContain('"level":"error"');
  });

  it("names nothing at length over the older transport either", async () => {
    const { url } = await serve({ transport: "sse" });
    const { status, body } = await post(at(url, "/messages"), "{}");
    expect([status, body]).toEqual([404, "Session not found"]);
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    const stream = await fetch(url, { signal: controller.signal });
    const { value } = (await stream.body?.pipeThrough(new TextDecoderStream()).getReader().read()) ?? {};
    const path = /^data: (\S+)/m.exec(value ?? "")?.[1] ?? "";
    const long = JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(3_000), method: "ping" });
    const refused = await post(at(url, path), long);
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining("has 3000 characters")]);
  });

  it("is answered with the first of many problems", async () => {
    const { url } = await serve();
    const { headers } = await post(url, INITIALIZE);
    const args = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`a${at}`, 1]));
    const call = {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "list_servers", arguments: args },
    };
    const { body } = await post(url, JSON.stringify(call), {
      "mcp-session-id": String(headers["mcp-session-id"]),
    });
    expect(body).toContain("a9");
    expect(body).not.toContain("a10");
    expect(body).toContain("There are 4990 more problems.");
    expect(body.length).toBeLessThan(5_000);
  });
});
