import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { failure, folderWith, load } from "../test/config-folder.ts";
import { loadConfig } from "./index.ts";

async function message(yaml: string | Uint8Array): Promise<string> {
  const error = await failure(load(yaml));
  expect(error.code).toBe("CONFIG_INVALID");
  return error.message;
}

describe("a config.yaml that is not what it should be", () => {
  it.each<[string, string, string]>([
    ["a tab", "llm:\n\tmodel: x", "config.yaml:2  is indented by a tab; use spaces."],
    [
      "a key given twice",
      "llm:\n  model: a\n  model: b",
      'config.yaml:3  sets "model" twice, first on line 2.',
    ],
    ["a lacking quote", 'llm:\n  model: "x', "config.yaml:2  lacks a closing quote"],
    [
      "a bracket that is not closed",
      "llm:\n  model: [a\n  enabled: true\n",
      "config.yaml:2  lacks a closing bracket: a [ is",
    ],
    [
      "a brace that is not closed",
      "mcpServers: {a: {command: x}\nllm:\n",
      "config.yaml:1  lacks a closing bracket: a { is",
    ],
    [
      "a bracket closed by a brace",
      '{"a": {"args": ["-y"}}',
      "config.yaml:1  lacks a closing bracket: a [ is",
    ],
    [
      "a quote in lines above",
      'llm:\n  model: "x\n  enabled: true\n',
      "config.yaml:2  lacks a closing quote",
    ],
    [
      "no space after a colon",
      "llm:\n  model:x",
      "config.yaml:1  llm  is a text. Write a space after the colon in it.",
    ],
    ["an unknown tag", "llm:\n  model: !env X", "config.yaml:2  has a tag (!…), which means nothing here"],
    ["a Python tag", "llm: !!python/object:os.system {}", "config.yaml:1  has a tag"],
    ["an alias of nothing", "llm: *sk", "config.yaml:1  uses an alias (*…)"],
    ["two documents", "llm:\n---\nllm:", "config.yaml:2  starts a second document"],
    ["a list", "- a\n- b", "config.yaml  is not a mapping of settings"],
    ["a text", "hello", "config.yaml  is not a mapping of settings"],
    ["a key that is a list", "? [a]\n: 1", "config.yaml:1  has a key that is not text"],
    ["an anchor inside itself", "workflows: &a [*a]", "within what it stands for"],
    ["deep nesting", `workflows: ${"[".repeat(2_000)}${"]".repeat(2_000)}`, "is nested"],
    ["very deep nesting", `workflows: ${"[".repeat(20_000)}`, "config.yaml"],
    ["a wrong indent", "llm:\n   model: x\n  temperature: 1", "config.yaml:3"],
  ])("is refused: %s", async (_, yaml, expected) => {
    expect(await message(yaml)).toContain(expected);
  });

  it("is refused when aliases blow it up", async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    const yaml = `workflows:\n- config:\n    l0: &l0 [x]\n${levels.map((line) => `    ${line}`).join("\n")}`;
    expect(await message(yaml)).toContain("uses aliases (*…) for more than it may hold");
  });

  it("is refused when it merges what is no map", async () => {
    expect(await message("<<: workflows")).toContain("uses <<: with something that is not a map");
  });

  it("is refused when it is large, not text, or a folder", async () => {
    expect(await message("#".repeat(1024 * 1024 + 1))).toContain("is not a file of at most 1024 KiB");
    expect(await message(new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe]))).toContain("is not text in UTF-8");
    const cwd = await folderWith({});
    await mkdir(join(cwd, "folder.yaml"));
    expect((await failure(loadConfig({ cwd, env: {}, configFile: "folder.yaml" }))).message).toContain(
      "is not a file",
    );
  });

  it("is refused when it has thousands of unknown keys", async () => {
    const keys = Array.from({ length: 3_000 }, (_, index) => `k${index}: 1`).join("\n");
    expect(await message(keys)).toContain("The configuration has 3000 problems.");
  });

  it("can't reach the prototype", async () => {
    const yaml =
      'mcp_servers: [{name: a, url: b, metadata: {"__proto__": {polluted: 1}, constructor: {prototype: {polluted: 1}}}}]';
    await expect(message(yaml)).resolves.toContain("mcp_servers[0].metadata.__proto__  can't be a name");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("never quotes what may be a secret", async () => {
    for (const yaml of [
      "llm: {api_key: *sk-123}",
      "llm: {api_key: !sk-123 x}",
      'llm: {api_key: "sk-123\\q"}',
      "llm: sk-123",
      "api_ky: sk-123",
    ]) {
      expect(await message(yaml)).not.toContain("sk-123");
    }
  });
});

describe("YAML's own means", () => {
  it("work: anchors, aliases, merge keys, a byte order mark, Windows line ends", async () => {
    const { config, origins } = await load(
      "\uFEFFworkflows:\r\n- &one {name: a, steps: [], variables: {x: 1}}\r\n- {<<: *one, name: b}\r\n- *one\r\n",
    );
    expect(config.workflows.map(({ name, variables }) => [name, variables])).toEqual([
      ["a", { x: 1 }],
      ["b", { x: 1 }],
      ["a", { x: 1 }],
    ]);
    expect(origins["workflows"]?.line).toBe(1);
  });
});
