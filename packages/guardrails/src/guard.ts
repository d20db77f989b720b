import type { Finding, GuestError, Guard, ReviewRequest, Verdict } from "@cem/core";
import { findUnsupported, parseProgram } from "@cem/program";
import { findBlockedPatterns, parsePattern } from "./blocked-patterns.ts";
import { checkImports } from "./imports.ts";
import { checkMissingImports } from "./missing-imports.ts";
import { checkSecurity } from "./security.ts";

export interface GuardSettings {
  /**
   * Warns about code that is made from text (`eval`, `new Function`) and about members of the runtime that start
   * processes or load native code.
   *
   * @defaultValue true
   */
  securityChecks?: boolean | undefined;
  /**
   * Refuses code on warnings too, not only on errors.
   *
   * @defaultValue false
   */
  strict?: boolean | undefined;
  /**
   * Refuses code that matches one of these, ignoring case: regular expressions, or plain text where a pattern isn't a
   * valid expression.
   *
   * @defaultValue none
   */
  blockedPatterns?: readonly string[] | undefined;
}

/**
 * Creates a guard that reviews code before it runs: its syntax, imports, blocked patterns and suspicious calls. It reports
 * early and with a line what the sandbox would refuse at run time; the isolation itself is the sandbox's.
 */
export function createGuard(settings: GuardSettings = {}): Guard {
  const { securityChecks = true, strict = false, blockedPatterns = [] } = settings;
  const patterns = blockedPatterns.map(parsePattern);
  return {
    specificationVersion: "v1",
    async review({ code, tools, signal }: ReviewRequest): Promise<Verdict> {
      signal?.throwIfAborted();
      const findings = findBlockedPatterns(code, patterns);
      const parsed = parseProgram(code);
      if (!parsed.ok) return refuseSyntax(parsed.error, findings);
      const { program } = parsed;
      const unsupported = findUnsupported(program);
      if (unsupported !== undefined) return refuseSyntax(unsupported, findings);
      findings.push(...checkImports(program, tools), ...checkMissingImports(program, tools));
      if (securityChecks) findings.push(...checkSecurity(program));
      return { allowed: !findings.some((finding) => isBlocking(finding, strict)), findings };
    },
  };
}

function refuseSyntax(syntaxError: GuestError, others: readonly Finding[]): Verdict {
  const { message, line, column } = syntaxError;
  const told = `The code is not valid TypeScript: ${message}`;
  const finding: Finding = { rule: "syntax-error", severity: "error", line, column, message: told };
  const findings = [...others, finding];
  return { allowed: false, findings, syntaxError: others.length === 0 ? syntaxError : undefined };
}

function isBlocking({ severity }: Finding, strict: boolean): boolean {
  return strict || severity === "error";
}
