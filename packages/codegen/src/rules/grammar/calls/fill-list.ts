import type { JsonSchema } from "@cem/core";
import { splitWords } from "@cem/text";
import { plural, singular } from "../../program/names.ts";
import { PATH } from "./take-by-role.ts";
import { isNumeric } from "../../planning/value.ts";
import { NUMBER, QUOTED } from "./phrase.ts";
import { takeNamedToken } from "./explicit.ts";
import { splitList } from "./lists.ts";
import type { Parameter } from "./parameters.ts";
import { type Filling, set } from "./filling.ts";

export function fillList(filling: Filling, parameter: Parameter): void {
  const { phrase } = filling;
  const item = parameter.schema.items ?? {};
  const token = `(?:${QUOTED}|[^\\s,;\\uE000-\\uE002]+)`;
  const LIST = `${token}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${token})*`;
  const written = phrase.takeJson(Array.isArray);
  if (written !== undefined) return set(filling, parameter, written);
  const named = takeNamedToken(phrase, parameter, LIST);
  const found =
    named === undefined
      ? parameter.isRequired
        ? bareList(filling, parameter, item)
        : undefined
      : splitList(named, phrase);
  if (found === undefined || found.length === 0) return undefined;
  const isNumberList = isNumeric(item);
  const values = found.map((part) => (isNumberList ? phrase.value(part) : part));
  if (!isNumberList || values.every((value) => typeof value === "number")) set(filling, parameter, values);
  return undefined;
}

/** A list of numbers, of quoted texts, of paths, or of names behind the tool's own noun: `delete the entities Ada and Bob`. */
function bareList({ phrase, tool }: Filling, { words }: Parameter, item: JsonSchema): string[] | undefined {
  const nouns = splitWords(tool.name).slice(1).map(nounPattern).join("|");
  const tokens = [
    isNumeric(item) ? NUMBER : QUOTED,
    ...(words.some((word) => /^(?:files?|paths?)$/u.test(word)) ? [PATH.source] : []),
    ...(nouns === "" || isNumeric(item)
      ? []
      : [`(?<=\\b(?:${nouns})\\s+(?:.{0,200}(?:,|\\band)\\s+)?)\\p{Lu}[\\p{L}\\p{N}_-]*`]),
  ];
  for (const token of tokens) {
    const match = phrase.take(
      new RegExp(`(?:${token})(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)(?:${token}))*`, "u"),
    );
    if (match !== undefined) return splitList(match[0], phrase);
  }
  return undefined;
}

function nounPattern(word: string): string {
  return `${singular(word)}s?|${plural(word)}`;
}
