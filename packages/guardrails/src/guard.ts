import type { Finding, Guard, GuestError, JsonValue, ToolDefinition, Verdict } from "@cem/core";
import { calledTool, matchTools } from "@cem/core";
import { findUnsupported, parseProgram, type Program } from "@cem/program";
import { findBlockedPatterns, parsePattern } from "./review/blocked-patterns.ts";
import { collectParts, Report } from "./review/collect.ts";
import { checkImports, checkMissingImports, checkTests } from "./review/imports.ts";
import { checkSecurity } from "./review/security.ts";
import { callsToApprove, checkToolCalls } from "./review/tool-calls.ts";
import { Values } from "./review/values.ts";
import { checkSecrets } from "./secrets.ts";

/** Maximum number of characters inspected. */
const MAX_CHARACTERS = 256 * 1024;
/** Prefilter: a text without a match contains no instructions for a model. Most results don't match. */
const MAY_ORDER =
  /\b(?:ignore|disregard|forget|override|bypass|instructions?|system|prompt|tool|user|secretly|silently|send|upload|forward|curl|wget)\b|<\|?\/?\s*(?:im_|important|secret)|\[\/?INST\]|[\u{E0000}-\u{E007F}]/iu;

/** Finds instructions for a model in a text. Returns the names of the matching rules. */
export type FindOrders = (text: string) => readonly string[] | Promise<readonly string[]>;

/** Returns the rules that find instructions in a run's value, at any depth, or in its output. */
function inspectWith(find: FindOrders): NonNullable<Guard["inspect"]> {
  return async (value, output) => {
    const found = new Set<string>();
    for (const text of textsOf(value, output)) {
      if (!MAY_ORDER.test(text)) continue;
      for (const rule of await find(text)) found.add(rule);
    }
    return [...found];
  };
}

function* textsOf(value: JsonValue | undefined, output: string): Generator<string> {
  yield output.slice(0, MAX_CHARACTERS);
  let left = MAX_CHARACTERS;
  const pending: unknown[] = [value];
  while (pending.length > 0 && left > 0) {
    const at = pending.pop();
    if (typeof at === "string") {
      yield at.slice(0, left);
      left -= at.length;
    } else if (typeof at === "object" && at !== null) {
      left -= 2;
      // Items of a long list beyond the limit would not be inspected anyway.
      if (Array.isArray(at)) for (const item of at.slice(-left)) pending.push(item);
      else for (const [key, entry] of Object.entries(at)) pending.push(key, entry);
    }
  }
}

/** Maximum number of findings, since every line of a program may have one. */
const MAX_FINDINGS = 100;

/** A custom rule for code. Returns its findings, or nothing; may be asynchronous. */
export type ReviewRule = (
  program: Program,
  tools: readonly ToolDefinition[],
) => readonly Finding[] | undefined | void | Promise<readonly Finding[] | undefined | void>;

export interface GuardSettings {
  /**
   * Whether to review code beyond its imports: code generated from text (`eval`, `Function`), and hard-coded secrets.
   *
   * @defaultValue true
   */
  securityChecks?: boolean | undefined;
  /**
   * Whether warnings refuse code too, not only errors.
   *
   * @defaultValue false
   */
  strict?: boolean | undefined;
  /**
   * Refuses code that matches one of these, ignoring case: regular expressions, or plain text where a pattern isn't a
   * valid expression. Escape sequences in the code are also decoded.
   *
   * @defaultValue none
   */
  blockedPatterns?: readonly string[] | undefined;
  /**
   * Decides which tools code may call: `true`, or the reason why not. Also receives the run's own list of allowed tools.
   *
   * @defaultValue all, or those that the run names
   */
  isAllowed?: ((tool: ToolDefinition, allowedTools?: readonly string[]) => true | string) | undefined;
  /**
   * Finds instructions for a model in a run's result.
   *
   * @defaultValue results are not inspected
   */
  findOrders?: FindOrders | undefined;
  /** Custom rules, applied after the others. A rule that throws, or returns anything but findings, refuses the code. */
  rules?: readonly ReviewRule[] | undefined;
}

/**
 * Creates a guard that reviews code before it runs. It reports early, with a line, what the sandbox would refuse at run
 * time; isolation itself is the task of the sandbox.
 */
export function createGuard(settings: GuardSettings = {}): Guard {
  const { securityChecks = true, strict = false, blockedPatterns = [], rules = [] } = settings;
  const { isAllowed = isNamed, findOrders } = settings;
  const patterns = blockedPatterns.map(parsePattern);
  return {
    specificationVersion: "v1",
    ...(findOrders !== undefined && { inspect: inspectWith(findOrders) }),
    async review({ code, tools, allowedTools, signal }) {
      signal?.throwIfAborted();
      const parsed = parseProgram(code);
      if (!parsed.ok) return refuseSyntax(parsed.error, findBlockedPatterns(code, patterns));
      const { program } = parsed;
      const unsupported = findUnsupported(program);
      if (unsupported !== undefined) return refuseSyntax(unsupported, findBlockedPatterns(code, patterns));
      const parts = collectParts(program.ast.program);
      const values = new Values(parts);
      const findings = findBlockedPatterns(code, patterns, values.knownTexts());
      findings.push(...checkImports(program, parts, values, tools));
      findings.push(...checkMissingImports(program, parts, tools));
      const report = new Report();
      checkTests(parts, values, report);
      if (securityChecks) {
        checkSecurity(parts, values, report);
        checkSecrets(values, report);
      }
      checkToolCalls(parts, values, tools, (tool) => isAllowed(tool, allowedTools), report);
      const own = await Promise.all(rules.map((rule) => applyRule(rule, program, tools)));
      findings.push(...report.findings, ...own.flat());
      const needsApproval = callsToApprove(parts, values, tools);
      return {
        allowed: !findings.some(({ severity }) => strict || severity === "error"),
        findings: firstOf(findings),
        ...(needsApproval.length > 0 && { needsApproval }),
      };
    },
  };
}

/** Whether a tool is in the run's list of allowed tools. */
function isNamed(tool: ToolDefinition, allowedTools?: readonly string[]): true | string {
  const isMeant = allowedTools === undefined || matchTools(allowedTools)(calledTool(tool));
  return isMeant || "it is not among the tools of this run";
}

/** Applies a custom rule. A rule that fails refuses the code. */
async function applyRule(rule: ReviewRule, ...given: Parameters<ReviewRule>): Promise<readonly Finding[]> {
  try {
    const found = (await rule(...given)) ?? [];
    if (Array.isArray(found) && found.every(isFinding)) return found;
    throw new TypeError("it returned something that is no list of findings");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `A rule for code failed: ${reason.replace(/\.$/u, "")}.`;
    return [{ rule: "rule-failed", severity: "error", message }];
  }
}

function isFinding(found: Partial<Finding> | undefined): boolean {
  return (found?.severity === "error" || found?.severity === "warning") && typeof found.message === "string";
}

function refuseSyntax(syntaxError: GuestError, others: readonly Finding[]): Verdict {
  const { message, line, column } = syntaxError;
  const report = `The code is not valid TypeScript: ${message}`;
  const finding: Finding = { rule: "syntax-error", severity: "error", line, column, message: report };
  const findings = [...others, finding];
  return { allowed: false, findings, syntaxError: others.length === 0 ? syntaxError : undefined };
}

/** Limits the findings, with errors before warnings. */
function firstOf(findings: Finding[]): Finding[] {
  if (findings.length <= MAX_FINDINGS) return findings;
  const rank = ({ severity }: Finding): number => (severity === "error" ? 0 : 1);
  return findings.toSorted((one, other) => rank(one) - rank(other)).slice(0, MAX_FINDINGS);
}
