import { describe, expect, it } from "vitest";
import { queryStems } from "../search/reading.ts";
import { impliedSteps } from "../words/hints.ts";
import { isPlainOperation, partsOf } from "./parts.ts";

describe("partsOf", () => {
  it("gives conditions and steps in order, each once", () => {
    expect(
      partsOf("Get the weather, and if it is above 20, print 'warm'. Then print 'done'. Then print 'done'."),
    ).toEqual([
      { text: "Get the weather", isCondition: false },
      { text: "it is above 20", isCondition: true },
      { text: "print 'warm'", isCondition: false },
      { text: "print 'done'", isCondition: false },
    ]);
  });

  it("leaves a task of one step as it is", () => {
    expect(partsOf("Please get the weather!")).toEqual([
      { text: "Please get the weather!", isCondition: false },
    ]);
  });
});

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

describe("isPlainOperation", () => {
  it.each([
    "sort them by age",
    "print the result",
    "count the rows",
    "calculate the average age",
    "save the result",
    "add a field",
    "show the result",
    "set the status to done",
  ])("is %j", (text) => {
    expect(isPlainOperation(text)).toBe(true);
  });

  it.each([
    "sum 2 and 3",
    "calculate the average of 5",
    "save it to a.txt",
    "add 5 to the result",
    "show the weather",
    "delete it",
  ])("is not %j", (text) => {
    expect(isPlainOperation(text)).toBe(false);
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
