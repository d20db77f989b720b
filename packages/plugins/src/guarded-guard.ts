import { toErrorInfo } from "@cem/core";
import type { Finding, Guard, ReviewRequest, Verdict } from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";

const REVIEW_TIMEOUT_MS = 10_000;
const MAX_FINDINGS = 100;

/** A guard of a plugin. */
export interface OwnedGuard {
  guard: Guard;
  use: PluginUse;
}

/**
 * Adds guards to one. Each reviews what those before it allow, and can refuse it; none can allow what another refused. One
 * that fails is passed over with a warning, or refuses where its plugin is required.
 */
export function addGuards(first: Guard, added: readonly OwnedGuard[]): Guard {
  if (added.length === 0) return first;
  const inspecting = added.filter(({ guard }) => typeof guard.inspect === "function");
  const combined: Guard = {
    specificationVersion: "v1",
    async review(request) {
      const verdict = await first.review(request);
      const findings = [...verdict.findings];
      let { allowed } = verdict;
      for (const own of added) {
        if (!allowed) break;
        const added = await reviewWith(own, request);
        ({ allowed } = added);
        findings.push(...added.findings);
      }
      return { ...verdict, allowed, findings };
    },
  };
  if (first.inspect === undefined && inspecting.length === 0) return combined;
  combined.inspect = async (value, output) => {
    const rules = [...((await first.inspect?.(value, output)) ?? [])];
    for (const { guard, use } of inspecting) {
      const found = await use
        .call("guard", { timeoutMs: REVIEW_TIMEOUT_MS }, () => guard.inspect?.(value, output))
        .catch(() => []);
      if (Array.isArray(found)) rules.push(...found.filter((rule) => typeof rule === "string"));
    }
    return rules;
  };
  return combined;
}

async function reviewWith({ guard, use }: OwnedGuard, request: ReviewRequest): Promise<Verdict> {
  const { signal } = request;
  try {
    const verdict = await use.call("guard", { timeoutMs: REVIEW_TIMEOUT_MS, signal }, (own) =>
      guard.review({ ...request, tools: [...request.tools], signal: own }),
    );
    return toVerdict(verdict, use);
  } catch (error) {
    signal?.throwIfAborted();
    const { message } = toErrorInfo(error);
    const severity = use.isRequired ? "error" : "warning";
    const hint = use.isRequired ? "Nothing runs without this plugin." : "The code was reviewed without it.";
    return { allowed: !use.isRequired, findings: [{ rule: "plugin-failed", severity, message, hint }] };
  }
}

/** @throws CemError `PLUGIN_FAILED` for what is no verdict. */
function toVerdict(given: unknown, use: PluginUse): Verdict {
  const { allowed, findings: found = [] } = (given ?? {}) as { allowed?: unknown; findings?: unknown };
  if (typeof allowed !== "boolean" || !Array.isArray(found)) {
    throw use.unusable("guard", "it has to return { allowed, findings }");
  }
  const findings = found.slice(0, MAX_FINDINGS).map((one) => toFinding(one, use.name));
  const isRefused = !allowed || findings.some(({ severity }) => severity === "error");
  if (isRefused && !findings.some(({ severity }) => severity === "error")) {
    const message = `The plugin ${use.name} refuses this code and gives no reason.`;
    findings.push({ rule: `${use.name}/refused`, severity: "error", message });
  }
  return { allowed: !isRefused, findings };
}

function toFinding(given: unknown, plugin: string): Finding {
  const { rule, severity, message, hint, line, column } = (given ?? {}) as Partial<
    Record<keyof Finding, unknown>
  >;
  return {
    rule: `${plugin}/${typeof rule === "string" ? rule : "finding"}`,
    severity: severity === "warning" ? "warning" : "error",
    message: typeof message === "string" ? message : `The plugin ${plugin} found something in this code.`,
    hint: typeof hint === "string" ? hint : undefined,
    line: isPlace(line) ? line : undefined,
    column: isPlace(column) ? column : undefined,
  };
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
