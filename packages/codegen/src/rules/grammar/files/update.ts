import { type Match, Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { markChanged } from "../../planning/documents.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import type { StateDocument } from "../../planning/value.ts";
import { findDocument, openDocument, planWith } from "./documents.ts";
import { FIELD_EDITS, setFields } from "./field-edits.ts";
import { readAssignments, readListed } from "./fields.ts";
import { LIST_EDITS } from "./list-edits.ts";
import { hasTooMany, isJsonPath, lacks, PLACE, placeOf, PLACES, withPlaces } from "./places.ts";
import { STATE, WHOLE } from "./words.ts";

/** A step about one file: which it is, and what is to be done there. */
interface Target {
  path: string;
  rest: Span;
  /** The file stands first: `update x.json: version = 2`. */
  isLed: boolean;
  isNamed: boolean;
}

const LED = new Pattern(
  `(update|change|modify|edit|continue) ${PLACE} (: | , | by | to | with | (so that))? {rest:rest}`,
  PLACES,
);
const ENDED = new Pattern(`{rest} (in|of|inside|to|into|onto|on|for|from|at) ${PLACE}`, PLACES);
const IN_STATE = new Pattern(
  `{rest} (in|of|inside|to|into|from) (it | ((${WHOLE})? ((${STATE} | file) (${STATE} | file)?)))`,
);
const ALL_OF_IT = new Pattern(`(update|change|modify|edit) ${PLACE}`, PLACES);
const FIELDS_BELOW = new Pattern(
  `(update|set|change|modify|add) ((this|these|following | (${WHOLE}))? (fields|values|properties|keys|field))? ((in|of|to) (file | ((${STATE}) (file)?)))? (to|with)? :?`,
);
const UNREAD = new Pattern(
  "(set|update|change|modify|add) (new)? (field)? {key:name} (field|property|value)? (to|as|=|:|with) {words}",
);

/** Changes fields of a JSON file: of the one that is in memory, or of one that the step names. */
export const readUpdate: Production = (step, plan) => {
  for (const target of targetsOf(step, plan)) {
    const lower = readEdit(step, target, planWith(plan, target.path, step.text));
    if (lower === undefined) continue;
    return {
      kind: "update",
      rank: lower.rank,
      lower() {
        openDocument(plan, target.path, step.text);
        const edit = readEdit(step, target, plan);
        if (edit === undefined)
          throw lacks(step.text, target.rest.text, `"${target.rest.text}" was not understood.`);
        const document = edit.lower();
        markChanged(plan, document);
        plan.lastPath = document.path;
      },
    };
  }
  return refuse(step, plan);
};

/** A step that sets a field, but to words that mean nothing. */
function refuse(step: Step, plan: Plan): undefined {
  for (const { path, rest } of targetsOf(step, plan)) {
    const match = UNREAD.match(rest);
    if (match === undefined) continue;
    const [key, words] = [match.text("key"), match.text("words")];
    const hint = `"${words.slice(0, 80)}" is no value for ${key} in ${path}: name an earlier result, or put text in quotes.`;
    throw lacks(step.text, words, hint);
  }
}

function* targetsOf({ span: words, fields }: Step, plan: Plan): Generator<Target> {
  const span = withPlaces(words, plan);
  if (hasTooMany(span)) return;
  for (const match of LED.matches(span)) {
    const path = jsonPlace(match, plan);
    if (path !== undefined) yield { path, rest: match.span("rest"), isLed: true, isNamed: true };
  }
  for (const match of ENDED.matches(span)) {
    const path = jsonPlace(match, plan);
    if (path !== undefined) yield { path, rest: match.span("rest"), isLed: false, isNamed: true };
  }
  const whole = fields.length > 0 ? ALL_OF_IT.match(span) : undefined;
  const listed = whole && jsonPlace(whole, plan);
  if (listed !== undefined) yield { path: listed, rest: span.slice(0, 1), isLed: true, isNamed: true };
  const { document } = plan;
  if (document === undefined) return;
  const inside = IN_STATE.match(span);
  if (inside !== undefined)
    yield { path: document.path, rest: inside.span("rest"), isLed: false, isNamed: false };
  yield { path: document.path, rest: span, isLed: false, isNamed: false };
}

function jsonPlace(match: Match, plan: Plan): string | undefined {
  const path = match.has("same") ? undefined : placeOf(match, plan);
  return path !== undefined && isJsonPath(path) ? path : undefined;
}

interface Edit {
  rank: number;
  lower(): StateDocument;
}

function readEdit(step: Step, { path, rest, isLed, isNamed }: Target, plan: Plan): Edit | undefined {
  const document = findDocument(plan, path);
  if (document === undefined || step.items.length > 0) return undefined;
  const edit = (rank: number, lower: () => void): Edit => ({
    rank,
    lower() {
      lower();
      return document;
    },
  });
  if (step.fields.length > 0) {
    if (FIELDS_BELOW.match(rest) === undefined) return undefined;
    const fields = readListed(step.fields, step.text, plan);
    return edit(RANK.tool + 0.4, () => setFields(plan, document, fields));
  }
  const bare = isLed ? readAssignments(rest, plan) : undefined;
  if (bare !== undefined) return edit(RANK.tool + 0.4, () => setFields(plan, document, bare));
  for (const read of [...FIELD_EDITS, ...LIST_EDITS]) {
    const found = read(rest, { plan, document, step: step.text, isNamed });
    if (found !== undefined) return edit(found.rank, () => found.lower());
  }
  return undefined;
}
