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
/** A bit for each {@link Action}. */
export type Actions = number;
export const NO_ACTIONS: Actions = 0;
const NAMES = Object.keys(ACTION_WORDS) as Action[];
/** So many sets of actions there are. */
export const ACTION_SETS = 1 << NAMES.length;

/** Verbs that go with nearly every tool, and so can't choose one. */
const GENERAL_ACTIONS = setOf("read", "list", "write", "execute");
const LOOKING_ACTIONS = setOf("read", "list", "search", "compute");
const EXECUTE = setOf("execute");
const LIST = setOf("list");
const COMPUTE = setOf("compute");
const LIST_OR_SEARCH = setOf("list", "search");

/** What a tool that lists is worth where something is asked about one thing, and the other way round. */
const LIST_FACTOR = 0.92;
/** What a tool that does not list is worth where all of a kind are asked for. */
const ONE_FOR_MANY_FACTOR = 0.82;
/** What a tool is worth that does something else than is asked. */
const OTHER_ACTION_FACTOR = 0.45;
/** What a tool that changes things is worth where nobody asked for a change. */
const UNASKED_CHANGE_FACTOR = 0.7;

const ACTIONS_BY_WORD = new Map<string, Actions>();
const ACTIONS_BY_STEM = new Map<string, Actions>();
for (const action of NAMES) {
  for (const word of ACTION_WORDS[action].split(/\s+/)) {
    addTo(ACTIONS_BY_WORD, word, setOf(action));
    addTo(ACTIONS_BY_STEM, stem(word), setOf(action));
  }
}

function addTo(map: Map<string, Actions>, key: string, actions: Actions): void {
  map.set(key, (map.get(key) ?? NO_ACTIONS) | actions);
}

function setOf(...actions: Action[]): Actions {
  return actions.reduce((set, action) => set | (1 << NAMES.indexOf(action)), NO_ACTIONS);
}

export function hasAction(actions: Actions | undefined, action: Action): boolean {
  return ((actions ?? NO_ACTIONS) & setOf(action)) !== 0;
}

/** What an order that begins with this word asks for: `order` is one, `orders` is not. */
export function askedActions(word: string): Actions {
  return ACTIONS_BY_WORD.get(word) ?? NO_ACTIONS;
}

/** What a tool does whose name or description has this stem. */
export function offeredActions(wordStem: string): Actions {
  return ACTIONS_BY_STEM.get(wordStem) ?? NO_ACTIONS;
}

/**
 * Whether the word is a verb like `get` or `write`, whose object says what is wanted. `add` is one too, unless there
 * are numbers to add.
 */
export function isGeneralVerb(wordStem: string, hasNumbers: boolean): boolean {
  const actions = offeredActions(wordStem);
  return (actions & GENERAL_ACTIONS) !== 0 && !(hasNumbers && (actions & COMPUTE) !== 0);
}

/** How well what a tool does goes with what is asked, 0 to 1. Unknown on either side goes with everything. */
export function actionFactor(asked: Actions, offered: Actions, asksForMany: boolean): number {
  if (offered === NO_ACTIONS) {
    return 1;
  }
  if (asksForMany && (asked === NO_ACTIONS || (asked & LOOKING_ACTIONS) !== 0)) {
    return (offered & LIST_OR_SEARCH) !== 0 ? 1 : ONE_FOR_MANY_FACTOR * actionFactor(asked, offered, false);
  }
  const looks = (offered & LOOKING_ACTIONS) !== 0;
  if (asked === NO_ACTIONS) {
    return looks ? 1 : UNASKED_CHANGE_FACTOR;
  }
  if ((asked & offered) !== 0 || ((asked | offered) & EXECUTE) !== 0) {
    return 1;
  }
  if ((asked & LOOKING_ACTIONS) !== 0) {
    if (!looks) {
      return UNASKED_CHANGE_FACTOR;
    }
    return ((asked | offered) & LIST) !== 0 ? LIST_FACTOR : 1;
  }
  return OTHER_ACTION_FACTOR;
}
