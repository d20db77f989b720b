import { Pattern } from "../../language/pattern.ts";
import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import { sameWords } from "../../planning/references.ts";
import { type Meaning, RANK } from "../../planning/reading.ts";
import { isNumeric, type StateDocument } from "../../planning/value.ts";
import {
  arrow,
  binary,
  call,
  cast,
  type Expression,
  literal,
  member,
  method,
  name,
  not,
} from "../../program/expression.ts";
import { check, checkedField, knownField } from "./documents.ts";
import { type ReadEdit, requireKnown, SURE } from "./field-edits.ts";
import { readFieldValue } from "./fields.ts";
import { stemOf } from "./places.ts";

const LIST = "(array|list|field)?";
const PUSH = new Pattern(`(add|append|push|insert|put) {value} (to|into|onto|in) (its)? {key:name} ${LIST}`);
const PUSH_WHOLE = new Pattern(
  "(add|append|push|insert|put) {value} ((to|into|onto|in) (its)? (list|array|end | (end of list)))?",
);
const TAKE = new Pattern(`(remove|delete|drop) {value} from (its)? {key:name} ${LIST}`);
const SORT = new Pattern(`(sort|order) {key:name} ${LIST} {direction:@direction}?`, {
  direction: {
    ascending: "up",
    "in ascending order": "up",
    alphabetically: "up",
    "in alphabetical order": "up",
    descending: "down",
    "in descending order": "down",
    "in reverse order": "down",
  },
});
const NO_LIST =
  /^(?:it|that|this|them|file|state|json|result|end|list|array|records?|rows?|items?|entries)$/iu;
const WHOLE_LIST = /^(?:list|array|numbers|values|it)$/iu;

/** Reads which item an edit names, and the list that has or gets it. */
function* readItems(
  pattern: Pattern,
  span: Parameters<ReadEdit>[0],
  { plan, document }: { plan: Plan; document: StateDocument },
): Generator<{ key: string; value: Meaning }> {
  for (const match of pattern.matches(span)) {
    const key = match.text("key");
    const isName = !NO_LIST.test(key) || document.fields.has(key);
    const value = isName ? readFieldValue(match.span("value"), plan, false) : undefined;
    if (value !== undefined) yield { key, value };
  }
}

/** `add the result to the results array`. */
const readPush: ReadEdit = (span, { plan, document, step }) => {
  for (const { key, value } of readItems(PUSH, span, { plan, document })) {
    const known = document.fields.get(knownField(document, key) ?? key);
    if (known !== undefined && !Array.isArray(known)) return undefined;
    requireKnown(document, key, step);
    const isSure = known !== undefined || /s$|(?:array|list)$/iu.test(span.trimmed.text);
    return {
      rank: isSure ? SURE : RANK.plain,
      lower() {
        const list = checkedField(plan, document, key, "list");
        typeEmptyList(document, key, plan);
        plan.add({ kind: "do", value: method(list, "push", value.lower()) });
        document.fields.set(knownField(document, key) ?? key, undefined);
      },
    };
  }
  return undefined;
};

/** Gives a list that began empty the type of what is added first. */
function typeEmptyList(document: StateDocument, key: string, plan: Plan): void {
  const declared = plan.block.find(
    (statement) => statement.kind === "const" && statement.name === document.value.name,
  );
  if (declared?.kind !== "const" || declared.value.kind !== "object") return;
  const entry = declared.value.entries.find((one) => "key" in one && sameWords(one.key, key));
  const last = plan.values.findLast((value) => value.document === undefined);
  if (entry === undefined || !("key" in entry) || entry.value.kind !== "as") return;
  if (last !== undefined && isNumeric(last.schema)) entry.value = cast(literal([]), "number[]");
}

/** `add 7 to numbers.json`: the file itself is a list. */
const readPushWhole: ReadEdit = (span, { plan, document }) => {
  if (!document.isLoaded || document.fields.size > 0) return undefined;
  const match = PUSH_WHOLE.match(span);
  const value = match && readFieldValue(match.span("value"), plan, false);
  if (value === undefined) return undefined;
  return {
    rank: RANK.plain,
    lower() {
      const list = wholeList(plan, document);
      plan.add({ kind: "do", value: method(list, "push", value.lower()) });
    },
  };
};

function wholeList(plan: Plan, document: StateDocument): Expression {
  const list = document.value.expression;
  check(plan, not(call(member(name("Array"), "isArray"), list)), `${document.path} holds no list.`);
  return list;
}

/** `remove "b" from the tags`. */
const readTake: ReadEdit = (span, { plan, document, step }) => {
  for (const { key, value } of readItems(TAKE, span, { plan, document })) {
    requireKnown(document, key, step);
    return {
      rank: RANK.plain + 0.3,
      lower() {
        const list = checkedField(plan, document, key, "list");
        const isOther = arrow(["item: unknown"], binary(name("item"), "!==", value.lower()));
        plan.add({ kind: "assign", target: list, value: method(list, "filter", isOther) });
      },
    };
  }
  return undefined;
};

/** `sort the tags in config.json`: in the file. */
const readSort: ReadEdit = (span, { plan, document, isNamed }) => {
  const match = SORT.match(span);
  const key = match?.text("key") ?? "";
  const isKnown = knownField(document, key) !== undefined;
  if (match === undefined || !(isKnown || (isNamed && document.isLoaded))) return undefined;
  const isWhole = !isKnown && WHOLE_LIST.test(key);
  if (!isWhole && !isKnown && (NO_LIST.test(key) || sameWords(key, stemOf(document.path)))) return undefined;
  return {
    rank: RANK.plain + 0.2,
    lower() {
      const list = isWhole ? wholeList(plan, document) : checkedField(plan, document, key, "list");
      plan.add({ kind: "do", value: method(list, "sort", useHelper("compare")) });
      if (match.meaning("direction") === "down") plan.add({ kind: "do", value: method(list, "reverse") });
    },
  };
};

export const LIST_EDITS: readonly ReadEdit[] = [readPush, readTake, readSort, readPushWhole];
