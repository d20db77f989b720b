import { createTwoFilesPatch } from "diff";
import type { MigratedFile } from "./migration.ts";

/** A line that may set a secret. */
const SECRET_LINE =
  /^(?<start>[ +-]\s*(?:-\s*)?["']?[\w-]*(?:key|token|secret|password|authorization)[\w-]*["']?\s*:\s*)\S.*$/gimu;

/** What a file of a migration changes, as a unified diff, without secrets of a configuration. */
export function diffOf({ file, from, text, before }: MigratedFile): string {
  const patch = createTwoFilesPatch(
    before === undefined ? "/dev/null" : from,
    file,
    before ?? "",
    text,
    "",
    "",
    { context: 2 },
  );
  const text = patch.replace(/^=+\n/u, "").trimEnd();
  return before === undefined ? text : text.replaceAll(SECRET_LINE, "$<start>[secret]");
}
