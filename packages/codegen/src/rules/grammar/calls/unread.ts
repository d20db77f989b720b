import type { ToolDefinition } from "@cem/core";
import {
  DEMANDING_WORDS,
  isStopWord,
  PROPERTY_WORDS,
  SMALL_TALK,
  splitStems,
  splitWords,
  stem,
} from "@cem/text";
import { propertiesOf } from "../../planning/value.ts";
import type { FilledArguments } from "./filling.ts";
import { verbOf } from "./match-tools.ts";
import { readParameters, type Role } from "./parameters.ts";
import { sameMeaning } from "./synonyms.ts";
import { kindOfTool, verbFit } from "./verbs.ts";

const MAX_WORDS_CHARACTERS = 4_000;

/** What people call the thing that a parameter of a role takes. */
const ROLE_WORDS: Partial<Record<Role, string>> = {
  place: "city cities town place places location locations",
  path: "file files folder folders directory document documents path",
  message: "message text content contents",
  title: "title name",
  table: "table tables database",
  sql: "database table tables row rows sql",
  repository: "repository repo project",
  channel: "channel room",
  url: "page website site url link",
  identifier: "id number code symbol",
  email: "address",
  currency: "currency money",
};

/**
 * The words of a step that nothing claims: no argument, not the tool's own words, and no small talk.
 *
 * @param filled - The arguments, and what is left of the step when they are taken out.
 */
export function unclaimed(tool: ToolDefinition, step: string, { args, rest }: FilledArguments): string[] {
  const words = rest.slice(0, MAX_WORDS_CHARACTERS);
  const values = valuesIn(words, tool);
  if (values.length > 0) return values;
  const own = ownStems(tool, args);
  const verb = verbOf(step);
  const isOwnVerb =
    verb !== undefined && verbFit(verb, splitWords(tool.name), tool.annotations?.readOnlyHint === true) > 0;
  const found = splitWords(words).filter((word, at) => {
    if (DEMANDING_WORDS.has(word) || /\p{L}(?:est|er)$/u.test(word))
      return !own.has(stem(word)) || DEMANDING_WORDS.has(word);
    if (isStopWord(word) || SMALL_TALK.has(word) || own.has(stem(word))) return false;
    return !(at <= 1 && isOwnVerb && word === verb);
  });
  return [...new Set(found)].filter((word) => !saidByName(word, tool));
}

/** What can only be a value, and that no argument took: `<name>`, `order_17`, `@ada`. The tool's description does not claim it. */
function valuesIn(words: string, { name, originalName, server }: ToolDefinition): string[] {
  const names = new Set([name, originalName, server, `${server}.${name}`]);
  const found =
    words.match(
      /<[^<>\s]{1,80}>|(?<![^\s,;:?!()])[^\s,;:?!()]*[\p{L}\p{N}][_@#][\p{L}\p{N}][^\s,;:?!()]*|(?<!\S)[@#]\S+/gu,
    ) ?? [];
  return [...new Set(found)].filter((word) => !names.has(word));
}

/** A tool that lists gives all there is. */
function saidByName(word: string, { name }: ToolDefinition): boolean {
  return word === "all" && ["list", "search"].includes(kindOfTool(splitWords(name)) ?? "");
}

function ownStems(tool: ToolDefinition, args: FilledArguments["args"]): ReadonlySet<string> {
  const { outputSchema } = tool;
  const outputs = [...propertiesOf(outputSchema ?? {}), ...propertiesOf(outputSchema?.items ?? {})].map(
    ([key]) => key,
  );
  // A parameter that got no value claims nothing.
  const parameters = readParameters(tool).filter(({ name }) => args.has(name));
  const roles = parameters.map(({ role }) => ROLE_WORDS[role] ?? "");
  const texts = [
    tool.name,
    tool.server,
    tool.description,
    ...parameters.map(({ name }) => name),
    ...outputs,
    ...roles,
  ];
  const stems = new Set(texts.flatMap((text) => splitStems(text.slice(0, 2_000))));
  const same = [...stems].flatMap((one) => sameMeaning(one));
  const meant = Object.entries(PROPERTY_WORDS)
    .filter(([word, meanings]) => !/(?:est|er)$/u.test(word) && meanings.some((one) => stems.has(stem(one))))
    .map(([word]) => stem(word));
  return new Set([...stems, ...same, ...meant]);
}
