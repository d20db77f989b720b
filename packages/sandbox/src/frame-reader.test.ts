import { describe, expect, it } from "vitest";
import { FrameReader } from "./frame-reader.ts";

const TOKEN = "0123456789abcdef";
const MARK = `\0cem:${TOKEN}:`;

function piece(text: string, last = true): string {
  return `${MARK}${Buffer.byteLength(text)},${last ? 1 : 0};${text}`;
}

function read(stream: string, chunkBytes: number) {
  const frames: string[] = [];
  const violations: string[] = [];
  let text = "";
  const reader = new FrameReader({
    token: TOKEN,
    onFrame: (frame) => frames.push(frame.toString()),
    onText: (bytes) => {
      text += bytes.toString("latin1");
    },
    onViolation: (message) => violations.push(message),
  });
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  reader.end();
  return { frames, text, violations };
}

describe("FrameReader", () => {
  it.each([1, 2, 3, 7, 50, 100_000])("tells frames from text in chunks of %i bytes", (chunkBytes) => {
    const stream = `before${piece("{}")}between\n${piece("one ", false)}${piece("two")}${piece("é🦕")}after`;
    expect(read(stream, chunkBytes)).toEqual({
      frames: ["{}", "one two", "é🦕"],
      text: "beforebetween\nafter",
      violations: [],
    });
  });

  it.each([1, 5, 100_000])(
    "leaves text that only looks like a frame as text, in chunks of %i bytes",
    (chunkBytes) => {
      const stream = `\0cem:wrong:2,1;{}\0cem:${TOKEN.slice(0, 8)}\0\0cem:`;
      expect(read(stream, chunkBytes)).toEqual({ frames: [], text: stream, violations: [] });
    },
  );

  it("takes text between the pieces of one frame", () => {
    expect(read(`${piece("a", false)}worker says hi${piece("b")}`, 9)).toMatchObject({
      frames: ["ab"],
      text: "worker says hi",
    });
  });

  it("reads nothing after a violation", () => {
    const result = read(`${MARK}x;${piece("{}")}`, 100);
    expect(result.frames).toEqual([]);
    expect(result.violations).toHaveLength(1);
  });
});
