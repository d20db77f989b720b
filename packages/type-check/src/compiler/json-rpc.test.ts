import { describe, expect, it } from "vitest";
import { createMessageReader } from "./json-rpc.ts";

function framed(text: string): Buffer {
  return Buffer.from(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

describe("createMessageReader", () => {
  const texts = ["{}", "größe 🦕", "", "x".repeat(5_000)];
  const stream = Buffer.concat(texts.map(framed));

  it.each([1, 3, 7, 64, 4_096, stream.length])("reads messages from chunks of %i bytes", (size) => {
    const read = createMessageReader(10_000);
    const messages: string[] = [];
    for (let at = 0; at < stream.length; at += size) messages.push(...read(stream.subarray(at, at + size)));
    expect(messages).toEqual(texts);
  });

  it("finds the length among other headers, however it is written", () => {
    const read = createMessageReader(10);
    const message = Buffer.from("Content-Type: x; charset=utf-8\r\ncontent-length: 2\r\n\r\n{}");
    expect(read(message)).toEqual(["{}"]);
  });

  it("refuses a message that is too long before it has come, and one without a length", () => {
    expect(createMessageReader(10)(framed("0123456789"))).toEqual(["0123456789"]);
    expect(() => createMessageReader(10)(Buffer.from("Content-Length: 11\r\n\r\n"))).toThrow(
      "A message of 11 bytes; at most 10 are read.",
    );
    expect(() => createMessageReader(10)(Buffer.from("Content-Length: many\r\n\r\n"))).toThrow(RangeError);
  });
});
