import { outline } from "./outline.ts";
import { beginsStep } from "./verbs.ts";

/** The condition under which a step is done. */
export interface StepCondition {
  /** The condition in the user's words: `temperature is above 20`. */
  text: string;
  /** Whether the condition must hold; `false` for "otherwise" and "unless". */
  holds: boolean;
  /** Number of the condition in the task, from 1. Steps with the same number belong to one if/else. */
  branch: number;
}

const LEADING = /^(?:and\s+|but\s+)?(?:only\s+)?(if|when|in case|provided(?: that)?|unless)\s+/iu;
const OTHERWISE = /^(?:and\s+|but\s+)?(?:otherwise|else|if not)\b[,:]?\s*/iu;

/** Splits `if X then Y`, `if X, Y` and `Y if X` into condition and step. */
export function readCondition(clause: string): {
  condition?: string | undefined;
  negated: boolean;
  rest: string;
} {
  const leading = LEADING.exec(clause);
  if (leading !== null) {
    const body = clause.slice(leading[0].length);
    const cut = /(?:,|(?<!\s))\s+then\s+|,\s+|:\s+/u.exec(outline(body)) ?? findOrder(outline(body));
    const condition = cut === null ? body : body.slice(0, cut.index);
    const rest = cut === null ? "" : body.slice(cut.index + cut[0].length);
    return { condition: condition.trim(), negated: /^unless$/iu.test(leading[1] ?? ""), rest };
  }
  const trailing =
    /(?:,|(?<![\s,]))\s+(?:but\s+)?(?:only\s+)?(if|unless|provided that)\s+(?!possible|needed|any\b|necessary|you can)/iu.exec(
      outline(clause),
    );
  if (
    trailing === null ||
    /\b(?:check|verify|tell(?: me)?|see|know|ask|test|find out|show)$/iu.test(clause.slice(0, trailing.index))
  ) {
    return { negated: false, rest: clause };
  }
  return {
    condition: clause.slice(trailing.index + trailing[0].length).trim(),
    negated: /^unless$/iu.test(trailing[1] ?? ""),
    rest: clause.slice(0, trailing.index),
  };
}

/** Finds where the step begins in `it is above 15 print …`: at the first verb after the comparison. */
function findOrder(mask: string): { 0: string; index: number } | null {
  const compared =
    /\b(?:is|are|was|equals?|above|below|over|under|than|exceeds|least|most|has|have|exists?|contains?)\b|[<>=]|['’]s\b/iu.exec(
      mask,
    );
  if (compared === null) return null;
  for (const match of mask.matchAll(/(?<!\s)\s+(?=\p{L})/gu)) {
    if (match.index > compared.index && beginsStep(mask.slice(match.index, match.index + 200)))
      return { 0: match[0], index: match.index };
  }
  return null;
}

/** The rest of a clause that begins with "otherwise"; `undefined` for any other clause. */
export function readOtherwise(clause: string): string | undefined {
  const match = OTHERWISE.exec(clause);
  return match === null ? undefined : clause.slice(match[0].length);
}
