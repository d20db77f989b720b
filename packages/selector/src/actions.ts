import { stem } from "@cem/text";

/** What a verb asks for. Tools that only look are `read`, `list`, `search` or `compute`. */
const ACTION_WORDS = {
  read: `get fetch retrieve obtain read show find look lookup check see view display give describe inspect open load
    pull grab access learn report determine predict summarize summarise analyze analyse what which how where when who`,
  list: "list enumerate browse",
  search: "search query select",
  compute: `calculate compute evaluate solve work add subtract multiply divide sum plus minus times double triple
    halve square average count what how`,
  write: `write save store create make generate update edit modify append put set change insert add record log dump
    export rename move copy overwrite remember duplicate replace`,
  delete: "delete remove drop erase clear destroy uninstall purge",
  send: "send email mail message text notify post publish tweet share forward reply call phone invite",
  transform: "translate convert transform parse encode decode compress resize transcribe",
  trade: "buy order book reserve pay purchase sell rent subscribe",
  plan: "schedule remind plan arrange",
  control: "play pause stop restart turn lock unlock deploy install draw paint sing",
  execute: "run execute use call invoke apply import start launch perform",
} as const;
export type Action = keyof typeof ACTION_WORDS;

/** Verbs that go with nearly every tool, and so can't choose one. */
const GENERAL_ACTIONS: ReadonlySet<Action> = new Set(["read", "list", "write", "execute"]);
const LOOKING_ACTIONS: ReadonlySet<Action> = new Set(["read", "list", "search", "compute"]);

/** What a tool that lists is worth where something is asked about one thing, and the other way round. */
const LIST_FACTOR = 0.92;
/** What a tool that does not list is worth where all of a kind are asked for. */
const ONE_FOR_MANY_FACTOR = 0.82;
/** What a tool is worth that does something else than is asked. */
const OTHER_ACTION_FACTOR = 0.45;
/** What a tool that changes things is worth where nobody asked for a change. */
const UNASKED_CHANGE_FACTOR = 0.7;

const ACTIONS_BY_WORD = new Map<string, Set<Action>>();
const ACTIONS_BY_STEM = new Map<string, Set<Action>>();
for (const [action, words] of Object.entries(ACTION_WORDS)) {
  for (const word of words.split(/\s+/)) {
    addTo(ACTIONS_BY_WORD, word, action as Action);
    addTo(ACTIONS_BY_STEM, stem(word), action as Action);
  }
}
const NONE: ReadonlySet<Action> = new Set();

function addTo(map: Map<string, Set<Action>>, key: string, action: Action): void {
  map.set(key, (map.get(key) ?? new Set<Action>()).add(action));
}

/** What an order that begins with this word asks for: `order` is one, `orders` is not. */
export function askedActions(word: string): ReadonlySet<Action> {
  return ACTIONS_BY_WORD.get(word) ?? NONE;
}

/** What a tool does whose name or description has this stem. */
export function offeredActions(wordStem: string): ReadonlySet<Action> {
  return ACTIONS_BY_STEM.get(wordStem) ?? NONE;
}

/**
 * Whether the word is a verb like `get` or `write`, whose object says what is wanted. `add` is one too, unless there
 * are numbers to add.
 */
export function isGeneralVerb(wordStem: string, hasNumbers: boolean): boolean {
  const actions = offeredActions(wordStem);
  return intersects(actions, GENERAL_ACTIONS) && !(hasNumbers && actions.has("compute"));
}

/** How well what a tool does goes with what is asked, 0 to 1. Unknown on either side goes with everything. */
export function actionFactor(
  asked: ReadonlySet<Action>,
  offered: ReadonlySet<Action>,
  asksForMany: boolean,
): number {
  if (offered.size === 0) {
    return 1;
  }
  if (asksForMany && (asked.size === 0 || intersects(asked, LOOKING_ACTIONS))) {
    return offered.has("list") || offered.has("search")
      ? 1
      : ONE_FOR_MANY_FACTOR * actionFactor(asked, offered, false);
  }
  const looks = intersects(offered, LOOKING_ACTIONS);
  if (asked.size === 0) {
    return looks ? 1 : UNASKED_CHANGE_FACTOR;
  }
  if (intersects(asked, offered) || asked.has("execute") || offered.has("execute")) {
    return 1;
  }
  if (intersects(asked, LOOKING_ACTIONS)) {
    if (!looks) {
      return UNASKED_CHANGE_FACTOR;
    }
    return asked.has("list") || offered.has("list") ? LIST_FACTOR : 1;
  }
  return OTHER_ACTION_FACTOR;
}

function intersects(one: ReadonlySet<Action>, other: ReadonlySet<Action>): boolean {
  return [...one].some((action) => other.has(action));
}
