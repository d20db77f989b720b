import { getPath } from "@cem/config/yaml";
import { isObject } from "@cem/core";
import { parser } from "@lezer/python";
import type { LeftOver } from "./migration.ts";

/** Differences in the MCP server's answers, which are not visible in a project's files. */
export const ANSWER_DIFFERENCES: readonly LeftOver[] = [
  'search_tools without detail_level gives signatures: pass "name" for the names of before',
  "get_state and save_state answer with a version besides",
  "get_server_tools of a server that is not there is an error, where it was an empty list",
].map((reason) => ({ place: "clients of the server", reason }));

const MSB_SERVER = "execution.msb_server_url";
/** Keys that have a different effect here. */
const CHANGED_KEYS: Readonly<Record<string, string>> = {
  "optimizations.file_content_cache": "has no effect here: files are read when they are needed",
  "guardrails.content_filtering":
    "refuses destructive commands in arguments of calls and marks results that pose as instructions",
  [MSB_SERVER]: "is used with sandbox_type microsandbox alone, not under auto",
};

/** Describes settings that load but have a different meaning here. */
export function differencesOf(settings: Record<string, unknown>): string[] {
  const { sandbox_type: type } = toRecord(settings["execution"]);
  const changed = Object.entries(CHANGED_KEYS).filter(
    ([path]) =>
      getPath(settings, path.split(".")) !== undefined && !(path === MSB_SERVER && type === "microsandbox"),
  );
  return [
    ...changed.map(([path, reason]) => `${path}  ${reason}`),
    ...listOf(settings["workflows"]).flatMap((workflow) =>
      stepsIn(workflow["steps"])
        .filter(({ config }) => isPython(toRecord(config)["code"]))
        .map(
          (step) =>
            `workflows  step "${String(step["name"])}" of "${String(workflow["name"])}" is written in Python: rewrite it in TypeScript`,
        ),
    ),
  ];
}

/** The steps of a list, including those in branches and loops. */
function stepsIn(value: unknown): Record<string, unknown>[] {
  return listOf(value).flatMap((step) => {
    const inner = Object.values(toRecord(step["config"])).filter((one) => Array.isArray(one));
    return [step, ...inner.flatMap(stepsIn)];
  });
}

/** Whether a text looks like a Python program rather than TypeScript. */
function isPython(text: unknown): boolean {
  if (typeof text !== "string" || /\bawait\b|;\s*$/mu.test(text)) return false;
  let isValid = true;
  parser.parse(`${text}\n`).iterate({ enter: ({ type }) => void (isValid &&= !type.isError) });
  return isValid;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(toRecord) : [];
}

export function toRecord(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
