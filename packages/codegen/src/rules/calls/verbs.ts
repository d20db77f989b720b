import type { ToolDefinition } from "@cem/core";
import { type ActionKind, ASKING_VERBS, CHANGING, isNamedAsChange, isVerb, TOOL_VERBS } from "@cem/core/text";

const ASKED = byVerb(ASKING_VERBS);
const OWN = byVerb(TOOL_VERBS);
/** Verbs that say nothing about what is to be done. */
const LOOSE = new Set("use call invoke apply do perform make take".split(" "));
const LOOKING = ["read", "list", "search"] as const;

function byVerb(table: Readonly<Record<ActionKind, string>>): ReadonlyMap<string, ReadonlySet<ActionKind>> {
  const kinds = new Map<string, Set<ActionKind>>();
  for (const [kind, verbs] of Object.entries(table) as [ActionKind, string][]) {
    for (const verb of verbs.split(" ")) kinds.set(verb, (kinds.get(verb) ?? new Set()).add(kind));
  }
  return kinds;
}

/** Whether a verb looks at something, whatever it is: `get`, `list`. */
export function isGeneric(verb: string): boolean {
  return LOOKING.some((kind) => ASKED.get(verb)?.has(kind));
}

export function isToolVerb(word: string): boolean {
  return OWN.has(word);
}

/** Whether a word asks for something: `get`, `what`. */
export function isAsking(word: string): boolean {
  return ASKED.has(word) || /^(?:is|are|does|do|did|will|has|have)$/u.test(word);
}

/** Whether a word says by itself that nothing is particular is to be done with a tool: `use`, `call`. */
export function isLoose(word: string): boolean {
  return LOOSE.has(word);
}

/** The kind of action of a tool, by the verb in its name. */
function kindOfTool(nameWords: readonly string[]): ActionKind | undefined {
  for (const word of nameWords) {
    const [kind] = OWN.get(word) ?? [];
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Whether a tool changes something: by its annotation, else by the verb in its name. */
export function changes(tool: ToolDefinition): boolean {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (readOnlyHint !== undefined) return !readOnlyHint;
  if (destructiveHint === true) return true;
  return isNamedAsChange(tool.name);
}

/** Whether a step's verb says that something is to be changed, by a tool with such a name. */
export function ordersChange(verb: string, nameWords: readonly string[]): boolean {
  if (nameWords.includes(verb)) return true;
  const kind = kindOfTool(nameWords);
  const asked = ASKED.get(verb);
  return (
    asked !== undefined &&
    [...asked].some((one) => CHANGING.has(one)) &&
    (kind === undefined || asked.has(kind))
  );
}

/**
 * How well a step's verb suits a tool's: 1 for the same verb, 0.6 for the same kind of action, 0.4 for a tool without a verb
 * that is to be looked at, 0 if either is unknown, -1 for another kind.
 */
export function verbFit(verb: string, nameWords: readonly string[], isReadOnly: boolean): number {
  if (nameWords.includes(verb)) return 1;
  const named = kindOfTool(nameWords);
  // What only looks is to be looked at, whatever its name says.
  const kind = isReadOnly && named !== undefined && CHANGING.has(named) ? undefined : named;
  const kinds = ASKED.get(verb);
  if (kinds === undefined) return isVerb(verb) && !LOOSE.has(verb) ? -1 : 0;
  // `git_log`: a name without a verb is of something to look at.
  if (kind === undefined) return LOOKING.some((one) => kinds.has(one)) ? 0.4 : -1;
  return kinds.has(kind) ? 0.6 : -1;
}
