import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
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

describe("whyNotLoaded", () => {
  /** A program for Node itself, since the test runner loads modules in its own way. */
  const LOAD = `const [from, file] = process.argv.slice(1);
const { whyNotLoaded } = await import(from);
console.log(await import(file).then(() => "loaded", whyNotLoaded));`;

  it.each([
    ["a.ts", 'import "node:fs";', /outside a module\. .*npm pkg set type=module.* \.mts/u],
    ["b.js", "export default 1;", /'export'\. .*npm pkg set type=module.* \.mts/u],
    ["c.ts", "const a = (;", /^(?!.*npm pkg).*$/u],
    ["d.mts", 'import "@cem/not-installed/part";', /npm install @cem\/not-installed$/u],
    ["e.mts", 'import "broken";', /^Cannot find package '.*index\.js'(?!.*npm install)/u],
    ["f.mts", "export default 1;", /^loaded$/u],
  ])("says what helps in a project of CommonJS: %s", async (name, code, said) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "cem-failures-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(path.join(folder, "package.json"), '{ "type": "commonjs" }');
    await mkdir(path.join(folder, "node_modules/broken"), { recursive: true });
    await writeFile(path.join(folder, "node_modules/broken/package.json"), "{}");
    await writeFile(path.join(folder, name), code);
    const urls = [import.meta.resolve("./failures.ts"), pathToFileURL(path.join(folder, name)).href];
    const args = ["--conditions=@cem/source", "--no-warnings", "--input-type=module", "-e", LOAD, ...urls];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout.trim()).toMatch(said);
  });
});
