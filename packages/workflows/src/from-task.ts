import type { CatalogSnapshot, JsonObject, JsonValue, SessionTask } from "@cem/core";
import { CemError } from "@cem/core";
import { stringify } from "yaml";

const PROGRAM_LINE =
  /^(?:(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*)?(return\s+|export default\s+)?await\s+([A-Za-z_$][\w$]*)\((.*)\);?$/u;
const IMPORT_LINE = /^import\s*\{([^}]*)\}\s*from\s*["']\.\/(?:servers|skills)\/([\w.-]+)\/index\.ts["'];?$/u;
const MAX_NAME_CHARACTERS = 60;

/**
 * Turns a logged task that worked into a workflow: calls with fixed arguments that stand by themselves become steps, any
 * other program becomes one step of code.
 *
 * @throws CemError `WORKFLOW_INVALID` for a task that failed or ran no code.
 */
export function workflowFromTask(task: SessionTask, catalog: CatalogSnapshot | undefined): JsonObject {
  if (task.error !== null || task.code.trim() === "") {
    const why = task.error === null ? "it ran no code" : `it failed: ${task.error}`;
    throw new CemError("WORKFLOW_INVALID", `${task.task_id} can't become a workflow: ${why}.`, {
      details: { task: task.task_id },
    });
  }
  const described = task.description === "" ? `Made of ${task.task_id}` : task.description;
  const name = slugOf(task.description) ?? task.task_id.replaceAll("_", "-");
  const steps = callsOf(task.code, catalog) ?? [
    { name: "code", type: "code_execution", config: { code: task.code } },
  ];
  return { name, description: described, version: "1.0", variables: {}, steps };
}

/** Writes a workflow as YAML, with a comment on its first line. */
export function workflowToYaml(workflow: JsonObject, comment: string): string {
  return `# ${comment.replaceAll(/\s+/gu, " ")}\n${stringify(workflow, { lineWidth: 110 })}`;
}

/** The calls of a program that consists of nothing else. */
function callsOf(code: string, catalog: CatalogSnapshot | undefined): JsonObject[] | undefined {
  const servers = new Map<string, string>();
  const names = new Set<string>();
  const steps: JsonObject[] = [];
  for (const line of code.split("\n").map((one) => one.trim())) {
    if (line === "" || line.startsWith("//")) continue;
    const imported = IMPORT_LINE.exec(line);
    if (imported !== null) {
      for (const tool of (imported[1] ?? "").split(",")) servers.set(tool.trim(), imported[2] ?? "");
      continue;
    }
    const call = PROGRAM_LINE.exec(line);
    if (call === null) return undefined;
    const [, variable, , tool = "", written = ""] = call;
    const server = servers.get(tool);
    const args = argumentsOf(written);
    if (server === undefined || args === undefined || usesPositions(server, tool, catalog)) return undefined;
    const name = variable ?? tool;
    if (names.has(name)) return undefined;
    names.add(name);
    steps.push({ name, type: "tool_call", config: { server, tool, arguments: args } });
  }
  return steps.length === 0 ? undefined : steps;
}

/** Arguments that are fixed: JSON, with or without quotes around keys. */
function argumentsOf(written: string): JsonObject | undefined {
  const text =
    written.trim() === "" ? "{}" : written.replaceAll(/([{,]\s*)([A-Za-z_$][\w$]*)\s*:/gu, '$1"$2":');
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function usesPositions(server: string, tool: string, catalog: CatalogSnapshot | undefined): boolean {
  const found = catalog?.servers.find(({ name }) => name === server)?.tools.find(({ name }) => name === tool);
  return found?.callStyle === "positional";
}

function slugOf(description: string): string | undefined {
  const words = description.toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-");
  const slug = words.replaceAll(/^-|-$/gu, "").slice(0, MAX_NAME_CHARACTERS);
  return slug === "" ? undefined : slug.replace(/-$/u, "");
}
