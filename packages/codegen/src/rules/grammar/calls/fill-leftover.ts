import { DEMANDING_WORDS, isVerb, splitWords, stem } from "@cem/text";
import { escapePattern } from "../../language/escape-pattern.ts";
import { readTokens } from "../../language/lexer.ts";
import { isNumeric } from "../../planning/value.ts";
import { toExpression } from "../arithmetic/arithmetic.ts";
import { readExpression } from "../arithmetic/read-expression.ts";
import { verbOf } from "./match-tools.ts";
import { changes } from "./verbs.ts";
import { NUMBER, QUOTED } from "./phrase.ts";
import { splitList } from "./lists.ts";
import { type Parameter, readParameters } from "./parameters.ts";
import { type Filling, set, setFound, toFound } from "./filling.ts";

/** What nothing claimed goes to the one required parameter that is still open. */
export function fillLeftover(filling: Filling, parameter: Parameter): void {
  if (!parameter.isRequired) return;
  const { phrase } = filling;
  if (parameter.role === "number" || isNumeric(parameter.schema)) {
    const sum = phrase.find(
      /(?<![\p{L}\d.])[\d(](?:[\d\s.()]{0,20}[-+*/^]){1,20}[\d\s.()]{0,20}[\d)](?![\p{L}\d])/u,
    );
    const arithmetic =
      sum === undefined || /\d-\d\d?-\d/u.test(sum[0])
        ? undefined
        : readExpression(readTokens(sum[0]), filling.plan);
    if (sum !== undefined && arithmetic !== undefined) {
      phrase.remove(sum.index, sum[0].length);
      filling.result.args.set(parameter.name, toExpression(arithmetic));
      return;
    }
    const token = phrase.take(new RegExp(`(?<![\\p{L}\\d.])#?(${NUMBER})(?![\\p{L}\\d]|\\.\\d)`, "u"))?.[1];
    const number = token === undefined ? undefined : phrase.value(token);
    if (typeof number === "number") set(filling, parameter, number);
    return;
  }
  if (
    ![
      "text",
      "message",
      "title",
      "query",
      "identifier",
      "place",
      "table",
      "repository",
      "owner",
      "language",
    ].includes(parameter.role)
  )
    return;
  const token = phrase.take(new RegExp(QUOTED, "u"))?.[0];
  const quoted = token === undefined ? undefined : phrase.quoted(token);
  if (quoted !== undefined) return set(filling, parameter, quoted);
  if (!["query", "place", "identifier", "text", "message"].includes(parameter.role)) return undefined;
  // Only who searches says a query in bare words.
  if (parameter.role === "query" && !SEARCHING.has(verbOf(filling.step.text) ?? "")) return undefined;
  // What a tool changes is said in quotes or behind a word such as "saying", never by what is left of the sentence.
  if (changes(filling.tool)) return undefined;
  const words = remainingWords(filling);
  const isOneWord = words !== undefined && !/\s/u.test(words);
  if (words === undefined || ((parameter.role === "text" || parameter.role === "identifier") && !isOneWord))
    return undefined;
  phrase.take(new RegExp(escapePattern(words).replaceAll(/\s+/gu, "\\s+"), "iu"));
  if (parameter.role === "place" && !isPlace(words, filling)) return undefined;
  setFound(
    filling,
    parameter,
    parameter.role === "place" ? toFound(splitList(words, phrase, true)) : { value: words },
  );
  return undefined;
}

/** A capital letter, or a step that says the tool's own noun, makes bare words a place. */
function isPlace(words: string, { tool, step }: Filling): boolean {
  if (
    /\b(?:which|what|who|how|is|are|one|1|date|time|it|them|there|here|these|those|each|every|same)\b/iu.test(
      words,
    )
  )
    return false;
  const said = new Set(splitWords(step.text.slice(0, 1_000)).map(stem));
  return (
    /^\p{Lu}/u.test(words) ||
    splitWords(tool.name)
      .slice(1)
      .some((word) => said.has(stem(word)))
  );
}

/** The object of the verb: what is left when the verb, the tool's own words and small words are gone. */
function remainingWords({ phrase, tool, result }: Filling): string | undefined {
  const open = readParameters(tool).filter((one) => one.isRequired && !result.args.has(one.name));
  if (open.length !== 1) return undefined;
  const own = new Set(
    [
      ...splitWords(tool.name),
      ...splitWords(tool.server),
      ...readParameters(tool).flatMap((one) => one.words),
    ].map(stem),
  );
  const words = phrase.rest.split(/\s+/u).filter((word) => word !== "");
  const isOwn = (word: string): boolean =>
    splitWords(word).every((part) => own.has(stem(part)) || SMALL_WORDS.has(part));
  let first = 0;
  while (
    first < words.length &&
    (isOwn(words[first] ?? "") ||
      (first === 0 &&
        /^(?:get|show|find|search|look|give|tell|fetch|run|use|call|check|say|what|whats|is)$/iu.test(
          words[0] ?? "",
        )))
  )
    first += 1;
  let last = words.length;
  while (last > first && isOwn(words[last - 1] ?? "")) last -= 1;
  const text = words
    .slice(first, last)
    .join(" ")
    .replace(/(?<![?.!,:;])[?.!,:;]+$/u, "")
    .trim();
  const isPointing =
    /^(?:the |this |that |these |those |both )?(?:results?|outputs?|answers?|values?|it|them|that|this|everything|both|summary|data)$/iu.test(
      text,
    );
  return text === "" || isPointing || SMALL_WORDS.has(text.toLowerCase()) || isSentence(text)
    ? undefined
    : text;
}

const SEARCHING = new Set("search find look lookup query browse seek locate discover google".split(" "));
const MAX_LEFTOVER_WORDS = 8;
const PERSONAL =
  /^(?:i|i'm|im|me|my|you|your|we|our|us|they|their|he|she|who|which|that|also|because|so|please)$/u;

/** Whether words talk, instead of naming something. */
function isSentence(text: string): boolean {
  const words = text.toLowerCase().split(/\s+/u);
  if (words.length > MAX_LEFTOVER_WORDS || /[.;:()]\s|[()]/u.test(text)) return true;
  return words.some(
    (word, at) =>
      PERSONAL.test(word) || DEMANDING_WORDS.has(word) || (at === 0 && words.length > 1 && isVerb(word)),
  );
}

const SMALL_WORDS = new Set(
  "the a an of for in on at to with from by and or me us please is are was it its this that these those up out some any my our your all each s info information current now today".split(
    " ",
  ),
);
