import type { ToolDefinition } from "@cem/core";
import { isStopWord, isVerb, splitStems, splitWords, stem } from "@cem/text";
import { verbOf } from "../matching/match-tools.ts";
import { isKnownVerb } from "../matching/verb-classes.ts";
import { PROPERTY_WORDS } from "../planning/references.ts";
import { propertiesOf } from "../planning/value.ts";
import { lookUp } from "../reading/look-up.ts";
import type { FilledArguments } from "./filling.ts";

const MAX_WORDS_CHARACTERS = 4_000;

/** Words that ask for nothing more, whatever the tool. */
const FILLER = new Set(
  `give provide offer support cover got like look looks looking right today tonight currently current now moment outside info information detail details
  report conditions data result results value values answer output tool tools server servers skill function api
  following next first new one ones thing things way kind sort type number text quick quickly briefly exactly
  everything anything please able know see need want wants wanted help helps going go tell say let us use using used
  call calls called name named titled city cities town place places location locations live time times day days week
  file files folder directory table tables database list lists entry entries item items word words content contents
  whole full entire complete available existing inside there here its their my our your message messages`.split(
    /\s+/,
  ),
);

/** What a further demand is told by: an order of its own, a comparison, a repetition, a negation. */
const DEMANDS =
  /^(?:twice|thrice|not|except|excluding|without|but|unless|instead|versus|vs|than|compare|compared|difference|average|mean|median|sum|total|sorted|sort|ordered|descending|ascending|count|percentage|percent|ratio|per|each|every|both|again|repeat|repeatedly|daily|hourly|weekly|monthly|until|while|only|warmer|colder|fahrenheit|kelvin|\p{L}+est)$/u;

/** Words of a step that nothing took and that ask for more than the tool gives. */
export function unreadDemand(
  tool: ToolDefinition,
  step: string,
  filled: FilledArguments,
): string | undefined {
  const rest = filled.rest.slice(0, MAX_WORDS_CHARACTERS);
  const own = ownStems(tool);
  const first = verbOf(step);
  const words = splitWords(rest);
  const taken = JSON.stringify([[...filled.args.values()], filled.each ?? []]);
  const found = words.filter((word, at) => {
    if (own.has(stem(word))) return false;
    if (DEMANDS.test(word)) return true;
    if (
      isStopWord(word) ||
      taken.toLowerCase().includes(word) ||
      FILLER.has(word) ||
      (at <= 1 && word === first)
    )
      return false;
    if (/^\d+$/u.test(word)) return true;
    return at > 0 && (isVerb(word) || isKnownVerb(word)) && !FILLER.has(word) && words[at - 1] !== "to";
  });
  const names = (rest.match(/(?<=\S\s+)\p{Lu}[\p{L}\p{N}'-]+/gu) ?? []).filter(
    (name) =>
      !taken.includes(name) &&
      splitWords(name).some(
        (word) => !own.has(stem(word)) && !isStopWord(word) && !FILLER.has(word) && !isVerb(word),
      ),
  );
  const demands = [...new Set([...found, ...names])];
  return demands.length === 0 ? undefined : demands.join(" ");
}

function ownStems(tool: ToolDefinition): ReadonlySet<string> {
  const { outputSchema } = tool;
  const outputs = [...propertiesOf(outputSchema ?? {}), ...propertiesOf(outputSchema?.items ?? {})].map(
    ([key]) => key,
  );
  const inputs = propertiesOf(tool.inputSchema).map(([key]) => key);
  const stems = new Set(
    [tool.name, tool.server, tool.description, ...inputs, ...outputs].flatMap((text) =>
      splitStems(text.slice(0, 2_000)),
    ),
  );
  const meant = Object.keys(PROPERTY_WORDS).filter(
    (word) =>
      lookUp(PROPERTY_WORDS, word)?.some((one) => stems.has(stem(one))) === true &&
      !word.endsWith("est") &&
      !word.endsWith("er"),
  );
  return new Set([...stems, ...meant.map(stem)]);
}
