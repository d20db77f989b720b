import { describe, expect, it } from "vitest";
import { COMMANDS } from "./commands/all.ts";
import { parseCommandLine } from "./command/command-line.ts";

const parse = (...argv: string[]) => parseCommandLine(argv, COMMANDS, false);

describe("the commands about MCP servers", () => {
  it("take a command after --, whatever its arguments look like", () => {
    const argv = [
      "add",
      "a",
      "--env",
      "K=a=b",
      "--env",
      "L=2",
      "--json",
      "--",
      "npx",
      "-y",
      "--json",
      "--",
      "x",
    ];
    expect(parse(...argv)).toMatchObject({
      command: "add",
      name: "a",
      entry: { command: "npx", args: ["-y", "--json", "--", "x"], env: { K: "a=b", L: "2" } },
      options: { json: true },
    });
  });

  it("keep a variable's value as it is, also an empty one", () => {
    const argv = ["add", "a", "--env", "EMPTY=", "--env", " SPACED= x ", "--", "node"];
    expect(parse(...argv)).toMatchObject({ entry: { env: { EMPTY: "", SPACED: " x " } } });
  });

  it("take a URL with headers", () => {
    const url = "https://x.example/mcp";
    expect(
      parse("add", "a", url, "--header", "Authorization: Bearer ${T}", "--transport", "sse"),
    ).toMatchObject({
      entry: { url, type: "sse", headers: { Authorization: "Bearer ${T}" } },
    });
    expect(parse("add", "a", url)).toMatchObject({ entry: { url } });
  });

  it("take which servers are meant, and what to do", () => {
    expect(parse("generate")).toMatchObject({ servers: [], accept: false });
    expect(parse("generate", "a", "b", "--accept")).toMatchObject({
      servers: ["a", "b"],
      accept: true,
    });
    expect(parse("import", "-y", "a")).toMatchObject({ names: ["a"], yes: true });
    expect(parse("auth", "a", "--no-browser")).toMatchObject({ server: "a", browser: false });
  });

  it.each([
    [["add", "a"], /missing required argument 'target'\. See: cem add --help/iu],
    [["add", "a", "--header", "X", "https://x.example"], /It looks like 'Authorization/u],
    [["add", "a", "--header", "X: ", "https://x.example"], /It looks like 'Authorization/u],
    [["add", "a", "--env", "=x", "--", "node"], /It looks like 'API_KEY/u],
    [["add", "a", "ftp://x.example/y"], /begins with http:\/\/ or https:\/\/, and this one is "ftp:\/\/x/u],
    [["add", "", "--", "node", "x"], /The server's name is empty/u],
    [["init", " "], /The folder's name is empty/u],
    [["add", "a", "--header", "X: y", "--", "node"], /are for a URL/u],
    [["add", "a", "--env", "X=y", "https://x.example"], /--env is for a command/u],
    [["add", "a", "--transport", "ws", "https://x.example"], /Allowed choices are http, sse/u],
  ])("say what is wrong with %j", (argv, message) => {
    expect(() => parse(...argv)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) }),
    );
  });
});
