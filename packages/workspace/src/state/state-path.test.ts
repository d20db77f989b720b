import { describe, expect, it } from "vitest";
import { parseStatePath } from "./state-files.ts";

function refusal(file: string): { code: string; message: string; details: unknown } {
  try {
    parseStatePath(file);
  } catch (error) {
    return error as { code: string; message: string; details: unknown };
  }
  throw new Error("The path had to be refused.");
}

describe("parseStatePath", () => {
  it.each([
    ["state.json", [], "state.json", "/workspace/state.json"],
    ["notes/2026/today.json", ["notes", "2026"], "today.json", "/workspace/notes/2026/today.json"],
    ["/workspace/a/b.json", ["a"], "b.json", "/workspace/a/b.json"],
    [".hidden.json", [], ".hidden.json", "/workspace/.hidden.json"],
    ["größe 1.json", [], "größe 1.json", "/workspace/größe 1.json"],
  ])("parses %j", (file, folders, name, guestPath) => {
    expect(parseStatePath(file)).toEqual({ folders, name, guestPath });
  });

  const leadsOut = "it leads out of the workspace";
  const isOutside = "it is outside the workspace";
  const notPortable = "it contains characters that are not portable in file names";
  const emptyName = 'it contains an empty name or "."';
  const noJson = "it does not end in .json, .yaml, .yml, or .msgpack";
  const longName = "a name in it is longer than 200 bytes";
  it.each([
    ["/etc/passwd.json", isOutside],
    ["/workspace//x.json", isOutside],
    ["../x.json", leadsOut],
    ["a/../x.json", leadsOut],
    ["/workspace/../x.json", leadsOut],
    ["a//x.json", emptyName],
    ["./x.json", emptyName],
    ["x.json/", emptyName],
    ["", emptyName],
    ["x.txt", noJson],
    [".json", noJson],
    ["a/.json", noJson],
    ["x.json.txt", noJson],
    [`${"é".repeat(98)}.json`, longName],
    [`${"a".repeat(201)}/x.json`, longName],
    [`${"a/".repeat(510)}xx.json`, "it is longer than 1024 characters"],
    ["..\\x.json", notPortable],
    ["c:x.json", notPortable],
    ["a*.json", notPortable],
    ["a?.json", notPortable],
    ['a".json', notPortable],
    ["a<.json", notPortable],
    ["a>.json", notPortable],
    ["a|.json", notPortable],
    ["a\0.json", notPortable],
    ["a\u001F.json", notPortable],
    ["a\u007F.json", notPortable],
  ])("refuses %j: %s", (file, reason) => {
    const { code, message, details } = refusal(file);
    expect(code).toBe("STATE_PATH_INVALID");
    expect(message).toBe(
      `${JSON.stringify(file.slice(0, 1_024))} can't be a state file: ${reason}. A state file is a path inside the workspace that ends in .json, .yaml, .yml, or .msgpack, such as "progress.json" or "notes/today.json".`,
    );
    expect(details).toEqual({ file: file.slice(0, 1_024), reason });
  });

  it("accepts names and paths of just the greatest length", () => {
    expect(parseStatePath(`${"é".repeat(100)}/${"n".repeat(195)}.json`).folders).toHaveLength(1);
    expect(parseStatePath(`${"a/".repeat(509)}x.json`).folders).toHaveLength(509);
    expect(parseStatePath(`${"a/".repeat(509)}x.json`).guestPath).toHaveLength(1_024 + "/workspace/".length);
  });

  it("shows only the beginning of a long path", () => {
    expect(refusal("a".repeat(5_000)).message.length).toBeLessThan(1_300);
  });
});
