import { Pattern } from "../../language/pattern.ts";
import { readTokens } from "../../language/lexer.ts";
import { RANK } from "../../planning/reading.ts";
import type { Production } from "../../planning/step.ts";
import { hasType } from "../../planning/value.ts";
import { array, binary, type Expression, literal, member, method, spread } from "../../program/expression.ts";
import { readKnown, toText } from "./contents.ts";
import { matchesOf, withPlaces } from "./places.ts";
import { isPronoun } from "./save-parts.ts";
import { FILE_WORDS, isBare } from "./words.ts";

const PATTERNS: readonly Pattern[] = [
  `how many {unit:@unit} (are|is) (there)? (in|inside) {text}`,
  `how many {unit:@unit} (does|do) {text} (have|contain|hold)`,
  `how many {unit:@unit} {text} (has|contains)`,
  `count (all)? {unit:@unit} (in|of|inside) {text}`,
  `count its {unit:@unit}`,
  `(get|give|tell|show|calculate|compute|find|determine|return | (what is) | (find out))? (number|count|amount) of {unit:@unit} (in|of|inside) {text}`,
].map((pattern) => new Pattern(pattern, FILE_WORDS));

/** `How many words are in notes.txt?`: a number, of a file or of a text that a step gave. */
export const readMeasure: Production = (step, plan) => {
  if (!isBare(step)) return undefined;
  for (const match of matchesOf(PATTERNS, step.span)) {
    const text = match.span("text");
    const itself = text.isEmpty || isPronoun(text) ? readKnown(readTokens("its content"), plan) : undefined;
    const content = itself ?? readKnown(withPlaces(text, plan), plan);
    if (content === undefined || !hasType(content.schema, "string")) continue;
    const unit = match.meaning("unit");
    return {
      kind: "measure",
      rank: RANK.tool + 0.2,
      lower() {
        plan.declare(measure(unit, toText(content)), { words: unit, schema: { type: "number" } });
      },
    };
  }
  return undefined;
};

const UNIT_PATTERNS: Readonly<Record<string, readonly string[]>> = {
  words: ["\\S+", "g"],
  lines: [".*\\n|.+", "g"],
  letters: ["\\p{L}", "gu"],
};

/** How many there are; what ends with a line break has no empty line after it. */
function measure(unit: string, text: Expression): Expression {
  const pattern = UNIT_PATTERNS[unit];
  if (pattern === undefined) return member(array([spread(text)]), "length");
  const expression: Expression = {
    kind: "new",
    callee: "RegExp",
    args: pattern.map((part) => literal(part)),
  };
  return member(binary(method(text, "match", expression), "??", literal([])), "length");
}
