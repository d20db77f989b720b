import { describe, expect, it } from "vitest";
import { alignColumns, cut, wrap, wrapIndented } from "./render/text.ts";

describe("wrap", () => {
  it("breaks between words and at line breaks", () => {
    expect(wrap("one two three\nfour", 8)).toEqual(["one two", "three", "four"]);
  });

  it("keeps the indent of a line, and words that are too wide", () => {
    expect(wrap("  an indented line", 12)).toEqual(["  an", "  indented", "  line"]);
    expect(wrap("see /a/very/long/path now", 10)).toEqual(["see", "/a/very/long/path", "now"]);
  });

  it("keeps a command between two spaces whole", () => {
    const hint = "See it with  cem generate odd  and accept it with  cem generate odd --accept";
    expect(wrapIndented(hint, "  ", 32)).toEqual([
      "  See it with  cem generate odd",
      "  and accept it with",
      "  cem generate odd --accept",
    ]);
    expect(wrap(hint, 80)).toEqual([hint]);
    expect(wrapIndented("Try  cem servers  again", "", 9)).toEqual(["Try", "cem servers", "again"]);
  });

  it("counts columns, not characters", () => {
    expect(wrap("你好 你好", 6)).toEqual(["你好", "你好"]);
  });
});

describe("alignColumns", () => {
  it("makes each column as wide as its widest cell, without spaces at the end", () => {
    expect(alignColumns([["a", "bb", ""], ["你好", "", "c"], ["d"]])).toEqual([
      "a     bb",
      "你好      c",
      "d",
    ]);
  });

  it("aligns numbers at the right", () => {
    expect(
      alignColumns(
        [
          ["a", "1"],
          ["b", "20"],
        ],
        (column) => column === 1,
      ),
    ).toEqual(["a   1", "b  20"]);
  });

  it("does not count colours", () => {
    expect(
      alignColumns([
        ["\u001B[31ma\u001B[39m", "1"],
        ["bb", "2"],
      ]),
    ).toEqual(["\u001B[31ma\u001B[39m   1", "bb  2"]);
  });
});

describe("cut", () => {
  it("ends what is too wide in an ellipsis", () => {
    expect(cut("abcdef", 4)).toBe("abc…");
    expect(cut("abcd", 4)).toBe("abcd");
  });
});
