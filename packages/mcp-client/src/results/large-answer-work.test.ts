import { createResultCheck } from "@cem/bridge";
import type { JsonObject, JsonValue, ResultStore, ToolResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { readLargeAnswer } from "./large-answer-work.ts";
import { mapToolResult } from "./result-mapping.ts";

const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const text = (value: string): JsonValue => ({ type: "text", text: value });
const image = { type: "image", mimeType: "image/png", data: "aGVsbG8gd29ybGQ=" };
const long = `"é😀\\\n\u0001 ${"x".repeat(400)}`;
const names = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`name${at}`, at]));

/** Answers, and whether the tool promises a schema. */
const ANSWERS: Readonly<Record<string, [result: JsonObject, isTyped?: boolean]>> = {
  "a text": [{ content: [text(long)] }],
  "a text of JSON": [{ content: [text(JSON.stringify({ long, n: 1 }))] }],
  "a text that begins as JSON": [{ content: [text(`[1, ${long}`)] }],
  texts: [{ content: [text(long), text("[1]")] }],
  nothing: [{ content: [] }],
  "structured content": [
    { content: [text("said")], structuredContent: { n: 1, long, list: [1, { a: long }] } },
  ],
  "structured content beside an image": [{ content: [image], structuredContent: { n: 1, long } }],
  "structured content with an image": [{ content: [], structuredContent: { n: 1, long, image } }],
  "a list": [{ content: [], structuredContent: [1, long, { "10": 1, "2": 2 }] }],
  "a record": [{ content: [], structuredContent: names }],
  "names that look like numbers": [{ content: [], structuredContent: { b: long, "10": 1, "2": 2 } }],
  "structured content that is a text": [{ content: [], structuredContent: long }],
  "structured content that is left out": [{ content: [text(long)], structuredContent: null }],
  "an image": [{ content: [image] }],
  "what was promised": [{ content: [text("said")], structuredContent: { n: 1, long } }, true],
  "what was not promised": [{ content: [], structuredContent: { n: long } }, true],
  "a text in place of what was promised": [{ content: [text(long)] }, true],
  "an error": [{ content: [text(long)], isError: true }],
};

describe("readLargeAnswer", () => {
  it.each(Object.entries(ANSWERS))("reads %s as a small answer is read", async (_, [result, isTyped]) => {
    const tool = { server: "s", tool: "t", ...(isTyped === true && { outputSchema }) };
    const files: string[] = [];
    const store: ResultStore = {
      specificationVersion: "v1",
      write: async (bytes, mimeType) => {
        files.push(`${mimeType}: ${Buffer.from(bytes).toString()}`);
        return { path: `kept/${files.length - 1}`, size: bytes.length };
      },
      read: () => Promise.reject(new Error("nothing is read here")),
    };
    const { content, structuredContent, isError = false } = structuredClone(result);
    const raw = { content: content as JsonValue[], structuredContent, isError: isError as boolean };
    const mapping = { store, maxInlineBytes: 64, checkResult: createResultCheck() };
    const expected = await settled(mapToolResult(tool, raw, mapping));

    const bytes = Buffer.from(JSON.stringify({ id: 1, result, jsonrpc: "2.0" }));
    const read = readLargeAnswer({ bytes, tool, maxInlineBytes: 64, mark: "kept/" });
    const kept = await read.then(
      (answer) => answer.kept,
      () => [],
    );
    expect(await settled(read.then((answer) => answer.result))).toEqual(expected);
    expect(kept.map((part) => `${part.mimeType}: ${Buffer.from(part.bytes).toString()}`)).toEqual(files);
  });

  it("keeps JSON with the white space that it was written with", async () => {
    const json = ` ${JSON.stringify({ n: 1, long }, null, 2)}\n`;
    const message = `{ "id" : 1, "result" : { "content" : [ ${JSON.stringify(text(json))} ] } }`;
    const request = { tool: { server: "s", tool: "t" }, maxInlineBytes: 64, mark: "kept/" };
    const { result, kept } = await readLargeAnswer({ ...request, bytes: Buffer.from(message) });
    expect(result).toMatchObject({
      ok: true,
      value: { type: "json", shape: { names: ["n", "long"], small: { n: 1 } } },
    });
    expect(kept.map((part) => Buffer.from(part.bytes).toString())).toEqual([json]);
  });

  it("is an error for what is no result", async () => {
    const tool = { server: "s", tool: "t" };
    const request = { tool, maxInlineBytes: 64, mark: "kept/" };
    for (const message of [
      '{"id":1,"result":{"content":{}}}',
      '{"id":1,"result":{"isError":"yes"}}',
      '{"id":1,"result":{"content":[]',
    ])
      await expect(readLargeAnswer({ ...request, bytes: Buffer.from(message) })).rejects.toThrow(
        /No JSON at byte|Invalid result/,
      );
    for (const message of ['{"id":1,"result":7}', '{"id":1,"error":{"message":"no"}}', "[]"])
      expect((await readLargeAnswer({ ...request, bytes: Buffer.from(message) })).result.ok).toBe(false);
  });
});

/** A result, or how it fails. */
async function settled(work: Promise<ToolResult>): Promise<JsonValue> {
  const result = await work.catch((error: Error) => ({ message: error.message }));
  return JSON.parse(JSON.stringify(result)) as JsonValue;
}
