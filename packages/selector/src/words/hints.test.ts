import { describe, expect, it } from "vitest";
import { readHints } from "./hints.ts";

describe("readHints", () => {
  it.each([
    ["SELECT name FROM users now", "sql queri databas", "now"],
    ["open http://a.example/x?y=1 now", "url web page http websit", "open now"],
    ["open https://a.example now", "url web page http websit", "open now"],
    ["to bob.b+x@mail.example.com now", "email mail recipi", "to now"],
    ["read notes/today.txt now", "file path", "read now"],
    ["list /var/log now", "file path directori folder", "list now"],
    ["what is 5 * 3", "arithmet express calcul math", "what is"],
    ["take 10% of 80", "arithmet express calcul math", "take"],
    ["square root of 16", "arithmet express calcul math", ""],
    ["for the next 3 days", "forecast predict upcom", "for the"],
  ])("finds the hint in %j and removes the value", (text, stems, rest) => {
    const found = readHints(text);
    expect(found.hints).toEqual([stems.split(" ")]);
    expect(found.rest.replaceAll(/\s+/gu, " ").trim()).toBe(rest);
  });

  it.each([
    ['say "hello there" now', "say now"],
    ["move 12 items", "move items"],
    ["nothing here", "nothing here"],
  ])("finds no hint in %j", (text, rest) => {
    const found = readHints(text);
    expect(found.hints).toEqual([]);
    expect(found.rest.replaceAll(/\s+/gu, " ")).toBe(rest);
  });

  it("names each kind once", () => {
    expect(readHints("copy a.txt to b.txt").hints).toHaveLength(1);
  });
});
