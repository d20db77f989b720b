import { splitWords } from "./words.ts";

/** The verbs with which people ask for each kind of action. A verb may belong to several kinds. */
export const ASKING_VERBS = {
  read: "read get fetch retrieve obtain show display look lookup check give tell view see read load find provide what how is where when who which describe explain inspect query report know need want open",
  list: "list enumerate show get fetch display view find browse all what which see",
  search: "search find look lookup query seek locate discover browse get",
  create:
    "create make add open new init initialize initialise commit raise schedule book insert register generate start build set plan draft log report put submit define write",
  write: "write save store put append create record dump export persist log",
  send: "send post publish email mail message notify share submit text tell reply forward deliver tweet write dm ping",
  update:
    "update edit change set turn switch modify rename replace adjust patch mark move assign increase decrease close reopen complete",
  remove: "delete remove drop erase clear cancel destroy discard unset",
  compute:
    "calculate compute evaluate solve work determine count sum add subtract multiply divide average convert",
  transform: "convert translate transform format encode decode summarize summarise parse render",
  run: "run execute start launch trigger call invoke perform",
} as const;

/** A kind of action. */
export type ActionKind = keyof typeof ASKING_VERBS;

/** The verbs in names of tools, by the kind of action of such tools. */
export const TOOL_VERBS: Readonly<Record<ActionKind, string>> = {
  read: "get fetch read retrieve show describe lookup check view load",
  list: "list",
  search: "search find query",
  create:
    "create add new insert make open schedule book register init initialize clone fork commit upload import submit invite generate deploy provision",
  write: "write save append store put record export",
  send: "send post publish notify email share reply forward broadcast tweet message",
  update:
    "update edit set modify rename change move assign close reopen merge push pull rebase reset checkout revert apply stage stash enable disable turn toggle lock unlock archive restore approve reject transfer press click type fill navigate select",
  remove: "delete remove cancel drop clear erase destroy discard unset uninstall revoke ban kill terminate",
  compute: "calculate compute evaluate",
  transform: "convert translate summarize transform encode decode format",
  run: "run execute start stop restart launch trigger invoke install pay charge refund order buy sell",
};

/** Kinds of action that change something. */
export const CHANGING: ReadonlySet<ActionKind> = new Set<ActionKind>([
  "create",
  "write",
  "send",
  "update",
  "remove",
  "run",
]);

/** Words that never ask for anything and may go unclaimed, as stop words do that are not in {@link DEMANDING_WORDS}. */
export const SMALL_TALK: ReadonlySet<string> = new Set(
  `give provide offer support got like look looks looking right today tonight currently current now moment info information
  detail details data result results value values answer output tool tools server servers skill function api following new
  thing things way kind quick quickly briefly exactly please able know see need want wants wanted help going go tell say let
  us use using used call calls called named titled inside there here existing available hi hello hey thanks`.split(
    /\s+/,
  ),
);

/** Verbs that begin the names of tools that only read, whatever follows: `get_commit`. */
const LOOKING = new Set(
  "get fetch read retrieve show describe lookup check view load list search find query calculate compute".split(
    " ",
  ),
);
const CHANGES = new Set(
  (Object.entries(TOOL_VERBS) as [ActionKind, string][])
    .filter(([kind]) => CHANGING.has(kind))
    .flatMap(([, verbs]) => verbs.split(" ")),
);

/** Whether a verb in a tool's name means a change: `create_user`, but not `get_commit`. */
export function isNamedAsChange(name: string): boolean {
  const words = splitWords(name);
  return words.some((word) => CHANGES.has(word)) && !LOOKING.has(words[0] ?? "");
}

const LOSING = new Set(
  "delete remove drop erase destroy discard uninstall revoke kill terminate reset clean purge truncate wipe prune".split(
    " ",
  ),
);

/** Whether the first verb of a tool's name means destruction: `git_reset`, but not `get_deleted`. */
export function isNamedAsLoss(name: string): boolean {
  const verb = splitWords(name).find((word) => LOSING.has(word) || LOOKING.has(word) || CHANGES.has(word));
  return verb !== undefined && LOSING.has(verb);
}
