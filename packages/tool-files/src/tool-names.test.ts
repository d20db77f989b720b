import { Script } from "node:vm";
import { describe, expect, it } from "vitest";
import { typeCheck } from "../scripts/evaluate/type-check.ts";
import { planServerFiles } from "./folder/plan-server-files.ts";
import { nameServerFolders, nameTools } from "./tool-names.ts";

function identifiers(
  originals: readonly string[],
  previous?: ReadonlyMap<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    [...nameTools(originals, previous)].map(([original, name]) => [original, name.identifier]),
  );
}

const ODD_NAMES = [
  "delete",
  "default",
  "then",
  "constructor",
  "__proto__",
  "await",
  "callTool",
  "Promise",
  "index",
  "con",
  "CON",
  "NUL",
  "../../escape",
  "/etc/passwd",
  "a\\b",
  "a\0b",
  "C:\\x",
  "🙂",
  "🙂🙂",
  "查询天气",
  "e\u0301",
  "é",
  "a\u200Db",
  "ab",
  "a\uFE0Fb",
  "\u3164",
  "36kr",
  "x".repeat(300),
  "x".repeat(301),
  "get-user",
  "get.user",
  "get user",
  "getUser",
  "GetUser",
  "GETUSER",
  "_",
  "__",
  "$",
  "\uD800",
  "-",
  "a;b()",
  "com1",
  "lpt¹",
  "toString",
  "hasOwnProperty",
];

describe("nameTools", () => {
  it("keeps valid identifiers and makes the others valid", () => {
    expect(identifiers(["get_weather", "list-items", "delete", "36kr", "查询天气", "../x"])).toEqual({
      get_weather: "get_weather",
      "list-items": "list_items",
      delete: "delete_",
      "36kr": "_36kr",
      查询天气: "查询天气",
      "../x": "x",
    });
  });

  it("gives every name a usable identifier and a safe file, each once, whatever the letter case", () => {
    const names = [...nameTools(ODD_NAMES).values()];
    expect(names).toHaveLength(ODD_NAMES.length);
    expect(new Set(names.map((name) => name.identifier)).size).toBe(ODD_NAMES.length);
    expect(new Set(names.map((name) => name.file.toLowerCase())).size).toBe(ODD_NAMES.length);
    for (const { identifier, file } of names) {
      // The engine itself is the judge of what may name a function in a module.
      expect(
        () => new Script(`"use strict"; async () => { async function ${identifier}() {} }`),
      ).not.toThrow();
      expect(file).toMatch(/^[\w$][\w$-]{0,150}\.ts$/);
      expect(file).not.toMatch(/^(?:con|nul|com1|index)\.ts$/i);
    }
    expect(names.map((name) => name.identifier)).not.toContain("then");
  });

  it("names functions that compile and are exported under that name", () => {
    const words =
      "type as async of from get set require module exports Object Array String Error Record input args T any " +
      "unknown never string global window let static enum undefined NaN eval arguments interface readonly declare " +
      "satisfies using accessor Map Symbol console process namespace abstract keyof infer is asserts void null";
    const definitions = [...ODD_NAMES, ...words.split(" ")].map((name) => ({
      name,
      outputSchema: { type: "string" },
    }));
    const { files, lock } = planServerFiles({ server: "odd", definitions });
    expect(lock.tools).toHaveLength(definitions.length);
    const modules = [...files].filter(([file]) => file.endsWith(".ts"));
    expect(typeCheck(modules.map(([file, code]) => ({ file: `odd/${file}`, code })))).toEqual([]);
  });

  it("does not depend on the order", () => {
    const forward = Object.fromEntries(nameTools(ODD_NAMES));
    expect(Object.fromEntries(nameTools(ODD_NAMES.toReversed()))).toEqual(forward);
  });

  it("leaves a valid name to the tool that has it", () => {
    const names = identifiers(["my-tool", "my_tool", "my.tool"]);
    expect(names["my_tool"]).toBe("my_tool");
    expect(names["my-tool"]).toMatch(/^my_tool_[0-9a-f]{6}$/);
    expect(names["my.tool"]).not.toBe(names["my-tool"]);
  });

  it("keeps an earlier name when the tool it had to make room for is gone", () => {
    const before = new Map(Object.entries(identifiers(["my-tool", "my.tool"])));
    expect(identifiers(["my-tool"], before)["my-tool"]).toBe(before.get("my-tool"));
    expect(identifiers(["my-tool", "my_tool"], new Map([["my-tool", "my_tool"]]))["my_tool"]).toBe("my_tool");
  });
});

describe("nameServerFolders", () => {
  it("keeps safe names and makes the others safe", () => {
    const names = [
      "github",
      "../up",
      "a/b",
      ".hidden",
      "con",
      "con.x",
      "",
      "..",
      "Server",
      "server",
      "ü",
      "x".repeat(200),
      "io.github.x",
    ];
    const folders = nameServerFolders(names);
    expect(folders.get("github")).toBe("github");
    expect(folders.get("io.github.x")).toBe("io.github.x");
    expect(folders.get("../up")).toBe("up");
    expect(folders.get("server")).toBe("server");
    expect(new Set([...folders.values()].map((folder) => folder.toLowerCase())).size).toBe(names.length);
    for (const folder of folders.values()) {
      expect(folder).toMatch(/^\w[\w.-]{0,70}$/);
      expect(folder).not.toMatch(/^(?:con|nul)(?:\.|$)/i);
    }
  });

  it("leaves a folder to the server that has it, else to the first", () => {
    expect([...nameServerFolders(["my crm", "my/crm"]).values()]).toEqual([
      "my-crm",
      expect.stringMatching(/^my-crm-[\da-f]{6}$/u),
    ]);
    const second = nameServerFolders(["my crm", "my/crm"]).get("my/crm") ?? "";
    const owners: Record<string, string> = { [second]: "my/crm" };
    expect(nameServerFolders(["my/crm"], (folder) => owners[folder])).toEqual(new Map([["my/crm", second]]));
    owners["my-crm"] = "my crm";
    const turned = nameServerFolders(["my/crm", "my-crm", "my crm"], (folder) => owners[folder]);
    expect([turned.get("my crm"), turned.get("my/crm")]).toEqual(["my-crm", second]);
    expect(turned.get("my-crm")).toMatch(/^my-crm-[\da-f]{6}$/u);
  });
});
