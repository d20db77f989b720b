import { describe, expect, it } from "vitest";
import {
  clip,
  commentLine,
  harmlessInComment,
  propertyKey,
  quote,
  visibleText,
  escapeInvisible,
} from "./safe-text.ts";

describe("visibleText", () => {
  it.each([
    ["a b\n\tc", "a b\n\tc"],
    ["a\r\nb\rc\vd\fe\u0085f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"],
    ["\u001B[31mred\u001B[0m", "red"],
    ["a\u0000\u0007\u007Fb", "ab"],
    ["a\u200B\u202E\u{E0041}\uFE0F\uFFFEb", "ab"],
    ["é\uD800", "é\uFFFD"],
  ])("reads %j as %j", (text, visible) => {
    expect(visibleText(text)).toBe(visible);
  });
});

describe("clip", () => {
  it.each([
    ["1234567890", 10, "1234567890"],
    ["abcdefghijk", 10, "abcdefghi…"],
    ["abcdefg ijk", 10, "abcdefg i…"],
    ["abcdefgh jk", 10, "abcdefgh…"],
    ["abcdefgh😀", 9, "abcdefgh…"],
    [`${"顧客を検索する。".repeat(12)}結果は一覧になる`, 100, `${"顧客を検索する。".repeat(12)}結果は…`],
    ["ค้นหาลูกค้า".repeat(10), 40, `${"ค้นหาลูกค้า".repeat(10).slice(0, 39)}…`],
    ["返回客户2024年的发票".repeat(9), 55, `${"返回客户2024年的发票".repeat(4)}返回客户…`],
    ["Pay with 4111 1111 1111 1111 now", 20, "Pay with…"],
    ["To GB82 WEST 1234 5698 7654 32 now", 24, "To…"],
  ])("shortens %j to %i characters", (text, limit, clipped) => {
    expect(clip(text, limit)).toBe(clipped);
  });
});

describe("commentLine", () => {
  it("writes one line without needless space", () => {
    expect(commentLine("  a\n\n b\tc  ", 20)).toBe("a b c");
    expect(commentLine("a b", 20)).toBe("a b");
    expect(commentLine("ab ".repeat(100), 10)).toBe("ab ab ab…");
  });

  it("reads no more of a long text than it may need", () => {
    expect(commentLine(`${" ".repeat(80)}end`, 10)).toBe("");
    expect(commentLine(`${" ".repeat(77)}end`, 10)).toBe("end");
  });
});

describe("harmlessInComment", () => {
  it.each([
    ["a */ b", String.raw`a *\/ b`],
    ["@ts-ignore @see", String.raw`\@ts-ignore \@see`],
    ["ada@example.com a-@b", "ada@example.com a-@b"],
    ["//# sourceMappingURL=x sourceURL=y", "//# sourceMappingURL =x sourceURL =y"],
    ["a = b * c", "a = b * c"],
  ])("writes %j as %j", (text, harmless) => {
    expect(harmlessInComment(text)).toBe(harmless);
  });
});

describe("quote", () => {
  it.each([
    ["a", '"a"'],
    ['"\\\n', String.raw`"\"\\\n"`],
    ["é", '"é"'],
    ["é\u200B\u2028", String.raw`"é\u200b\u2028"`],
    ["\u{E0041}", String.raw`"\udb40\udc41"`],
  ])("writes %j as %s", (text, literal) => {
    expect(quote(text)).toBe(literal);
    expect(JSON.parse(quote(text))).toBe(text);
  });
});

describe("propertyKey", () => {
  it.each([
    ["a", "a"],
    ["$a_1", "$a_1"],
    ["1a", '"1a"'],
    ["a-b", '"a-b"'],
    ["é", '"é"'],
    ["", '""'],
    ["__proto__", '"__proto__"'],
    ["constructor", "constructor"],
  ])("writes %j as %s", (name, key) => {
    expect(propertyKey(name)).toBe(key);
  });
});

describe("escapeInvisible", () => {
  it("writes everything but line feeds and visible characters by its number", () => {
    expect(escapeInvisible("a\nb\tc\u0000\u{E0041}\u2028é")).toBe("a\nb<U+0009>c<U+0000><U+E0041><U+2028>é");
  });
});
