import { splitWords, stem } from "@cem/core/text";

/** The verbs of each kind of action. `read`, `list`, `search` and `compute` change nothing. */
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
type Action = keyof typeof ACTION_WORDS;
/** A set of actions, with a bit for each {@link Action}. */
export type Actions = number;
export const NO_ACTIONS: Actions = 0;
const NAMES = Object.keys(ACTION_WORDS) as Action[];
export const ACTION_SETS = 1 << NAMES.length;

/** Actions whose verbs fit nearly every tool. */
const GENERAL_ACTIONS = setOf("read", "list", "write", "execute");
const LOOKING_ACTIONS = setOf("read", "list", "search", "compute");
const EXECUTE = setOf("execute");

/** Factor for a tool whose action differs from the requested one. */
const OTHER_ACTION_FACTOR = 0.45;
/** Factor for a tool that changes something when no change is asked for. */
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

/** The actions asked for by a step that begins with this word: `order` is a verb, `orders` is not. */
export function askedActions(word: string): Actions {
  return ACTIONS_BY_WORD.get(word) ?? NO_ACTIONS;
}

/** The actions offered by a tool with this stem in its name or description. */
export function offeredActions(wordStem: string): Actions {
  return ACTIONS_BY_STEM.get(wordStem) ?? NO_ACTIONS;
}

/** Whether a stem is that of a general verb like `get` or `write`, whose object carries the meaning. */
export function isGeneralVerb(wordStem: string): boolean {
  return (offeredActions(wordStem) & GENERAL_ACTIONS) !== 0;
}

/** How well a tool's actions fit those asked for, 0 to 1. Unknown actions fit all. */
export function actionFactor(asked: Actions, offered: Actions): number {
  if (offered === NO_ACTIONS) return 1;
  const looks = (offered & LOOKING_ACTIONS) !== 0;
  if (asked === NO_ACTIONS) return looks ? 1 : UNASKED_CHANGE_FACTOR;
  if ((asked & offered) !== 0 || ((asked | offered) & EXECUTE) !== 0) return 1;
  if ((asked & LOOKING_ACTIONS) !== 0) return looks ? 1 : UNASKED_CHANGE_FACTOR;
  return OTHER_ACTION_FACTOR;
}

/** Classes of verbs, one line each. Finer than actions; used only to rank similar tools. */
const CLASSES = `
  get show list view display enumerate retrieve fetch read describe find lookup query search see check what which who
    inspect give tell obtain when where how
  create add new make generate deploy issue provision build draft compose produce take
  update change modify edit append set configure adjust patch replace enable disable rename resize alter
  delete remove drop erase destroy uninstall clear purge
  write save store upload import put export
  send post publish email notify share forward message
  start run execute begin launch restart trigger invoke
  stop cancel pause halt abort end kill
  convert translate transform parse encode decode
  validate verify test
  calculate compute evaluate
  install`;
/** The bit of the first class. */
const LOOKING = 1;
const MAX_ASKING_CHARACTERS = 200;
const MAX_ASKING_WORDS = 8;

const CLASS_OF = new Map<string, number>(
  CLASSES.trim()
    .split(/\n {2}(?! )/u)
    .flatMap((line, number) =>
      line
        .trim()
        .split(/\s+/u)
        .map((word) => [stem(word), number] as const),
    ),
);

/** Set in addition to the class for a text that asks for several things, and for a name that means listing: `list_users`. */
export const LISTING = 1 << 15;
const LISTING_WORDS: ReadonlySet<string> = new Set(["list", "enumerate", "all", "every"]);
/** Words that look like plural nouns but are not, or that refer to a single thing: `show the details of a user`. */
const NOT_SEVERAL = /^(?:details|does|has|is|its|logs|metrics|properties|settings|this|was)$|[su]s$/u;

/** The class of the first verb near the beginning of a text, as a bit; 0 when there is none. With {@link LISTING}. */
export function askedVerbClass(text: string): number {
  const words = splitWords(text.slice(0, MAX_ASKING_CHARACTERS)).slice(0, MAX_ASKING_WORDS);
  const at = words.findIndex((word) => bitOf(word) !== 0);
  const asked = bitOf(words[at] ?? "");
  if (asked !== LOOKING) return asked;
  const isPlural = (word: string, index: number) =>
    index > at && word.endsWith("s") && !NOT_SEVERAL.test(word);
  const several = words.some((word, index) => LISTING_WORDS.has(word) || isPlural(word, index));
  return several ? asked | LISTING : asked;
}

/** The classes of the verbs in a name, a bit each. With {@link LISTING}. */
export function verbClassesOf(words: readonly string[]): number {
  const lists = words.some((word) => LISTING_WORDS.has(word)) ? LISTING : 0;
  return words.reduce<number>((bits, word) => bits | bitOf(word), lists);
}

function bitOf(word: string): number {
  const number = CLASS_OF.get(stem(word));
  return number === undefined ? 0 : 1 << number;
}
