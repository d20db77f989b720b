import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FUZZ_TIMEOUT_MS, fuzzing } from "../../../../vitest.fuzz.ts";
import { createFrameReader } from "./frame-reader.ts";
import { readGuestMessage } from "./guest-messages.ts";

const TOKEN = "0123456789abcdef";
const MARK = `\0cem:${TOKEN}:`;
const MAX_FRAME_BYTES = 4_096;

/** Output of a hostile guest: marks, lengths, separators and bytes of any kind. */
const piece = fc.oneof(
  fc.constantFrom(
    MARK,
    MARK.slice(0, 5),
    MARK.slice(0, -1),
    "\0",
    ";",
    ",1;",
    ",0;",
    "-1,1;",
    "1e9,1;",
    "00000000000001,1;",
  ),
  fc.nat(9_000).map((length) => `${MARK}${length},1;`),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.json({ maxDepth: 3 }).map((text) => {
    const isLast = text.length % 2;
    const sent = isLast ? text : text.padEnd(1_024);
    return `${MARK}${Buffer.byteLength(sent)},${isLast};${sent}`;
  }),
);

function read(stream: Buffer, cuts: readonly number[]) {
  const frames: string[] = [];
  const violations: string[] = [];
  let text = 0;
  const reader = createFrameReader({
    token: TOKEN,
    onFrame: (frame) => frames.push(frame.toString("latin1")),
    onText: (bytes) => (text += bytes.length),
    onViolation: (message) => violations.push(message),
  });
  reader.maxFrameBytes = MAX_FRAME_BYTES;
  let from = 0;
  for (const cut of [...cuts, stream.length].toSorted((a, b) => a - b)) {
    if (cut > stream.length) break;
    if (cut > from) reader.push(stream.subarray(from, cut));
    from = cut;
  }
  if (from < stream.length) reader.push(stream.subarray(from));
  reader.end();
  return { frames, violations: violations.length, text };
}

describe("frames of a hostile guest", () => {
  it(
    "are read alike however they are cut, within their limit, and never throw",
    { timeout: FUZZ_TIMEOUT_MS },
    () => {
      fc.assert(
        fc.property(
          fc.array(piece, { maxLength: 30 }),
          fc.array(fc.nat(2_000), { maxLength: 10 }),
          (pieces, cuts) => {
            const stream = Buffer.from(pieces.join(""), "latin1");
            const whole = read(stream, []);
            const parts = read(stream, cuts);
            expect({ frames: parts.frames, violations: parts.violations }).toEqual({
              frames: whole.frames,
              violations: whole.violations,
            });
            for (const frame of whole.frames) expect(frame.length).toBeLessThanOrEqual(MAX_FRAME_BYTES);
            expect(whole.text).toBeLessThanOrEqual(stream.length);
          },
        ),
        fuzzing(300),
      );
    },
  );

  it("hold a message of the protocol or a problem", { timeout: FUZZ_TIMEOUT_MS }, () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const message = fc.record(
      {
        type: fc.constantFrom(
          "call",
          "done",
          "failed",
          "output",
          "result",
          "ready",
          "__proto__",
          "constructor",
        ),
        id: value,
        server: value,
        tool: value,
        args: value,
        value,
        error: value,
      },
      { requiredKeys: [] },
    );
    const text = fc.oneof(message, value).map((any) => JSON.stringify(any));
    const bytes = fc.oneof(
      text.map((json) => Buffer.from(json)),
      fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw)),
    );
    fc.assert(
      fc.property(bytes, (frame) => {
        expect(["object", "string"]).toContain(typeof readGuestMessage(frame));
      }),
      fuzzing(500),
    );
  });
});
