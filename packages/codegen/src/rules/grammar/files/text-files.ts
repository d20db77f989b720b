import type { ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";
import { makeFolder, markNeeded } from "../../planning/documents.ts";
import { callFileSystem } from "../../planning/file-system.ts";
import type { Plan } from "../../planning/plan.ts";
import { hasType, type Value } from "../../planning/value.ts";
import { type Expression, literal } from "../../program/expression.ts";
import { readParameters } from "../calls/parameters.ts";
import { kindOfTool } from "../calls/verbs.ts";

/** Reads a text file, with the tool for it where there is one. */
export function readText(plan: Plan, path: string): Value {
  const open = plan.documents.findLast((document) => document.path === path);
  if (open?.isDirty === true) markNeeded(plan, open);
  const tool = findFileTool(plan.tools, "read");
  const expression =
    tool === undefined
      ? callFileSystem(plan, "readFile", literal(path), literal("utf8"))
      : plan.callTool(tool, new Map([[pathParameter(tool), literal(path)]]));
  plan.lastPath = path;
  return plan.declare(expression, { words: "content", schema: tool?.outputSchema ?? { type: "string" } });
}

/** Writes a text file, with the tool for it where there is one. */
export function writeText(plan: Plan, path: string, content: Expression): void {
  const tool = findFileTool(plan.tools, "write");
  if (tool === undefined) {
    makeFolder(plan, path);
    plan.add({ kind: "do", value: callFileSystem(plan, "writeFile", literal(path), content) });
  } else {
    const args = new Map([
      [pathParameter(tool), literal(path)],
      [contentParameter(tool) ?? "content", content],
    ]);
    const called = plan.callTool(tool, args);
    plan.declare(called, { words: "written", schema: tool.outputSchema ?? {}, isEffect: true });
  }
  plan.lastPath = path;
}

/** Adds to the end of a text file. */
export function appendText(plan: Plan, path: string, content: Expression): void {
  plan.add({ kind: "do", value: callFileSystem(plan, "appendFile", literal(path), content) });
  plan.lastPath = path;
}

/** Lists what is in a folder, with the tool for it where there is one. */
export function listFolder(plan: Plan, path: string): void {
  const tool = findFileTool(plan.tools, "list");
  if (tool !== undefined) {
    const listed = plan.callTool(tool, new Map([[pathParameter(tool), literal(path)]]));
    plan.declare(listed, { words: "entries", schema: tool.outputSchema ?? {} });
    return;
  }
  const schema = { type: "array", items: { type: "string" } };
  plan.declare(callFileSystem(plan, "readdir", literal(path)), { words: "files", schema });
}

/** The tool that reads or writes a file, or lists a folder, by its name and parameters. */
function findFileTool(
  tools: readonly ToolDefinition[],
  kind: "read" | "write" | "list",
): ToolDefinition | undefined {
  const noun = kind === "list" ? /^(?:file|files|directory|folder)$/u : /^(?:file|files|text)$/u;
  return tools.find((tool) => {
    const words = splitWords(tool.name);
    const parameters = readParameters(tool);
    const required = parameters.filter((one) => one.isRequired);
    const takesPath = parameters.some((one) => one.role === "path");
    const takesOnlyPath = required.every((one) => one.role === "path");
    const fits =
      kind === "write"
        ? contentParameter(tool) !== undefined && required.length === 2
        : takesOnlyPath && (required.length === 1 || (kind === "list" && required.length === 0));
    const isFile = takesPath && words.some((word) => noun.test(word)) && !words.includes("multiple");
    return isFile && kindOfTool(words) === kind && fits;
  });
}

function pathParameter(tool: ToolDefinition): string {
  return readParameters(tool).find((one) => one.role === "path")?.name ?? "path";
}

function contentParameter(tool: ToolDefinition): string | undefined {
  return readParameters(tool).find((one) => one.role === "message" && hasType(one.schema, "string"))?.name;
}
