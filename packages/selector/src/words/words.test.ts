import { describe, expect, it } from "vitest";
import { queryStems } from "../search/reading.ts";
import { impliedSteps } from "./hints.ts";

describe("impliedSteps", () => {
  it.each([
    ["save it as /tmp/a.md", [["write file", 1]]],
    ["read notes.csv", [["read file", 1]]],
    ["a report to out.docx", [["create word document", 1]]],
    [
      "make an image chart.png and /tmp/b.pptx",
      [
        ["create image", 1],
        ["create powerpoint presentation", 1],
      ],
    ],
    ["what did I do yesterday", [["get current time", 0.5]]],
    ["meet next friday", [["get current time", 0.5]]],
    ["nothing", []],
  ])("finds what %j implies", (text, expected) => {
    expect(impliedSteps(text).map(({ text: step, weight }) => [step, weight])).toEqual(expected);
  });
});

describe("queryStems", () => {
  it("has each word once, and leaves out those that only ask", () => {
    expect([...queryStems("please find the weather weather Weather in oslo")]).toEqual([
      "find",
      "weather",
      "oslo",
    ]);
  });

  it("keeps words of asking when there are no others", () => {
    expect([...queryStems("please help")]).toEqual(["help"]);
  });
});
