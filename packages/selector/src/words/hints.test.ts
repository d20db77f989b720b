import { describe, expect, it } from "vitest";
import { isPath, readHints } from "./hints.ts";

describe("readHints", () => {
  it.each([
    ["SELECT name FROM users now", "the SQL SELECT name FROM users", "sql queri databas", "now"],
    [
      "open http://a.example/x?y=1 now",
      "the address http://a.example/x?y=1",
      "url web page http websit",
      "open now",
    ],
    ["open https://a.example now", "the address https://a.example", "url web page http websit", "open now"],
    [
      "to bob.b+x@mail.example.com now",
      "the email address bob.b+x@mail.example.com",
      "email mail recipi",
      "to now",
    ],
    ["read notes/today.txt now", "the path notes/today.txt", "file path", "read now"],
    ["list /var/log now", "the path /var/log", "file path directori folder", "list now"],
    ["what is 5 * 3", "the expression 5 * 3", "arithmet express calcul math", "what is"],
    ["take 10% of 80", "the expression 10% of 80", "arithmet express calcul math", "take"],
    ["square root of 16", "the expression square root of 16", "arithmet express calcul math", ""],
    ["how hot is it", "how hot", "weather temperatur", "is it"],
  ])("finds the hint in %j and removes the value", (text, label, stems, rest) => {
    const found = readHints(text);
    expect(found.hints).toEqual([{ label, stems: stems.split(" "), supports: false }]);
    expect(found.rest.replaceAll(/\s+/gu, " ").trim()).toBe(rest);
  });

  it("only supports a choice by a span of time", () => {
    expect(readHints("for the next 3 days").hints).toEqual([
      { label: "next 3 days", stems: ["forecast", "predict", "upcom"], supports: true },
    ]);
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

  it("names each kind once, and cuts long values", () => {
    const { hints } = readHints(`copy a.txt to b.txt and ${"c".repeat(60)}.md`);
    expect(hints.map(({ label }) => label)).toEqual(["the path a.txt"]);
    const [long] = readHints(`read ${"c".repeat(60)}.md`).hints;
    expect(long?.label).toBe(`the path ${"c".repeat(39)}…`);
  });
});

describe("isPath", () => {
  it("tells a path from other hints", () => {
    const paths = ["read a.txt", "list /var/log", "5 + 3"].map((text) => readHints(text).hints.some(isPath));
    expect(paths).toEqual([true, true, false]);
  });
});
