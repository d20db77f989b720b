import { parseProgram } from "@cem/program";
import { describe, expect, it } from "vitest";
import { toProgramCode, toSkillFile } from "./skill-draft.ts";

const PROGRAM = `import { read_graph } from "./servers/memory/index.ts";
import type { Entity } from "/workspace/servers/memory/index.ts";
export { double_number } from "skills/double_number/index.ts";
import "node:fs";
export const later = async () => import("./servers/memory/index.ts");
export type Graph = import("./servers/memory/index.ts").Graph;
export const text = 'import("./servers/memory/index.ts")';
export const named = (name: string) => import(name);
`;

const FILE = `import { read_graph } from "../../servers/memory/index.ts";
import type { Entity } from "../../servers/memory/index.ts";
export { double_number } from "../../skills/double_number/index.ts";
import "node:fs";
export const later = async () => import("../../servers/memory/index.ts");
export type Graph = import("../../servers/memory/index.ts").Graph;
export const text = 'import("./servers/memory/index.ts")';
export const named = (name: string) => import(name);
`;

describe("imports of a skill's code", () => {
  it("are written as its file needs them, wherever in the code they stand", () => {
    const parsed = parseProgram(PROGRAM);
    expect(parsed.ok && toSkillFile(parsed.program)).toBe(FILE);
  });

  it("are written as a program needs them", () => {
    const again = toProgramCode(FILE);
    expect(again).not.toContain('"../../');
    expect(toProgramCode(again)).toBe(again);
  });
});
