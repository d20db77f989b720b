import { describe, expect, it } from "vitest";
import { readTokens } from "./lexer.ts";

function kinds(text: string): string[] {
  return readTokens(text).map(({ kind, text: written }) => `${kind} ${written}`);
}

describe("readTokens", () => {
  it.each([
    ["Read a/b.txt, then it.", ["word Read", "path a/b.txt", "mark ,", "word then", "word it"]],
    ["today's date isn't", ["word today", "word 's", "word date", "word isn't"]],
    ["it's 20°C", ["word it", "word 's", "number 20", "sign °", "word C"]],
    ["the one, twelve", ["word the", "word one", "mark ,", "number 12"]],
    ["add 200 and five", ["word add", "number 200", "word and", "number 5"]],
    ["$1,200.50 - 3", ["number $1,200.50", "sign -", "number 3"]],
    ["say \"a b\" and 'c'", ["word say", 'quote "a b"', "word and", "quote 'c'"]],
    [
      "mail x@y.org #dev https://a.b/c?d=1.",
      ["word mail", "email x@y.org", "tag #dev", "url https://a.b/c?d=1"],
    ],
    ["on 2024-05-01 in .", ["word on", "date 2024-05-01", "word in", "path ."]],
    ['take {"a": [1, "]"]}\n and [1, 2]', ["word take", 'json {"a": [1, "]"]}', "word and", "json [1, 2]"]],
    ['as {"answer": result}', ["word as", 'braces {"answer": result}']],
    ["a <= b ** 2 ≥ c", ["word a", "sign <=", "word b", "sign **", "number 2", "sign ≥", "word c"]],
  ])("%s", (text, tokens) => {
    expect(kinds(text)).toEqual(tokens);
  });

  it("knows the values of numbers, quoted texts and JSON", () => {
    const values = readTokens('1,200 "x y" {"a":[1]} two').map(({ value }) => value);
    expect(values).toEqual([1200, "x y", { a: [1] }, 2]);
  });

  it.each(["{[('\"", "a.", "/a", "漢", "a-", "'", "{", "1,", "one "])("is linear in %s", (piece) => {
    const started = process.cpuUsage();
    expect(readTokens(piece.repeat(200_000 / piece.length)).at(-1)?.end).toBeLessThanOrEqual(200_000);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000);
  });
});
