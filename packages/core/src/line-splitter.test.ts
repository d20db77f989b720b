import { describe, expect, it } from "vitest";
import { createLineSplitter, messageIdIn } from "./line-splitter.ts";

describe("createLineSplitter", () => {
  it("puts lines together again wherever they were cut, also inside a character", () => {
    const bytes = Buffer.from("α\nβγ\n\nδ");
    for (let at = 0; at <= bytes.length; at += 1) {
      const split = createLineSplitter(100);
      expect([
        ...split(bytes.subarray(0, at)),
        ...split(bytes.subarray(at)),
        ...split(Buffer.from("\n")),
      ]).toEqual(["α", "βγ", "", "δ"]);
    }
  });

  it("refuses a line that is too long, and goes on with the next", () => {
    const split = createLineSplitter(4);
    expect(() => split(Buffer.from("12345"))).toThrow("longer than 4 bytes");
    expect(split(Buffer.from("\n1234\n"))).toEqual(["", "1234"]);
  });

  it.each([1_000, 2_008])("tells the ends of a line longer than %i bytes, wherever it was cut", (limit) => {
    const bytes = Buffer.from(`{"id":1,${"x".repeat(2_000)}}\nnext\n`);
    for (let at = 1; at <= bytes.length; at += 1) {
      const told: string[][] = [];
      const split = createLineSplitter(limit, (ends) => void told.push(ends));
      expect([...split(bytes.subarray(0, at)), ...split(bytes.subarray(at))]).toEqual(["next"]);
      expect(told).toEqual([[expect.stringMatching(/^\{"id":1,x/), expect.stringMatching(/x\}$/)]]);
    }
  });

  it("joins a line of many small pieces", () => {
    const split = createLineSplitter(10_000_000);
    const piece = Buffer.alloc(16, "x");
    const lines = Array.from({ length: 100_000 }, () => split(piece)).flat();
    expect(lines).toEqual([]);
    expect(split(Buffer.from("\n"))[0]).toHaveLength(1_600_000);
  });
});

it.each([
  ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"', '"}}', 7],
  ['{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"x":"', '"}}', 7],
  ['{"method":"tools/call","params":{"x":"', '"},"jsonrpc":"2.0","id":"a-1"}', "a-1"],
  ['{"result":{"x":"', '"},"id":7,"jsonrpc":"2.0"}', 7],
  ['{"result":{"x":"', '","id":7}}', undefined],
  ['{"result":{"x":"', '\\"},\\"id\\":7}"}', undefined],
])("finds the id of a message in its ends: %s … %s", (first, last, id) => {
  expect(messageIdIn([first, last])).toBe(id);
});
