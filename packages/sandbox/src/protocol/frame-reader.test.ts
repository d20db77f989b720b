import { describe, expect, it } from "vitest";
import { createFrameReader } from "./frame-reader.ts";

const TOKEN = "0123456789abcdef";
const MARK = `\0cem:${TOKEN}:`;

/** The shortest piece that more may follow. */
const LONG = "x".repeat(1_024);

function piece(text: string, last = true): string {
  return `${MARK}${Buffer.byteLength(text)},${last ? 1 : 0};${text}`;
}

function read(stream: string, chunkBytes: number, maxFrameBytes?: number) {
  const frames: string[] = [];
  const violations: [message: string, kind: string][] = [];
  let text = "";
  const reader = createFrameReader({
    token: TOKEN,
    onFrame: (frame) => frames.push(frame.toString()),
    onText: (bytes) => {
      expect(bytes.length).toBeGreaterThan(0);
      text += bytes.toString("latin1");
    },
    onViolation: (message, kind) => violations.push([message, kind]),
  });
  if (maxFrameBytes !== undefined) reader.maxFrameBytes = maxFrameBytes;
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  reader.end();
  reader.end();
  return { frames, text, violations };
}

describe("createFrameReader", () => {
  it.each([1, 2, 3, 7, 50, 100_000])("separates messages from text in chunks of %i bytes", (chunkBytes) => {
    const stream = `before${piece("{}")}between\n${piece(LONG, false)}${piece("two")}${piece("é🦕")}after`;
    expect(read(stream, chunkBytes)).toEqual({
      frames: ["{}", `${LONG}two`, "é🦕"],
      text: "beforebetween\nafter",
      violations: [],
    });
  });

  it.each([1, 5, 100_000])(
    "leaves text that only resembles a message as text, in chunks of %i",
    (chunkBytes) => {
      const stream = `\0cem:wrong:2,1;{}\0cem:${TOKEN.slice(0, 8)}\0\0cem:`;
      expect(read(stream, chunkBytes)).toEqual({ frames: [], text: stream, violations: [] });
    },
  );

  it("emits text at once, up to what may be the beginning of a mark", () => {
    const chunks: string[] = [];
    const settings = { token: TOKEN, onFrame: () => {}, onViolation: () => {} };
    const reader = createFrameReader({
      ...settings,
      onText: (bytes) => chunks.push(bytes.toString("latin1")),
    });
    reader.push(Buffer.from("plain"));
    reader.push(Buffer.from("then\0cem:"));
    expect(chunks).toEqual(["plain", "then"]);
    reader.push(Buffer.from("no mark"));
    expect(chunks).toEqual(["plain", "then", "\0cem:no mark"]);
  });

  it("takes text between the pieces of one message", () => {
    expect(read(`${piece(LONG, false)}worker says hi${piece("b")}`, 9)).toMatchObject({
      frames: [`${LONG}b`],
      text: "worker says hi",
    });
  });

  it("copies the pieces that it keeps", () => {
    const frames: string[] = [];
    const settings = { token: TOKEN, onText: () => {}, onViolation: () => {} };
    const reader = createFrameReader({ ...settings, onFrame: (frame) => frames.push(frame.toString()) });
    const chunk = Buffer.from(piece(LONG, false));
    reader.push(chunk);
    chunk.fill(0);
    reader.push(Buffer.from(piece(" last")));
    expect(frames).toEqual([`${LONG} last`]);
  });

  it.each([
    ["no number", "x,1;{}", "a frame with a wrong length"],
    ["no flag", "2;{}", "a frame with a wrong length"],
    ["another flag", "2,2;{}", "a frame with a wrong length"],
    ["six digits", "000002,1;{}", "a frame with a wrong length"],
    ["a sign", "-2,1;{}", "a frame with a wrong length"],
    ["something before it", " 2,1;{}", "a frame with a wrong length"],
    ["something after it", "2,1 ;{}", "a frame with a wrong length"],
    ["a piece over 8 KiB", `8193,1;${"x".repeat(8_193)}`, "a frame with a wrong length"],
    ["no bytes", "0,1;", "a frame with a wrong length"],
    ["no bytes, and more to come", "0,0;", "a frame with a wrong length"],
    ["few bytes, and more to come", `1023,0;${"x".repeat(1_023)}`, "a frame with a wrong length"],
    ["no end", "999999999999", "a frame without a length"],
  ])("reports a header with %s, and reads nothing after it", (_, header, message) => {
    for (const chunkBytes of [1, 3, 100_000]) {
      const result = read(`ok${MARK}${header}${piece("{}")}`, chunkBytes);
      expect(result).toMatchObject({ frames: [], text: "ok", violations: [[message, "protocol"]] });
    }
  });

  it("takes pieces of up to 8 KiB, and waits for the rest of a header or piece", () => {
    expect(read(piece("x".repeat(8_192)), 1_000)).toMatchObject({ violations: [], text: "" });
    expect(read(`${MARK}99999999999`, 100)).toMatchObject({ violations: [] });
    expect(read(`${MARK}5,1;abcd`, 100)).toMatchObject({ frames: [], violations: [] });
  });

  it("bounds a message, all pieces together, and each message anew", () => {
    const first = piece(LONG, false);
    expect(read(first + piece("efgh"), 7, 1_028).frames).toEqual([`${LONG}efgh`]);
    expect(read(piece("abcdefgh") + piece("abcdefgh"), 7, 8).frames).toHaveLength(2);
    expect(read(first + piece("efgh") + first + piece("efgh"), 7, 1_028).frames).toHaveLength(2);
    expect(read(first + piece("efghi") + piece("{}"), 7, 1_028)).toEqual({
      frames: [],
      text: "",
      violations: [["a message of more than 1028 bytes", "size"]],
    });
  });

  it("accepts 64 KiB by default", () => {
    const pieces = (count: number) =>
      piece("x".repeat(8_192), false).repeat(count - 1) + piece("x".repeat(8_192));
    expect(read(pieces(8), 10_000).frames).toHaveLength(1);
    expect(read(pieces(9), 10_000).violations).toEqual([["a message of more than 65536 bytes", "size"]]);
  });
});
