import { toErrorInfo, toolId } from "@cem/core";
import type {
  CodeGenerator,
  Finding,
  GeneratedCode,
  GenerationRefused,
  Guard,
  RankedTool,
  Selection,
  SelectRequest,
  ToolDefinition,
  ToolSelector,
  Verdict,
} from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";
import { guardPart } from "./guarded-part.ts";

const MAX_FINDINGS = 100;

export interface OwnedStage<Stage> {
  stage: Stage;
  use: PluginUse;
}

export function ownedGuard(guard: Guard, use: PluginUse): OwnedStage<Guard> {
  const isVerdict = (given: Partial<Verdict> | undefined): boolean =>
    typeof given?.allowed === "boolean" && Array.isArray(given.findings ?? []);
  const stage = guardPart("guard", guard, use, {
    review: { is: isVerdict, words: "{ allowed, findings }" },
    inspect: { is: Array.isArray, words: "a list of rules" },
  });
  return { stage, use };
}

export function ownedGenerator(generator: CodeGenerator, use: PluginUse): OwnedStage<CodeGenerator> {
  const words = '{ status: "generated", code, origin, uses } or a refusal';
  const isAnswer = (given: Partial<GeneratedCode | GenerationRefused> | undefined): boolean =>
    given?.status === "refused" ||
    (given?.status === "generated" && (given.code ?? "").trim() !== "" && Array.isArray(given.uses));
  const stage = guardPart("generator", generator, use, { generate: { is: isAnswer, words } });
  return { stage, use };
}

export function ownedSelector(selector: ToolSelector, use: PluginUse): OwnedStage<ToolSelector> {
  const isSelection = (given: Partial<Selection> | undefined): boolean => Array.isArray(given?.selected);
  const stage = guardPart("selector", selector, use, {
    select: { is: isSelection, words: "{ selected, nearest }" },
    search: { is: Array.isArray, words: "a list of ranked tools" },
    prepare: undefined,
  });
  return { stage, use };
}

/**
 * Chains guards behind a first one. Each reviews what those before it allowed, and can refuse it; none can allow what
 * another refused. A guard that fails is skipped with a warning, or refuses if its plugin is required.
 */
export function addGuards(first: Guard, added: readonly OwnedStage<Guard>[]): Guard {
  if (added.length === 0) return first;
  const inspecting = [first, ...added.map(({ stage }) => stage)].filter((guard) => "inspect" in guard);
  return {
    specificationVersion: "v1",
    async review(request) {
      const verdict = await first.review(request);
      const findings = [...verdict.findings];
      let { allowed } = verdict;
      for (const { stage, use } of added) {
        if (!allowed) break;
        const own = await stage.review(request).then(
          (given) => toVerdict(given, use.name),
          (error: unknown) => {
            request.signal?.throwIfAborted();
            return failedVerdict(error, use);
          },
        );
        ({ allowed } = own);
        findings.push(...own.findings);
      }
      return { ...verdict, allowed, findings };
    },
    ...(inspecting.length > 0 && {
      async inspect(value, output) {
        const rules = inspecting.map(async (guard) =>
          guard === first ? guard.inspect?.(value, output) : guard.inspect?.(value, output).catch(() => []),
        );
        return (await Promise.all(rules)).flatMap((found) => found ?? []).map(String);
      },
    }),
  };
}

function failedVerdict(error: unknown, { isRequired }: PluginUse): Verdict {
  const { message } = toErrorInfo(error);
  const severity = isRequired ? "error" : "warning";
  const hint = isRequired ? "Nothing runs without this plugin." : "The code was reviewed without it.";
  return { allowed: !isRequired, findings: [{ rule: "plugin-failed", severity, message, hint }] };
}

/** A verdict whose rules carry the plugin's name. A finding of severity error refuses the code, even if the plugin allowed it. */
function toVerdict({ allowed, findings = [] }: Partial<Verdict>, plugin: string): Verdict {
  const given: readonly (Partial<Finding> | undefined)[] = findings;
  const named = given.slice(0, MAX_FINDINGS).map((finding = {}): Finding => {
    const { rule = "finding", message = `The plugin ${plugin} found something in this code.` } = finding;
    const severity = finding.severity === "warning" ? "warning" : "error";
    return { ...finding, rule: `${plugin}/${rule}`, severity, message };
  });
  const isError = named.some(({ severity }) => severity === "error");
  if (allowed === false && !isError) {
    const message = `The plugin ${plugin} refuses this code and gives no reason.`;
    named.push({ rule: `${plugin}/refused`, severity: "error", message });
  }
  return { allowed: allowed === true && !isError, findings: named };
}

/** Asks the generators of plugins in order, then the last one if none of them wrote code. */
export function askGenerators(own: readonly OwnedStage<CodeGenerator>[], last: CodeGenerator): CodeGenerator {
  if (own.length === 0) return last;
  return {
    ...last,
    async generate(request) {
      const failures: string[] = [];
      for (const { stage, use } of own) {
        const answer = await orNoted(request, failures, () => stage.generate(request));
        if (answer === undefined || answer.status === "refused") continue;
        const notes = [...failures, ...(answer.notes ?? []), `written by the plugin ${use.name}`];
        const uses = inCatalog(
          answer.uses,
          [request.tools, request.otherTools ?? [], request.namedTools ?? []].flat(),
        );
        const origin = answer.origin === "rules" ? "rules" : "llm";
        // A plugin can't exempt its own code from the type check.
        return { ...answer, origin, isChecked: false, uses, notes };
      }
      const answer = await last.generate(request);
      return failures.length === 0 ? answer : { ...answer, notes: [...failures, ...(answer.notes ?? [])] };
    },
  };
}

/** Asks the selectors of plugins in order, then the last one if none of them picked a tool. */
export function askSelectors(own: readonly OwnedStage<ToolSelector>[], last: ToolSelector): ToolSelector {
  if (own.length === 0) return last;
  return {
    specificationVersion: "v1",
    async select(request) {
      const failures: string[] = [];
      for (const { stage, use } of own) {
        const answer = await orNoted(request, failures, () => stage.select(request));
        const selected = toRanked(answer?.selected, request);
        if (selected.length === 0) continue;
        const notes = [...failures, ...(answer?.notes ?? []), `by the plugin ${use.name}`];
        return { selected, nearest: toRanked(answer?.nearest, request), notes };
      }
      const answer = await last.select(request);
      return failures.length === 0 ? answer : { ...answer, notes: [...failures, ...(answer.notes ?? [])] };
    },
    async search(request) {
      const notes: string[] = [];
      for (const { stage, use } of own) {
        const ranked = toRanked(await orNoted(request, notes, () => stage.search(request)), request);
        if (ranked.length === 0) continue;
        for (const note of [...notes, `by the plugin ${use.name}`]) request.onNote?.(note);
        return request.limit === undefined ? ranked : ranked.slice(0, request.limit);
      }
      for (const note of notes) request.onNote?.(note);
      return last.search(request);
    },
    async prepare(...catalog) {
      await Promise.allSettled(own.map(async ({ stage }) => stage.prepare?.(...catalog)));
      await last.prepare?.(...catalog);
    },
  };
}

/** @returns `undefined` if the stage failed, which is noted. */
async function orNoted<Answer>(
  { signal }: { signal?: AbortSignal | undefined },
  notes: string[],
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    signal?.throwIfAborted();
    notes.push(toErrorInfo(error).message);
    return undefined;
  }
}

/** Maps a plugin's picks to the catalog's own definitions, without duplicates. */
function inCatalog(given: readonly unknown[], tools: readonly ToolDefinition[]): ToolDefinition[] {
  const known = new Map(tools.map((tool) => [toolId(tool), tool]));
  const found = given.flatMap((tool) => {
    const { server, name } = (tool ?? {}) as { server?: unknown; name?: unknown };
    return known.get(toolId({ server: String(server), name: String(name) })) ?? [];
  });
  return [...new Set(found)];
}

function toRanked(given: readonly RankedTool[] | undefined, { tools }: SelectRequest): RankedTool[] {
  const ranked = Array.isArray(given) ? (given as readonly Partial<RankedTool>[]) : [];
  const seen = new Set<ToolDefinition>();
  return ranked.flatMap((one) => {
    const [tool] = inCatalog([one?.tool], tools);
    if (tool === undefined || seen.has(tool)) return [];
    seen.add(tool);
    const score = Number(one.score);
    return [{ tool, score: score >= 0 && score <= 1 ? score : 0, reason: one.reason ?? "" }];
  });
}
