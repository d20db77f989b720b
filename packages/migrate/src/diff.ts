import { createTwoFilesPatch } from "diff";
import type { MigratedFile } from "./migration.ts";

/** A line that may set a secret. */
const SECRET_LINE =
  /^(?<start>[ +-]\s*(?:-\s*)?["']?[\w-]*(?:key|token|secret|password|authorization)[\w-]*["']?\s*:\s*)\S.*$/gimu;

/** What a file of a migration changes, as a unified diff, without secrets of a configuration. */
export function diffOf({ file, from, text, before }: MigratedFile): string {
  const source = before === undefined ? "/dev/null" : from;
  const patch = createTwoFilesPatch(source, file, before ?? "", text, "", "", { context: 2 });
  const shown = patch.replace(/^=+\n/u, "").trimEnd();
  return before === undefined ? shown : shown.replaceAll(SECRET_LINE, "$<start>[secret]");
}
