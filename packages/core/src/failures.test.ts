import { describe, expect, it } from "vitest";
import { CemError } from "./errors.ts";
import { callAborted, resultNotJson, resultTooLarge, serverNotFound, toolNotFound } from "./failures.ts";

const tool = { server: "crm", tool: "fnd" };

describe("toolNotFound", () => {
  it("names the server and the tool, in the message and in the details", () => {
    const error = toolNotFound(tool);
    expect(CemError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "TOOL_NOT_FOUND", message: 'Server "crm" has no tool "fnd".' });
    expect(error.details).toEqual(tool);
  });

  it("suggests the nearest name rather than listing all", () => {
    const error = toolNotFound(tool, ["find", "list"]);
    expect(error.message).toBe('Server "crm" has no tool "fnd". Did you mean "find"?');
    expect(error.details).toEqual({ ...tool, known: ["find", "list"], nearest: "find" });
  });

  it("lists the known names", () => {
    expect(toolNotFound(tool, ["send", "list"]).message).toBe(
      'Server "crm" has no tool "fnd". There are: send, list.',
    );
    expect(toolNotFound(tool, []).message).toBe('Server "crm" has no tool "fnd". It has no tools.');
  });

  it("lists 20 names and counts the others", () => {
    const known = Array.from({ length: 23 }, (_, index) => `t${index}`);
    const exactly = toolNotFound(tool, known.slice(0, 20));
    expect(exactly.message.endsWith("t18, t19.")).toBe(true);
    const more = toolNotFound(tool, known);
    expect(more.message.endsWith("t18, t19 and 3 more.")).toBe(true);
    expect(more.details["known"]).toEqual(known.slice(0, 20));
  });
});

describe("serverNotFound", () => {
  it("names the server and what there is", () => {
    const error = serverNotFound("crn", ["sales"]);
    expect(error).toMatchObject({
      code: "SERVER_NOT_FOUND",
      message: 'There is no server "crn". There are: sales.',
    });
    expect(error.details).toEqual({ server: "crn", known: ["sales"] });
    expect(serverNotFound("crn", []).message).toBe('There is no server "crn". No server is configured.');
    expect(serverNotFound("crn").message).toBe('There is no server "crn".');
  });
});

describe("resultTooLarge", () => {
  it("gives the size and the limit", () => {
    const error = resultTooLarge(tool, 2_000, 1_000);
    expect(error).toMatchObject({ code: "RESULT_TOO_LARGE" });
    expect(error.message).toContain("crm.fnd answered with 2000 bytes; at most 1000");
    expect(error.details).toEqual({ ...tool, bytes: 2_000, limitBytes: 1_000 });
  });
});

describe("resultNotJson", () => {
  it("gives the reason in one line and keeps the cause", () => {
    const cause = new TypeError("Converting circular structure to JSON\n    --> starting at object");
    const error = resultNotJson(tool, cause);
    expect(error).toMatchObject({ code: "RESULT_NOT_JSON", details: tool, cause });
    expect(error.message).toBe(
      "crm.fnd returned what JSON can't represent: Converting circular structure to JSON.",
    );
    expect(resultNotJson(tool, "a text").message).toContain("represent: a text.");
  });
});

describe("callAborted", () => {
  it("names the call", () => {
    const error = callAborted(tool);
    expect(error).toMatchObject({ code: "ABORTED", message: "The call of crm.fnd was cancelled." });
    expect(error.details).toEqual(tool);
  });
});
