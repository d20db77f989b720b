import path from "node:path";
import type { Config } from "@cem/config";
import { CemError, matchTools, WORKFLOW_FILE, type JsonObject, type JsonValue } from "@cem/core";
import { openHandle } from "@cem/core/files";
import { nearest } from "@cem/core/text";
import type { FindWorkflow, WorkflowSource } from "@cem/workflows";

/** Finds workflows by name in the configuration, or by the path of a file, relative to `folder`. */
export function workflowFinder({ workflows }: Pick<Config, "workflows">, folder: string): FindWorkflow {
  return async (name) => {
    const configured = workflows.find((workflow) => workflow.name === name);
    if (configured !== undefined) return configuredSource(configured);
    if (WORKFLOW_FILE.test(name)) return readSource(path.resolve(folder, name), name);
    const names = workflows.map((workflow) => workflow.name);
    const [meant] = nearest(name, names);
    const known = names.length === 0 ? "None is configured." : `There are: ${names.join(", ")}.`;
    const question = meant === undefined ? known : `Did you mean ${JSON.stringify(meant)}?`;
    throw new CemError("WORKFLOW_NOT_FOUND", `There is no workflow ${JSON.stringify(name)}. ${question}`, {
      details: { workflow: name, known: names },
    });
  };
}

/** A workflow of the configuration, in short. */
export type ConfiguredWorkflow = ReturnType<typeof summarizeWorkflows>[number];

export function summarizeWorkflows({ workflows }: Pick<Config, "workflows">) {
  return workflows.map(({ name, description = "", version, steps, mcpTool }) => ({
    name,
    description,
    version,
    steps: steps.length,
    mcpTool,
  }));
}

export function configuredSource(workflow: Config["workflows"][number]): WorkflowSource {
  const { steps, ...rest } = workflow;
  const value = { ...snakeKeys(rest), steps: steps.map(snakeKeys) };
  // Removes undefined members of a loaded configuration.
  return { value: JSON.parse(JSON.stringify(value)) as JsonValue, origin: `workflow ${workflow.name}` };
}

/** Converts the names of its own settings; values belong to the workflow and stay unchanged. */
function snakeKeys(settings: object): object {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [toSnakeCase(key), value as unknown]),
  );
}

/** @throws CemError `WORKFLOW_NOT_FOUND`, `WORKFLOW_INVALID` for a file that is too large. */
async function readSource(file: string, name: string): Promise<WorkflowSource> {
  const { DefinitionProblems } = await import("@cem/config/definitions");
  try {
    await using handle = await openHandle(file);
    const { size } = await handle.stat();
    new DefinitionProblems("WORKFLOW_INVALID", name).checkSize(size);
    return { text: await handle.readFile("utf8"), origin: name };
  } catch (error) {
    if (CemError.isInstance(error)) throw error;
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "the file does not exist" : String(error);
    throw new CemError("WORKFLOW_NOT_FOUND", `The workflow ${name} can't be read: ${reason}.`, {
      details: { workflow: name },
      cause: error,
    });
  }
}

type Guardrails = Config["guardrails"];

/** Returns the workflow's value if it allows no more than the present one, else `undefined`. */
type Tighten = (present: unknown, wanted: JsonValue) => unknown;

const flag: Tighten = (present, wanted) =>
  typeof wanted === "boolean" && (wanted || present === false) ? wanted : undefined;

const atMost: Tighten = (present, wanted) =>
  typeof wanted === "number" && wanted <= Number(present) ? wanted : undefined;

const more: Tighten = (present, wanted) =>
  Array.isArray(wanted) && Array.isArray(present) && !wanted.some(isExemption)
    ? [...present, ...wanted]
    : undefined;

/** How each guardrail can be tightened. Guardrails not listed can't be set for a workflow. */
const TIGHTEN: Partial<Record<keyof Guardrails, Tighten>> = {
  enabled: flag,
  strictMode: flag,
  contentFiltering: flag,
  securityChecks: flag,
  privacyProtection: flag,
  piiDetection: flag,
  tokenization: flag,
  rateLimiting: flag,
  maxExecutionTime: atMost,
  maxMemoryMb: atMost,
  blockedTools: more,
  blockedPatterns: more,
  approvals: more,
  allowedTools: (present, wanted) =>
    Array.isArray(present) && Array.isArray(wanted)
      ? inBoth(present.map(String), wanted.map(String))
      : undefined,
  changedTools: (present, wanted) => (wanted === "hold" || wanted === present ? wanted : undefined),
};

/**
 * The guardrails of a configuration, tightened by a workflow and its steps.
 *
 * @throws CemError `WORKFLOW_INVALID` for one that would allow more, or that can't be set for a workflow.
 */
export async function tightenGuardrails(
  present: Guardrails,
  wanted: readonly JsonObject[],
): Promise<Guardrails> {
  const tightened: Record<string, unknown> = { ...present };
  for (const [written, value] of wanted.flatMap((overrides) => Object.entries(overrides))) {
    const key = toCamelCase(written);
    const tighten = Object.hasOwn(TIGHTEN, key) ? TIGHTEN[key as keyof Guardrails] : undefined;
    const result = tighten?.(tightened[key], value);
    if (result !== undefined) {
      tightened[key] = result;
      continue;
    }
    const why =
      tighten === undefined
        ? `can't be set for a workflow. These can: ${Object.keys(TIGHTEN).map(toSnakeCase).join(", ")}.`
        : "would allow more than the configuration. Guardrails of workflows only tighten.";
    throw new CemError("WORKFLOW_INVALID", `guardrails.${toSnakeCase(key)} of a workflow ${why}`, {
      details: { guardrail: toSnakeCase(key) },
    });
  }
  return tightened as Guardrails;
}

/** `!tool` among approvals lets a tool through. */
function isExemption(entry: JsonValue): boolean {
  return typeof entry === "string" && entry.startsWith("!");
}

/** Patterns of the tools that both lists allow: patterns of either list that the other covers. */
function inBoth(one: readonly string[], other: readonly string[]): string[] {
  /** Whether patterns match all tools that another pattern matches: they match its text, including `*`. */
  const cover = (patterns: readonly string[], pattern: string): boolean => {
    const [server = "", ...tool] = pattern.split(".");
    return matchTools(patterns)({ server, tool: tool.length === 0 ? "*" : tool.join(".") });
  };
  const kept = [
    ...other.filter((pattern) => cover(one, pattern)),
    ...one.filter((pattern) => cover(other, pattern)),
  ];
  return [...new Set(kept)];
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
