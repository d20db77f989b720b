import { Pattern } from "../../language/pattern.ts";
import { useHelper } from "../../program/helpers.ts";
import { sameWords } from "../../planning/references.ts";
import { RANK } from "../../planning/reading.ts";
import type { Production } from "../../planning/step.ts";
import { call, literal } from "../../program/expression.ts";
import { openDocument, reloadDocument } from "./documents.ts";
import { matchesOf, isJsonPath, PLACE, placeOf, PLACES, readFiles, stemOf, withPlaces } from "./places.ts";
import { isBare, READ, STATE, WHOLE } from "./words.ts";

const EARLIER =
  "(((that|which) (was|were|is|has) (been)?)? (saved|written|created|stored|made|left) ((in|by|during|from) (previous|last|earlier|first|other) (session|run|step|process|task|one))?)?";
const VERB = `(${READ}|show|display|view|cat|continue|resume | (read back) | (what (is|was) (in|inside)) | ((continue|resume) (with|from)))`;
const LOADS: readonly Pattern[] = [
  new Pattern(`${VERB} {files} ${EARLIER} (back|again)? ((in|into|to) memory)?`),
  new Pattern(
    `${VERB} (the|all)? (${WHOLE})? {noun:word} {second:word}? (stored|saved|kept)? (from|of|in) {files} ${EARLIER} (back|again)?`,
  ),
];
const FIELD = new Pattern(
  `(${READ}|take) {field:name} (field|property|value)? (from|of|in|out) (of)? ${PLACE}`,
  PLACES,
);
const GENERIC = new RegExp(
  `^(?:${STATE}|contents?|file|list|array|records|rows|entries|items|table|everything|it)$`,
  "u",
);

/** Reads JSON files into memory, or one field of one. */
export const readLoad: Production = (step, plan) => {
  if (!isBare(step)) return undefined;
  const span = withPlaces(step.span, plan);
  for (const match of matchesOf(LOADS, span)) {
    const files = readFiles(match.span("files"));
    const paths = files?.every(isJsonPath) === true ? files : undefined;
    const nouns = [match.text("noun"), match.text("second")].filter((word) => word !== "");
    const isSaid = nouns.every((noun) => GENERIC.test(noun.toLowerCase()) || isStem(noun, paths));
    if (paths === undefined || !isSaid) continue;
    return {
      kind: "load",
      rank: RANK.tool + 0.2,
      lower() {
        for (const path of paths) reloadDocument(plan, path, step.text);
      },
    };
  }
  for (const match of FIELD.matches(span)) {
    const path = match.has("same") ? undefined : placeOf(match, plan);
    if (path === undefined || !isJsonPath(path)) continue;
    return {
      kind: "load",
      rank: RANK.tool + 0.1,
      lower() {
        const field = match.text("field");
        const document = openDocument(plan, path, step.text);
        document.value.consumed = true;
        const value = call(useHelper("fieldOf"), document.value.expression, literal(field));
        plan.declare(value, { words: field });
      },
    };
  }
  return undefined;
};

/** `the people from people.json`: the file is called so. */
function isStem(noun: string, paths: readonly string[] | undefined): boolean {
  return paths?.length === 1 && sameWords(noun, stemOf(paths[0] ?? ""));
}
