import { createTwoFilesPatch } from "diff";
import type { MigratedFile } from "./migration.ts";

/** A key that may hold a secret. */
const SECRET_KEY = /key|token|secret|password|authorization/iu;

/** What a file of a migration changes, as a unified diff, without secrets of a configuration. */
export function diffOf({ file, from, text, before }: MigratedFile): string {
  const source = before === undefined ? "/dev/null" : from;
  const patch = createTwoFilesPatch(source, file, before ?? "", text, "", "", { context: 2 });
  const shown = patch.replace(/^=+\n/u, "").trimEnd();
  return before === undefined ? shown : shown.split("\n").map(withoutSecret).join("\n");
}

function withoutSecret(line: string): string {
  const at = line.indexOf(":");
  const isSet = at !== -1 && line.slice(at + 1).trim() !== "";
  return isSet && SECRET_KEY.test(line.slice(0, at)) ? `${line.slice(0, at)}: [secret]` : line;
}
