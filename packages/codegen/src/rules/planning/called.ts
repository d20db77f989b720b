import type { Span } from "../language/token.ts";
import { type Plan, Unfilled } from "./plan.ts";
import { isNumeric, type Value } from "./value.ts";

const NAMES: readonly (readonly string[])[] = [
  ["sum", "total"],
  ["average", "mean"],
  ["maximum", "max"],
  ["minimum", "min"],
  ["median"],
  ["product"],
  ["difference"],
  ["quotient"],
  ["remainder"],
];
/** Verbs in a step that mean a calculation of that name. */
const VERBS: Readonly<Record<string, string>> = {
  sum: "add|added|plus",
  product: "multiply|multiplied|times",
  difference: "subtract|subtracted|minus",
  quotient: "divide|divided",
};
/** What makes the words after it a calculation to do, not the result of one. */
const MAKES = /^(?:calculate|compute|find|determine|evaluate|work|add|sum|get)$/u;
const OVER = /^(?:of|from|over|between|for)$/u;

/** The numbers of earlier steps that words call by what was calculated: `the sum`. */
interface Called {
  /** Steps that said the name themselves, and whose results no later step took. */
  said: readonly Value[];
  /** Steps that calculated it without saying so. */
  implied: readonly Value[];
}

function findCalled(name: string, plan: Plan): Called {
  const names = NAMES.find((one) => one.includes(name)) ?? [];
  const says = new RegExp(`\\b(?:${[...names, VERBS[names[0] ?? ""] ?? name].join("|")})\\b`, "iu");
  const values = plan.values.filter(
    (value) => isNumeric(value.schema) && value.document === undefined && !value.isEffect,
  );
  const named = values.filter((value) => names.includes(value.words));
  const said = values.filter(
    (value) => says.test(value.about) && (named.includes(value) || value.words === "result"),
  );
  const open = said.filter((value) => !value.consumed);
  return {
    said: open.length > 0 ? open : said.slice(-1),
    implied: named.filter((value) => !said.includes(value) && !value.consumed),
  };
}

const ONLY = /^(?:the |its |their |that |this )?([a-z]+)$/u;

/** The one result that `the sum`, `the average` mean, where a step said that it calculates one. */
export function onlyCalled(words: string, plan: Plan): Value | undefined {
  const name = ONLY.exec(words.trim().toLowerCase())?.[1] ?? "";
  if (!NAMES.flat().includes(name)) return undefined;
  const { said } = findCalled(name, plan);
  return said.length === 1 ? said[0] : undefined;
}

/**
 * Refuses a step that says `the sum` where the results of two steps could be meant.
 *
 * @throws Unfilled that names both.
 */
export function refuseUnclear(span: Span, text: string, plan: Plan): void {
  if (plan.values.length < 2) return;
  for (const [at, token] of span.tokens.entries()) {
    const isName = token.kind === "word" && NAMES.flat().includes(token.lower);
    const before = span.at(at - 1)?.lower;
    const isMade = span.tokens.slice(0, at).some(({ lower }) => MAKES.test(lower));
    if (!isName || at === 0 || before !== "the" || isMade || OVER.test(span.at(at + 1)?.lower ?? ""))
      continue;
    const { said, implied } = findCalled(token.lower, plan);
    const others = plan.values.filter((value) => isNumeric(value.schema) && value.document === undefined);
    const isUnclear = said.length > 1 || (said.length === 0 && implied.length > 0 && others.length > 1);
    if (!isUnclear) continue;
    const meant = [
      ...new Set((said.length > 1 ? said : others).map(({ about }) => `"${about.slice(0, 80)}"`)),
    ];
    if (meant.length < 2) continue;
    throw new Unfilled({
      step: text,
      reason: "not-understood",
      argument: token.lower,
      hint: `"the ${token.lower}" may mean the result of ${meant.slice(0, 4).join(" or of ")}. Say which: "the first result", "the last result", or "the ${token.lower} of all results".`,
    });
  }
}
