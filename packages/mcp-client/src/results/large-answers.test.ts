import { describe, expect, it, onTestFinished } from "vitest";
import { memoryStore } from "../../fixtures/memory-store.ts";
import { serve } from "../../fixtures/start-http.ts";
import { toRawResult } from "../connection/raw-result.ts";
import type { RawToolResult } from "../connection/connection-types.ts";
import { createServerFetch } from "../transport/server-fetch.ts";
import { createStdioTransport } from "../transport/stdio-transport.ts";
import { mapLargeAnswer } from "./large-answers.ts";

const { signal } = new AbortController();
const tool = { server: "s", tool: "t" };
const text = "x".repeat(5 * 1024 * 1024);
const answer = { content: [{ type: "text", text: "said" }], structuredContent: { n: 1, text } };

async function fromProcess(code: string): Promise<RawToolResult> {
  const script = `process.stdin.once("data", (line) => { const { id } = JSON.parse(line); ${code} });`;
  const transport = createStdioTransport(
    { kind: "stdio", command: process.execPath, args: ["-e", script] },
    { onStderr: () => {} },
  );
  onTestFinished(() => transport.close());
  await transport.start();
  return toRawResult(await transport.request("tools/call", {}, { signal, onProgress: () => {} }));
}

async function fromHttp(contentType: string, bodyOf: (message: string) => string): Promise<RawToolResult> {
  const message = JSON.stringify({ jsonrpc: "2.0", id: 7, result: answer });
  const server = await serve((_, response) => {
    response.writeHead(200, { "content-type": contentType }).end(bodyOf(message));
  });
  onTestFinished(() => server.close());
  const url = `http://127.0.0.1:${server.port}/`;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: {} });
  const response = await createServerFetch({ url })(url, { method: "POST", body });
  const given = contentType.includes("stream")
    ? JSON.parse(/^data:(\{"jsonrpc.*)$/mu.exec(await response.text())?.[1] ?? "")
    : await response.json();
  expect(given).toMatchObject({ jsonrpc: "2.0", id: 7 });
  return toRawResult((given as { result: Record<string, unknown> }).result);
}

const WRITE = `process.stdout.write(JSON.stringify(MESSAGE) + "\\n");`;
const result = `{ content: [], structuredContent: { n: 1, text: "x".repeat(${text.length}) } }`;

describe("a large answer of a tool", () => {
  it.each([
    ["a process", () => fromProcess(WRITE.replace("MESSAGE", `{ jsonrpc: "2.0", id, result: ${result} }`))],
    [
      "a process that names the call last",
      () => fromProcess(WRITE.replace("MESSAGE", `{ result: ${result}, jsonrpc: "2.0", id }`)),
    ],
    ["HTTP", () => fromHttp("application/json", (message) => message)],
    [
      "a stream of events",
      () =>
        fromHttp("text/event-stream", (message) => `data: {"a":1}\n\nevent: message\ndata: ${message}\n\n`),
    ],
  ])("comes unread from %s, and is kept as any large result", async (_, from) => {
    const { unread } = await from();
    expect(unread).toBeDefined();
    const store = memoryStore();
    const mapped = await mapLargeAnswer(tool, unread as NonNullable<typeof unread>, { store }, signal);
    const [[path, file] = ["", ""]] = [...store.files];
    expect(mapped).toMatchObject({
      ok: true,
      value: { type: "json", path, shape: { kind: "object", names: ["n", "text"], small: { n: 1 } } },
    });
    expect(file).toBe(`application/json: ${JSON.stringify(answer.structuredContent)}`);
  });

  it("has the paths of what is kept apart in what is kept", async () => {
    const image = `{ type: "image", mimeType: "image/png", data: Buffer.from("image").toString("base64") }`;
    const { unread } = await fromProcess(
      WRITE.replace(
        "MESSAGE",
        `{ jsonrpc: "2.0", id, result: ${result.replace("n: 1", `n: 1, image: ${image}`)} }`,
      ),
    );
    const store = memoryStore();
    const mapped = await mapLargeAnswer(tool, unread as NonNullable<typeof unread>, { store }, signal);
    const [[path, bytes] = ["", ""], [, json] = ["", ""]] = [...store.files];
    expect(bytes).toBe("image/png: image");
    expect(json).toContain(`"path":"${path}"`);
    expect(mapped).toMatchObject({
      value: { preview: expect.stringContaining(path), shape: { small: { image: { path } } } },
    });
  });

  it("may be an error, and is none of another kind", async () => {
    const error = `{ code: 1, message: "y".repeat(${text.length}) }`;
    const { unread } = await fromProcess(WRITE.replace("MESSAGE", `{ jsonrpc: "2.0", id, error: ${error} }`));
    const mapped = await mapLargeAnswer(tool, unread as NonNullable<typeof unread>, {}, signal);
    expect(mapped).toMatchObject({
      ok: false,
      error: { code: "TOOL_FAILED", message: expect.stringMatching(/^y{7900}/) },
    });
    expect(toRawResult({ content: [], "cem:unread": "made up" })).not.toHaveProperty("unread");
  });
});
