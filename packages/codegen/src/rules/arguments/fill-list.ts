import type { JsonSchema } from "@cem/core";
import { isNumeric } from "../planning/value.ts";
import { readJson } from "../reading/json.ts";
import type { Phrase } from "../reading/phrase.ts";
import { NUMBER, QUOTED } from "../reading/phrase.ts";
import { takeNamedToken } from "./explicit.ts";
import { splitList } from "./lists.ts";
import type { Parameter } from "./roles.ts";
import { type Filling, set } from "./filling.ts";

export function fillList(filling: Filling, parameter: Parameter): void {
  const { phrase } = filling;
  const item = parameter.schema.items ?? {};
  const token = `(?:${QUOTED}|[^\\s,;\\uE000-\\uE002]+)`;
  const LIST = `${token}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${token})*`;
  const json = /\[[^\]]*\]/u.exec(filling.step.text)?.[0];
  const written = json === undefined ? undefined : readJson(json);
  if (Array.isArray(written)) return set(filling, parameter, written);
  const named = takeNamedToken(phrase, parameter, LIST);
  const found =
    named === undefined
      ? parameter.isRequired
        ? bareList(phrase, item)
        : undefined
      : splitList(named, phrase);
  if (found === undefined || found.length === 0) return undefined;
  const isNumberList = isNumeric(item);
  const values = found.map((part) => (isNumberList ? phrase.value(part) : part));
  if (!isNumberList || values.every((value) => typeof value === "number")) set(filling, parameter, values);
  return undefined;
}

function bareList(phrase: Phrase, item: JsonSchema): string[] | undefined {
  const token = isNumeric(item) ? NUMBER : QUOTED;
  const match = phrase.take(
    new RegExp(`(?:${token})(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)(?:${token}))*`, "u"),
  );
  if (match !== undefined) return splitList(match[0], phrase);
  return undefined;
}
