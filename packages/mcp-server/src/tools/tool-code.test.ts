import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ToolDefinition } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_TOOL_CODE_BYTES, readToolCode } from "./catalog-tools.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "cem-tool-code-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const tool = (file: string, kind: ToolDefinition["kind"] = "local"): ToolDefinition => ({
  server: "s",
  name: "f",
  kind,
  description: "",
  inputSchema: { type: "object" },
  callStyle: "object",
  signature: "f()",
  module: "./servers/s/index.ts",
  file,
});

describe("readToolCode", () => {
  it("reads the file of a tool that runs in the sandbox", async () => {
    const file = path.join(folder, "f.ts");
    await writeFile(file, "export function f() {}\n");
    expect(await readToolCode(tool(file))).toBe("export function f() {}\n");
    expect(await readToolCode(tool(file, "host"))).toBeUndefined();
    expect(await readToolCode(tool(path.join(folder, "none.ts")))).toBeUndefined();
    expect(await readToolCode(tool(folder))).toBeUndefined();
  });

  it("cuts a long file between two characters, and says so", async () => {
    const file = path.join(folder, "long.ts");
    await writeFile(file, `//${"é".repeat(MAX_TOOL_CODE_BYTES)}`);
    const code = (await readToolCode(tool(file))) ?? "";
    expect(code).toMatch(/^\/\/é+\n\/\/ … the rest of the file is left out$/);
    expect(Buffer.byteLength(code)).toBeLessThan(MAX_TOOL_CODE_BYTES + 64);
  });
});
