import path from "node:path";
import type {
  CatalogSnapshot,
  Finding,
  GenerationRefused,
  ToolDefinition,
  ToolProblem,
  UnfilledStep,
  Verdict,
} from "@cem/core";
import type { RunContext } from "./stages.ts";

/** A server's folder in the path of an import. */
const SERVER_FOLDER = /servers\/([\w.-]+)/gu;

/**
 * The stage `discover`: reads the catalog.
 *
 * @param code - Only servers that given code imports from are waited for; all of them if it imports from none and may call
 *   tools otherwise: by their names alone, or in skills and files.
 */
export async function discover({ stages, signal, progress }: RunContext, code?: string) {
  const folders = Array.from((code ?? "").matchAll(SERVER_FOLDER), ([, folder = ""]) => folder);
  const mayNeedAny = code === undefined || (folders.length === 0 && (await mayNeedTools(code)));
  const servers = mayNeedAny ? undefined : folders;
  const list = async (): Promise<CatalogSnapshot> => (await stages.catalog.get()).list({ signal, servers });
  const { result: catalog, ms } = await progress.stage("discover", list);
  const skills = catalog.servers.filter(({ kind }) => kind === "skill").length;
  progress.emit({
    type: "discovered",
    servers: catalog.servers.length - skills,
    tools: toolsOf(catalog).filter(({ kind }) => kind !== "skill").length,
    skills,
    problems: catalog.problems.length,
    ms,
  });
  return catalog;
}

async function mayNeedTools(code: string): Promise<boolean> {
  const { isQuicklyRead, mayCallTools } = await import("@cem/program");
  return !isQuicklyRead(code) || mayCallTools(code);
}

export function toolsOf({ servers }: CatalogSnapshot): ToolDefinition[] {
  return servers.flatMap(({ tools }) => tools);
}

export function callable(all: readonly ToolDefinition[]): ToolDefinition[] {
  return all.filter(({ unavailable }) => unavailable === undefined);
}

const UNKNOWN = new Set(["unknown-skill", "unknown-server"]);

/** Adds to findings about unknown servers and skills that their file exists but can't be used, with the reason. */
export function withProblems(verdict: Verdict, problems: readonly ToolProblem[]): Verdict {
  if (problems.length === 0) return verdict;
  const explain = (finding: Finding): Finding => {
    if (!UNKNOWN.has(finding.rule)) return finding;
    const unknown = new Set(Array.from(finding.message.matchAll(/"([^"]+)"/gu), ([, name]) => name));
    const named = problems.filter(({ server, servers = [], file }) =>
      [server, path.basename(file), ...servers].some((name) => name !== "" && unknown.has(name)),
    );
    return named.length === 0 ? finding : { ...finding, hint: named.map(({ message }) => message).join(" ") };
  };
  return { ...verdict, findings: verdict.findings.map(explain) };
}

/** Adds to a refusal the unusable files that the task names, with the reason. */
export function withNamedProblems(
  refusal: GenerationRefused,
  task: string,
  problems: readonly ToolProblem[],
): GenerationRefused {
  const words = new Set(wordsOf(task));
  const named = problems.filter(({ server }) => {
    const name = wordsOf(server);
    return name.length > 0 && name.every((word) => words.has(word));
  });
  const steps = named.map(({ message }): UnfilledStep => ({ step: task, reason: "no-tool", hint: message }));
  return steps.length === 0 ? refusal : { ...refusal, steps: [...refusal.steps, ...steps] };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
