import { type ActionKind, CHANGING, TOOL_VERBS } from "./vocabulary/verbs.ts";
import { splitWords } from "./words.ts";

/** Verbs that begin the name of a tool that only looks, whatever follows: `get_commit`. */
const LOOKING = new Set(
  "get fetch read retrieve show describe lookup check view load list search find query calculate compute".split(
    " ",
  ),
);
/** The verbs in names of tools that change something. */
const CHANGES = new Set(
  (Object.entries(TOOL_VERBS) as [ActionKind, string][])
    .filter(([kind]) => CHANGING.has(kind))
    .flatMap(([, verbs]) => verbs.split(" ")),
);

/** Whether a tool's name has a verb by which it changes something: `create_user`, and not `get_commit`. */
export function isNamedAsChange(name: string): boolean {
  const words = splitWords(name);
  return words.some((word) => CHANGES.has(word)) && !LOOKING.has(words[0] ?? "");
}
