import { escapePattern } from "../../language/escape-pattern.ts";
import { lookUp } from "../../language/look-up.ts";
import type { ToolDefinition } from "@cem/core";
import { splitWords, stem } from "@cem/text";
import { NUMBER, type Phrase } from "./phrase.ts";
import type { Parameter } from "./parameters.ts";

/** Where an unquoted value ends. */
const VALUE_END =
  "(?=\\s*(?:,|;|\\uE002|$)|\\s+(?:and|with|in|to|for|from|on|at|by|of|using|as|which|that|then|but|starting|saying|titled|called|named|labeled|labelled|labels|via|through|into|where|if)\\b|[.!?](?:\\s|$))";
const NOT_A_VALUE =
  "(?!(?:and|with|in|to|for|from|on|at|by|of|using|as|which|that|then|is|are|the|a|an|it|them|about|saying|titled|called|named)\\b)";

const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  title: ["titled", "entitled", "called", "named", "with the title", "subject", "title"],
  subject: ["subject", "titled", "title", "with the subject"],
  name: ["called", "named", "name", "with the name"],
  body: [
    "body",
    "saying",
    "that says",
    "which says",
    "description",
    "with the text",
    "text",
    "content",
    "message",
    "reading",
    "containing",
  ],
  description: ["description", "described as", "saying", "that says", "body"],
  text: [
    "saying",
    "that says",
    "which says",
    "with the text",
    "text",
    "message",
    "with the message",
    "reading",
    "says",
    "content",
    "containing",
  ],
  message: ["saying", "that says", "which says", "with the text", "message", "text", "reading", "says"],
  content: ["content", "contents", "containing", "saying", "that says", "with the text", "text", "contain"],
  comment: ["comment", "saying", "that says", "with the text"],
  query: ["query", "searching for", "search for", "looking for", "matching", "for"],
  start: ["starting", "start", "beginning", "from", "begins", "starts"],
  end: ["ending", "end", "until", "till", "ends"],
  labels: [
    "labels",
    "labelled",
    "labeled",
    "tags",
    "tagged",
    "label",
    "tagged with",
    "labeled with",
    "labelled with",
  ],
  tags: ["tags", "tagged", "tag", "tagged with", "labels"],
  limit: ["limit", "at most", "up to", "max", "maximum", "only"],
  assignee: ["assigned to", "assign to", "assignee"],
  attendees: ["attendees", "with", "inviting", "invite"],
  priority: ["priority"],
  category: ["category", "in the category", "categories"],
};

/** Patterns for the ways a text can name a parameter: its own name, then what people say instead. */
function namesOf(parameter: Parameter): string[] {
  const own = parameter.words.map(escapePattern);
  const names = [own.join("[\\s_-]*")];
  const last = parameter.words.at(-1) ?? "";
  if (parameter.words.length > 1 && parameter.role !== "number") names.push(escapePattern(last));
  for (const synonym of lookUp(SYNONYMS, parameter.words.join(" ")) ?? lookUp(SYNONYMS, last) ?? [])
    names.push(escapePattern(synonym));
  const singular = stem(last);
  if (singular !== last && singular.length > 2 && last.startsWith(singular))
    names.push(`${escapePattern(singular)}\\w{0,3}`);
  return [...new Set(names)];
}

const JOINT =
  "(?:\\s*[:=]\\s*|\\s+(?:is\\s+|of\\s+|set to\\s+|to\\s+|as\\s+|equal to\\s+|equals\\s+)?(?:the\\s+)?)";

/** Takes the quoted text or number that stands behind a parameter's name. */
export function takeNamedToken(phrase: Phrase, parameter: Parameter, token: string): string | undefined {
  for (const named of namesOf(parameter)) {
    const pattern = new RegExp(
      `(?<![\\p{L}\\p{N}_])(?:(?:with|and|using|,)\\s+)?(?:an?\\s+|the\\s+)?(?:${named})${JOINT}(${token})(?![\\p{L}\\d])`,
      "iu",
    );
    const match = phrase.take(pattern);
    if (match?.[1] !== undefined) return match[1];
  }
  return undefined;
}

/** Takes the bare words that stand behind a parameter's name. */
export function takeNamedWords(phrase: Phrase, parameter: Parameter): string | undefined {
  for (const named of namesOf(parameter)) {
    if (/^(?:for|with|from|only|first|top|text|in)$/u.test(named)) continue;
    const pattern = new RegExp(
      `(?<![\\p{L}\\p{N}_])(?:(?:with|and|using|,)\\s+)?(?:an?\\s+|the\\s+)?(?:${named})${JOINT}${NOT_A_VALUE}([^\\s,;\\uE000-\\uE002](?:[^,;\\uE000-\\uE002]{0,200}?))${VALUE_END}`,
      "iu",
    );
    const match = phrase.take(pattern);
    if (match?.[1] !== undefined) return match[1];
  }
  return undefined;
}

const MAXIMUM =
  "under|below|at most|up to|less than|cheaper than|no more than|not more than|max(?:imum)?(?: of)?|within|shorter than|younger than";
const MINIMUM =
  "over|above|at least|more than|greater than|min(?:imum)?(?: of)?|from|starting at|longer than|older than";

/** Takes a number for a parameter: behind its name, before it (`3 days`), or by a bound (`under 50`). */
export function takeNumber(phrase: Phrase, parameter: Parameter, tool: ToolDefinition): string | undefined {
  const named = takeNamedToken(phrase, parameter, NUMBER);
  if (named !== undefined) return named;
  const words = parameter.words.join(" ");
  const days = takeDays(phrase, parameter);
  if (days !== undefined) return days;
  for (const name of namesOf(parameter)) {
    const before = phrase.take(
      new RegExp(
        `(?:\\b(?:for|over)\\s+)?(?:\\bthe\\s+)?(?:\\b(?:next|coming|following)\\s+)?(?<![\\p{L}\\d.])(${NUMBER})[\\s-]+(?:${name})(?![\\p{L}\\d])`,
        "iu",
      ),
    );
    if (before?.[1] !== undefined) return before[1];
  }
  const bound = /\bmax|maximum|upper|most|below\b/u.test(words)
    ? MAXIMUM
    : /\bmin|minimum|lower|least|above\b/u.test(words)
      ? MINIMUM
      : undefined;
  if (bound !== undefined && !/^(?:max|maximum)?\s*(?:results|items|count|rows|entries)$/u.test(words)) {
    const match = phrase.take(
      new RegExp(
        `\\b(?:${bound})\\s+(${NUMBER})(?![\\d.]*\\s+(?:results?|items?|entries|rows?|hits))(?:\\s*(?:dollars?|euros?|usd|eur|%))?`,
        "iu",
      ),
    );
    if (match?.[1] !== undefined) return match[1];
  }
  if (
    /\b(?:limit|count|max results|num results|top k|page size|per page|n|size|number|amount|quantity|max items|top|num)\b/u.test(
      words,
    )
  ) {
    const match =
      phrase.take(
        new RegExp(
          `\\b(?:${isNewestFirst(tool) ? "last|latest|newest|most recent" : "top|first"}|up to|at most|only|limit(?:ed)? to)\\s+(${NUMBER})\\b`,
          "iu",
        ),
      ) ??
      phrase.take(
        new RegExp(
          `(?<![\\p{L}\\d.$])(${NUMBER})\\s+(?:results?|items?|entries|rows?|records?|hits|matches)\\b`,
          "iu",
        ),
      );
    if (match?.[1] !== undefined) return match[1];
  }
  return undefined;
}

/** Whether a tool gives the newest first, as a log does. */
function isNewestFirst({ name, description }: ToolDefinition): boolean {
  return /\b(?:logs?|history|recent|latest|newest)\b/iu.test(`${splitWords(name).join(" ")} ${description}`);
}

/** `tomorrow`, `the coming week`, of a tool that counts days from tomorrow on. */
function takeDays(phrase: Phrase, { words, schema }: Parameter): string | undefined {
  if (!words.includes("days") || !/\btomorrow\b/iu.test(schema.description ?? "")) return undefined;
  if (phrase.take(/\b(?:for\s+)?tomorrow\b(?:['’]s)?/iu) !== undefined) return "1";
  return phrase.take(/\b(?:for\s+|over\s+)?the\s+(?:next|coming|following)\s+week\b/iu) === undefined
    ? undefined
    : "7";
}

/** Takes `"yes"` for a flag that the text mentions, or `"no"` when it says without. */
export function takeFlag(phrase: Phrase, parameter: Parameter): boolean | undefined {
  const name = parameter.words
    .filter((word) => !/^(?:is|include|enable|use|with|should|allow)$/u.test(word))
    .map(escapePattern)
    .join("[\\s_-]*");
  if (name === "") return undefined;
  const assigned = phrase.take(
    new RegExp(
      `(?<![\\p{L}\\d])(?:is[\\s_]|include[\\s_]|enable[\\s_]|allow[\\s_])?${name}\\s*(?:=|:|is|to)\\s*(true|false|yes|no|on|off)\\b`,
      "iu",
    ),
  );
  if (assigned?.[1] !== undefined) return /true|yes|on/iu.test(assigned[1]);
  const match = phrase.take(
    new RegExp(
      `(?:\\b(without|no|not|don't|excluding|exclude)\\s+(?:an?\\s+|the\\s+|any\\s+)?)?(?<![\\p{L}\\d])${name}(?![\\p{L}\\d])`,
      "iu",
    ),
  );
  return match === undefined ? undefined : match[1] === undefined;
}
