import { splitWords, stem } from "@cem/text";
import { quoteToken, QUOTED } from "./phrase.ts";
import { takeNamedToken, takeNamedWords } from "./explicit.ts";
import { enumOf, type Parameter } from "./parameters.ts";
import { type Filling, setEach } from "./filling.ts";

/** One of the values it is limited to; several of them, and the tool is called once for each. */
export function fillEnum(filling: Filling, parameter: Parameter): void {
  const found: (string | number)[] = [];
  for (
    let value = takeEnum(filling, parameter);
    value !== undefined && found.length < 50;
    value = takeEnum(filling, parameter)
  ) {
    if (!found.includes(value)) found.push(value);
  }
  if (found.length > 0) return setEach(filling, parameter, found);
  const token =
    takeNamedToken(filling.phrase, parameter, QUOTED) ?? takeNamedWords(filling.phrase, parameter);
  if (token !== undefined) filling.result.wrong = { parameter, value: filling.phrase.decode(token) };
  return undefined;
}

function takeEnum(filling: Filling, parameter: Parameter): string | number | undefined {
  const values = [...enumOf(parameter.schema)].toSorted((a, b) => String(b).length - String(a).length);
  for (const value of values) {
    const words = splitWords(String(value)).map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, "."));
    if (words.length === 0) continue;
    const forms =
      words.length === 1 && /^[a-z]{4,}$/u.test(words[0] ?? "")
        ? stemPattern(words[0] ?? "")
        : words.join("[\\s_-]*");
    const pattern = new RegExp(
      `(?<![\\p{L}\\p{N}])(?:(?:in|with|of)\\s+(?:the\\s+)?)?(?:${parameter.words.join("[\\s_-]*")}\\s*(?::|=|is)?\\s*)?(?:${forms})(?![\\p{L}\\p{N}])`,
      "iu",
    );
    if (filling.phrase.take(pattern) !== undefined) return value;
    const quoted = filling.phrase.quotes.findIndex(
      (text) => text.toLowerCase() === String(value).toLowerCase(),
    );
    if (quoted >= 0 && filling.phrase.take(new RegExp(quoteToken(quoted), "u")) !== undefined) return value;
  }
  return undefined;
}

function stemPattern(word: string): string {
  const root = stem(word);
  return word.startsWith(root) && root.length > 3
    ? `${root}(?:${word.slice(root.length)}|s|es|ed|ing|y|ies)?`
    : word;
}
