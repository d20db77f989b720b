import type { Finding, Guard, ReviewRequest, Verdict } from "@cem/core";
import { parseProgram } from "@cem/program";
import { findBlockedPatterns, readPattern } from "./blocked-patterns.ts";
import { findImportFaults } from "./imports.ts";
import { findSecurityFaults } from "./security.ts";

export interface GuardSettings {
  /** Look for code made from text and for members of the runtime. Default: true. */
  securityChecks?: boolean | undefined;
  /** Refuse on warnings too. Default: false. */
  strict?: boolean | undefined;
  /** Code that holds one of these is refused. A regular expression, or plain text where it isn't a valid one. */
  blockedPatterns?: readonly string[] | undefined;
}

/**
 * Reads code before it runs: where it imports from, blocked patterns, and signs of code that tries for more than a
 * task needs. It says early and with a line what the sandbox would only refuse later; the sandbox is what holds.
 */
export function createGuard(settings: GuardSettings = {}): Guard {
  const { securityChecks = true, strict = false, blockedPatterns = [] } = settings;
  const patterns = blockedPatterns.map(readPattern);
  return {
    specificationVersion: "v1",
    async review({ code, tools, signal }: ReviewRequest): Promise<Verdict> {
      signal?.throwIfAborted();
      const findings = findBlockedPatterns(code, patterns);
      const parsed = parseProgram(code);
      // Code that isn't a program is not the guard's to explain: the run's outcome has the place and the reason.
      if (parsed.ok) {
        findings.push(...findImportFaults(parsed.program, tools));
        if (securityChecks) findings.push(...findSecurityFaults(parsed.program));
      }
      return { allowed: !findings.some((finding) => refuses(finding, strict)), findings };
    },
  };
}

function refuses({ severity }: Finding, strict: boolean): boolean {
  return strict || severity === "error";
}
