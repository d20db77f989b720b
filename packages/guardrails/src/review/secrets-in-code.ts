import { findSecret } from "../secret-formats.ts";
import type { ProgramParts } from "./collect.ts";
import { constantsOf } from "./constants.ts";
import type { Report } from "./report.ts";

/** Reports secrets that are written into the code, also in parts. The message does not repeat them. */
export function checkSecrets({ texts }: ProgramParts, report: Report): void {
  for (const { node, scope } of texts) {
    for (const value of constantsOf(node, scope)) {
      const kind = typeof value === "string" ? findSecret(value) : undefined;
      if (kind === undefined) continue;
      report.add(node, {
        rule: "secret-in-code",
        severity: "warning",
        message: `A text in the code looks like ${kind}.`,
        hint: "Leave it to the server that needs it, or to its environment.",
      });
    }
  }
}
