import { findSecret } from "../secret-formats.ts";
import type { ProgramParts, Report } from "./collect.ts";
import type { Values } from "./values.ts";

/** How many characters are searched beyond twice those of the program. Texts that are put together can be many more. */
const MORE_SEARCHED_CHARACTERS = 65_536;

/** Reports secrets that are written into the code, also in parts. The message does not repeat them. */
export function checkSecrets({ length, texts }: ProgramParts, values: Values, report: Report): void {
  const kinds = new Map<string, string | undefined>();
  let left = 2 * length + MORE_SEARCHED_CHARACTERS;
  for (const { node, scope } of texts) {
    const value = values.textOf(node, scope);
    if (value === undefined) continue;
    if (!kinds.has(value)) {
      left -= value.length;
      if (left < 0) return;
      kinds.set(value, findSecret(value));
    }
    const kind = kinds.get(value);
    if (kind === undefined) continue;
    report.add(node, {
      rule: "secret-in-code",
      severity: "warning",
      message: `A text in the code looks like ${kind}.`,
      hint: "Leave it to the server that needs it, or to its environment.",
    });
  }
}
