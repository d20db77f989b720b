import { isVerb } from "@cem/text";
import { lookUp } from "../reading/look-up.ts";

/** Verbs of a step by the kind of action they ask for. A tool of one kind does not suit a verb of another. */
const CLASSES: Readonly<Record<string, string>> = {
  read: "read get fetch retrieve obtain show display look lookup check give tell view see read load find provide what how is where when who which describe explain inspect query report know need want open",
  list: "list enumerate show get fetch display view find browse all what which see",
  search: "search find look lookup query seek locate discover browse get",
  create:
    "create make add open new raise schedule book insert register generate start build set plan draft log report put submit define write",
  write: "write save store put append create record dump export persist log",
  send: "send post publish email mail message notify share submit text tell reply forward deliver tweet write dm ping",
  update:
    "update edit change set turn switch modify rename replace adjust patch mark move assign increase decrease close reopen complete",
  remove: "delete remove drop erase clear cancel destroy discard unset",
  compute:
    "calculate compute evaluate solve work determine count sum add subtract multiply divide average convert",
  transform: "convert translate transform format encode decode summarize summarise parse render",
  run: "run execute start launch trigger call invoke perform",
};

const CLASSES_BY_VERB = new Map<string, Set<string>>();
for (const [kind, verbs] of Object.entries(CLASSES)) {
  for (const verb of verbs.split(" ")) {
    const kinds = CLASSES_BY_VERB.get(verb) ?? new Set<string>();
    kinds.add(kind);
    CLASSES_BY_VERB.set(verb, kinds);
  }
}

/** The kind of action by the verb in a tool's name. */
const OWN_KIND: Readonly<Record<string, string>> = {
  get: "read",
  fetch: "read",
  read: "read",
  retrieve: "read",
  show: "read",
  describe: "read",
  lookup: "read",
  check: "read",
  view: "read",
  load: "read",
  list: "list",
  search: "search",
  find: "search",
  query: "search",
  create: "create",
  add: "create",
  new: "create",
  insert: "create",
  make: "create",
  open: "create",
  schedule: "create",
  book: "create",
  register: "create",
  write: "write",
  save: "write",
  append: "write",
  store: "write",
  put: "write",
  send: "send",
  post: "send",
  publish: "send",
  notify: "send",
  email: "send",
  share: "send",
  reply: "send",
  update: "update",
  edit: "update",
  set: "update",
  modify: "update",
  rename: "update",
  change: "update",
  move: "update",
  delete: "remove",
  remove: "remove",
  cancel: "remove",
  drop: "remove",
  clear: "remove",
  calculate: "compute",
  compute: "compute",
  evaluate: "compute",
  convert: "transform",
  translate: "transform",
  summarize: "transform",
  run: "run",
  execute: "run",
  assign: "update",
  close: "update",
  start: "run",
};

export function isKnownVerb(word: string): boolean {
  return CLASSES_BY_VERB.has(word) || lookUp(OWN_KIND, word) !== undefined;
}

/** The kind of action of a tool, by the verb in its name. */
export function kindOfTool(nameWords: readonly string[]): string | undefined {
  const [first] = nameWords;
  const found = first === undefined ? undefined : lookUp(OWN_KIND, first);
  return found ?? nameWords.map((word) => lookUp(OWN_KIND, word)).find((kind) => kind !== undefined);
}

/**
 * How well a step's verb suits a tool's: 1 for the same verb, 0.6 for the same kind of action, 0 if either is unknown, -1
 * for another kind.
 */
export function verbFit(stepVerb: string | undefined, nameWords: readonly string[]): number {
  if (stepVerb === undefined) return 0;
  if (nameWords.includes(stepVerb)) return 1;
  const kind = kindOfTool(nameWords);
  const kinds = CLASSES_BY_VERB.get(stepVerb);
  if (kind !== undefined && kinds === undefined && isVerb(stepVerb) && !LOOSE.has(stepVerb)) return -1;
  if (kind === undefined || kinds === undefined) return 0;
  return kinds.has(kind) ? 0.6 : -1;
}

/** Verbs that say nothing about what is to be done. */
const LOOSE = new Set([
  "use",
  "call",
  "invoke",
  "apply",
  "do",
  "perform",
  "make",
  "take",
  "call",
  "compare",
  "search",
]);
