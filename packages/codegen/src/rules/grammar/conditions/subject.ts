import { splitWords } from "@cem/text";
import { findReference } from "../../planning/references.ts";
import type { Plan } from "../../planning/plan.ts";

const ABOUT = /(?<!\s)\s+(?:in|for|at|of)\s+((?:\p{Lu}[\p{L}'.-]*)(?:\s+\p{Lu}[\p{L}'.-]*)*)(?![\p{L}])/u;
/** `it is colder than 10 in Oslo`: what "it" is there is the weather. */
const IMPERSONAL = /^it(?:['’]s| is| was| gets| will be| rains| snows)(?!\p{L})/iu;

/**
 * `the temperature in London is above 5`: what a condition is about is asked for first.
 *
 * @returns what is left of the condition: `the temperature is above 5`.
 */
export function openSubject(text: string, plan: Plan): string {
  const about = ABOUT.exec(text);
  const place = about?.[1];
  if (about === null || place === undefined) return text;
  const subject = text.slice(0, about.index);
  const rest = `${subject}${text.slice(about.index + about[0].length)}`.trim();
  if (plan.values.some((value) => value.about.includes(place))) return rest;
  if (findReference(subject.replace(/^the\s+/iu, ""), plan) !== undefined) return text;
  const noun = IMPERSONAL.test(subject) ? "weather" : splitWords(subject).at(-1);
  const reading = noun === undefined ? undefined : plan.readAsked(`get the ${noun} in ${place}`);
  if (reading === undefined) return text;
  reading.lower();
  for (const value of plan.values.slice(-1)) value.consumed = true;
  return rest;
}
