import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import type { Meaning } from "../../planning/reading.ts";
import { hasType, type StateDocument, type Value } from "../../planning/value.ts";
import { call, literal, object } from "../../program/expression.ts";
import { keepOpen, readKnown } from "./contents.ts";
import { readPointed, requiredField } from "./documents.ts";
import { withPlaces } from "./places.ts";
import { isPronoun, readAll, readParts } from "./save-parts.ts";
import { STATE, WHOLE } from "./words.ts";

const ADJECTIVES = `(${WHOLE})? (${WHOLE})?`;
const STATE_NOUN = `(${STATE} | file | contents | content | summary)`;
const DOCUMENT = new Pattern(
  `((summary|overview|report|details) (of)?)? ((contents|content|data) of)? ${ADJECTIVES} (calculation)? ${STATE_NOUN} ${STATE_NOUN}?`,
);
const FIELD = new Pattern("(all|its)? {key:name} (field|property|value|array|list)?");
const FIELD_OF_FILE = new Pattern(
  "(only|all|each|every|its|their)? {key:name} (field|property|value)? ((of|in|from) (it | them | file | all | ((each|all) of them) | (each (one|person|entry|item|row|record)?)))?",
);
/** Words that mean no field of the file that was read. */
const NO_FIELD =
  /^(?:it|this|that|them|those|everything|all|contents?|state|workflow|file|summary|json|document|data|object|results?|output|values?|rows?|items?|entries|list|text|average|mean|sum|total|count|number|median|\p{L}+est)$/iu;
const NEWEST = new Pattern(
  "(its|their|whole|full)? (contents|content|result|results|output|answer|value|text|data|response|message|list|rows|entries|file)",
);
type ReadShown = (span: Span, plan: Plan) => Meaning | undefined;

/** What words mean as something to be shown: a file, fields of one, one or more earlier results. */
export function readShown(span: Span, plan: Plan): Meaning | undefined {
  for (const read of SHOWN) {
    const found = read(span, plan);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shown(value: Value): Meaning {
  return { schema: value.schema, words: value.words, lower: () => value.expression };
}

/** `its content`, `notes.txt in upper case`. */
const readContent: ReadShown = (span, plan) => {
  const content = span.literal === undefined ? readKnown(withPlaces(span, plan), plan) : undefined;
  if (content === undefined || !hasType(content.schema, "string")) return undefined;
  const { schema, words } = content;
  return { schema, words, lower: () => keepOpen(() => content.lower().expression, plan) };
};

/** `the current state (workflow_id, results)`. */
const readListedFields: ReadShown = (span, plan) => {
  const { document } = plan;
  const open = span.tokens.findIndex(({ lower }) => lower === "(");
  if (document === undefined || open < 0 || span.at(-1)?.lower !== ")") return undefined;
  const head = span.slice(0, open);
  if (!head.trimmed.isEmpty && DOCUMENT.match(head) === undefined) return undefined;
  return fieldsOf(span.slice(open + 1, -1).list, document);
};

function fieldsOf(parts: readonly Span[], document: StateDocument): Meaning | undefined {
  const keys = parts.map((part) => FIELD.match(part)?.text("key")).filter((key) => key !== undefined);
  if (keys.length === 0 || keys.length !== parts.length) return undefined;
  if (!document.isLoaded && keys.some((key) => !document.fields.has(key))) return undefined;
  const lower = () => object(keys.map((key) => ({ key, value: requiredField(document, key) })));
  return { schema: { type: "object" }, words: "state", lower };
}

/** `the name`, right after a JSON file was read: whether it holds a record or a list shows when it runs. */
const readFieldOfFile: ReadShown = (span, plan) => {
  const { document } = plan;
  if (document === undefined || plan.values.at(-1) !== document.value) return undefined;
  const key = FIELD_OF_FILE.match(span)?.text("key");
  if (key === undefined || !document.isLoaded || document.isDirty || document.fields.size > 0)
    return undefined;
  if (NO_FIELD.test(key)) return undefined;
  return {
    schema: {},
    words: key,
    lower() {
      document.value.consumed = true;
      const value = call(useHelper("fieldOf"), document.value.expression, literal(key));
      return plan.declare(value, { words: key }).expression;
    },
  };
};

const readDocument: ReadShown = (span, plan) => {
  const { document } = plan;
  const newest = plan.values.findLast(({ isEffect }) => !isEffect);
  if (document === undefined || newest === undefined || plan.values.at(-1)?.isEffect === true)
    return undefined;
  if (isPronoun(span)) return newest.document === undefined ? undefined : shown(newest);
  if (DOCUMENT.match(span) === undefined) return undefined;
  const isContent = /^(?:the )?contents?$/u.test(span.lower);
  if (isContent && newest.document === undefined && hasType(newest.schema, "string")) return undefined;
  return { schema: { type: "object" }, words: "state", lower: () => document.value.expression };
};

const readEverything: ReadShown = (span, plan) => {
  const entries = readAll(span, plan);
  if (entries === undefined) return undefined;
  return { schema: { type: "object" }, words: "results", lower: () => object(keepOpen(entries, plan)) };
};

const readOne: ReadShown = (span, plan) => {
  const meaning = span.literal === undefined ? readPointed(span, plan) : undefined;
  return meaning && { ...meaning, lower: () => keepOpen(() => meaning.lower(), plan) };
};

const readSeveral: ReadShown = (span, plan) => {
  const entries = span.list.length > 1 ? readParts(span, plan, readPointedContent) : undefined;
  if (entries === undefined) return undefined;
  return { schema: { type: "object" }, words: "results", lower: () => object(keepOpen(entries, plan)) };
};

function readPointedContent(span: Span, plan: Plan) {
  const meaning = readPointed(span, plan);
  if (meaning === undefined) return undefined;
  const { schema, words, constant } = meaning;
  return {
    schema,
    words,
    constant: span.literal && constant,
    lower: () => ({ expression: meaning.lower(), schema }),
  };
}

const readNewest: ReadShown = (span, plan) => {
  const isMeant = span.trimmed.isEmpty || NEWEST.match(span) !== undefined;
  return isMeant && plan.last !== undefined ? shown(plan.last) : undefined;
};

const SHOWN: readonly ReadShown[] = [
  readEverything,
  readContent,
  readListedFields,
  readFieldOfFile,
  readDocument,
  readOne,
  readSeveral,
  readNewest,
];
