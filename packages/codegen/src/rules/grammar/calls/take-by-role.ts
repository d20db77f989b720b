import { lookUp } from "../../language/look-up.ts";
import { QUOTED, NUMBER, type Phrase } from "./phrase.ts";
import { findDates } from "./dates.ts";

import { splitList } from "./lists.ts";
import type { Parameter } from "./parameters.ts";

/** One value, or several when the text lists them. */
export type Found = { value: string | number } | { list: string[] } | undefined;

const EMAIL = /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/u;
const URL = /https?:\/\/[^\s,;"'<>\uE000-\uE002]*[^\s,;"'<>.!?)\uE000-\uE002]/u;
export const PATH =
  /(?<![\p{L}\p{N}@:/._-])(?:(?:\.{1,2}|~)?\/[\p{L}\p{N}_.@+-]+(?:\/[\p{L}\p{N}_.@+-]+)*\/?|[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_.-]+)+|[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.[A-Za-z][A-Za-z0-9]{0,4})(?![\p{L}\p{N}@])/u;
const SLUG = /(?<![\p{L}\p{N}/._@-])([A-Za-z0-9][\w.-]{0,99})\/([A-Za-z0-9][\w.-]{0,99})(?![\w/])/u;
const PRONOUN =
  /^(?:it|that|this|them|these|those|there|here|me|us|the|a|an|each|every|all|each of them|that many.*|both|each city|all cities)$/iu;

/** Looks for what a role's values look like, or for the words that lead to them. */
export function takeByRole(phrase: Phrase, parameter: Parameter, now: Date): Found {
  const direction = directionOf(parameter);
  switch (parameter.role) {
    case "currency":
      return takeCurrency(phrase, direction);
    case "email":
    case "recipient":
      return takeRecipient(phrase, parameter);
    case "url":
      return single(phrase.take(URL)?.[0] ?? quotedLike(phrase, /^[a-z]+:\/\//iu));
    case "path":
      return takePath(phrase, parameter);
    case "date":
      return takeDate(phrase, parameter, now);
    case "place":
      return takeAfter(phrase, direction ?? "for|in|at|of|near|around|from|to", true);
    case "channel":
      return takeChannel(phrase);
    case "table":
      return takeTable(phrase);
    case "language":
      return takeAfter(phrase, direction ?? "to|into|in", false);
    case "identifier":
      return takeIdentifier(phrase);
    case "message":
    case "title":
      return single(takeQuotedWhole(phrase));
    case "query":
      return takeQuery(phrase);
    default:
      return direction === undefined ? undefined : takeAfter(phrase, direction, false);
  }
}

/** The prepositions that lead to a parameter such as `from_city` or `target_language`. */
function directionOf(parameter: Parameter): string | undefined {
  const words = parameter.words.join(" ");
  if (/\b(?:from|source|origin|departure)\b/u.test(words)) return "from";
  return /\b(?:to|target|destination|arrival)\b/u.test(words) ? "to|into|in" : undefined;
}

const CURRENCIES: Readonly<Record<string, string>> = {
  euro: "EUR",
  dollar: "USD",
  pound: "GBP",
  yen: "JPY",
  franc: "CHF",
};

function takeCurrency(phrase: Phrase, direction: string | undefined): Found {
  const CODE = "([A-Z]{3}|euros?|dollars?|pounds?|yen|francs?)";
  const led =
    direction === undefined ? undefined : phrase.take(new RegExp(`\\b(?:${direction})\\s+${CODE}\\b`, "u"));
  const found = (led ?? phrase.take(new RegExp(`(?<!\\b(?:to|into|in)\\s)\\b${CODE}\\b`, "u")))?.[1];
  return single(found === undefined ? undefined : (lookUp(CURRENCIES, found.replace(/s$/u, "")) ?? found));
}

/** Takes `owner/repository`. */
export function takeSlug(phrase: Phrase): { owner: string; repository: string; whole: string } | undefined {
  const match = phrase.take(SLUG);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const repository = match[2].replace(/\.$/u, "");
  return { owner: match[1], repository, whole: `${match[1]}/${repository}` };
}

function single(value: string | undefined): Found {
  return value === undefined ? undefined : { value };
}

function takeQuotedWhole(phrase: Phrase): string | undefined {
  const token = phrase.take(new RegExp(QUOTED, "u"))?.[0];
  return token === undefined ? undefined : phrase.quoted(token);
}

function quotedLike(phrase: Phrase, pattern: RegExp): string | undefined {
  for (const match of phrase.text.matchAll(new RegExp(QUOTED, "gu"))) {
    const value = phrase.quoted(match[0]);
    if (value === undefined || !pattern.test(value)) continue;
    phrase.remove(match.index, match[0].length);
    return value;
  }
  return undefined;
}

function takeRecipient(phrase: Phrase, parameter: Parameter): Found {
  const emails: string[] = [];
  for (let match = phrase.take(EMAIL); match !== undefined && emails.length < 100; match = phrase.take(EMAIL))
    emails.push(match[0]);
  if (emails.length > 0) return emails.length === 1 ? { value: emails[0] ?? "" } : { list: emails };
  if (parameter.role === "email") return single(quotedLike(phrase, /@/u));
  const handle = phrase.take(/(?<![\p{L}\p{N}])@([\p{L}\p{N}_-][\p{L}\p{N}_.-]{0,60})/u)?.[1];
  if (handle !== undefined) return { value: handle };
  const isPerson = !/^(?:to|cc|bcc)$/u.test(parameter.name);
  return takeAfter(phrase, isPerson ? "to|for|by|of|with" : "to", false);
}

function takePath(phrase: Phrase, { words }: Parameter): Found {
  // A folder has no ending: `add a.txt in /repo`.
  const wantsFolder = words.some((word) =>
    /^(?:repo|repository|directory|folder|dir|root|cwd|workspace)$/u.test(word),
  );
  const folderPath = wantsFolder
    ? phrase.take(
        new RegExp(
          `(?:\\b(?:in|of|at|from|under|to)\\s+)?(${PATH.source})(?<!\\.[A-Za-z][A-Za-z0-9]{0,4})`,
          "u",
        ),
      )
    : undefined;
  if (folderPath?.[1] !== undefined) return { value: folderPath[1] };
  const quoted = quotedLike(phrase, /^[^\s./]*[./][^\n]*$/u);
  const path = quoted ?? phrase.take(PATH)?.[0] ?? phrase.take(/(?<=\s)\.{1,2}(?=\s|$)/u)?.[0];
  if (path !== undefined) return { value: path };
  const folder = phrase.take(
    /\b(?:the\s+)?(?!(?:this|that|the|current|working|workspace|main|root|same|my|our|whole|a|an|any|each|every|all|or|and|in|of|and)\b)([\p{L}\p{N}_-]{1,80})\s+(?:folder|directory)\b|\b(?:folder|directory)\s+(?:called\s+|named\s+)?(?!(?:this|that|the|in|of|and|on|at|is|are|contents?|listing|for|with|to)\b)([\p{L}\p{N}_-]{1,80})/iu,
  );
  return single(folder?.[1] ?? folder?.[2]);
}

function takeDate(phrase: Phrase, parameter: Parameter, now: Date): Found {
  const [first] = findDates(phrase.text, parameter.schema, now);
  if (first !== undefined) {
    phrase.remove(first.start, first.end - first.start);
    return { value: first.value };
  }
  const clock = phrase.take(/\b(?:at\s+)?(\d{1,2}:\d{2}(?:\s*[ap]m)?)\b/iu)?.[1];
  return /\btime\b/u.test(parameter.words.join(" ")) ? single(clock) : undefined;
}

function takeChannel(phrase: Phrase): Found {
  const hash = phrase.take(/(?<![\p{L}\p{N}])#[\p{L}\p{N}][\p{L}\p{N}_-]{0,79}/u)?.[0];
  if (hash !== undefined) return { value: hash };
  const named = phrase.take(
    /\b(?:to|in|on|into)\s+(?:the\s+)?([\p{L}\p{N}_-]{1,80})\s+(?:channel|room)\b/iu,
  )?.[1];
  return single(named);
}

function takeTable(phrase: Phrase): Found {
  const before = phrase.take(
    /\b(?:the|of|in|from|for)\s{1,9}(?:the\s{1,9})?([\p{L}_][\p{L}\p{N}_]{0,60}(?:(?:\s{0,9},\s{0,9}|\s{1,9}and\s{1,9})(?:the\s{1,9})?[\p{L}_][\p{L}\p{N}_]{0,60}){0,20})\s{1,9}tables?\b/iu,
  )?.[1];
  const named = before ?? phrase.take(/\btable\s+(?:named\s+|called\s+)?([\p{L}_][\p{L}\p{N}_]*)/iu)?.[1];
  const described =
    named ??
    phrase.take(
      /\b(?:describe|of|for|from|in)\s+(?:the\s+)?(?!the\b|tables?\b|schema|database|structure|columns)([\p{L}_][\p{L}\p{N}_]*)/iu,
    )?.[1];
  if (described === undefined || /^(?:all|each|every|both|which|what|any)$/iu.test(described))
    return undefined;
  const list = splitList(described, phrase).map((part) => part.replace(/^the\s+/iu, ""));
  return list.length > 1 ? { list } : { value: list[0] ?? described };
}

function takeIdentifier(phrase: Phrase): Found {
  const quoted = takeQuotedWhole(phrase);
  if (quoted !== undefined) return { value: quoted };
  const symbols: string[] = [];
  const SYMBOL =
    /(?<![\p{L}\p{N}_.])(?!(?:I|A)(?![A-Z0-9]))(?=[A-Z0-9-]{0,40}[A-Z0-9])[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}])[\p{L}]+[-_]?\d[\p{L}\p{N}_-]*/u;
  for (
    let match = phrase.take(SYMBOL);
    match !== undefined && symbols.length < 100;
    match = phrase.take(SYMBOL)
  )
    symbols.push(match[0]);
  if (symbols.length > 0) return symbols.length === 1 ? { value: symbols[0] ?? "" } : { list: symbols };
  const number = phrase.take(
    new RegExp(`(?:#|\\b(?:no\\.?|number|id)\\s*)?(?<![\\p{L}\\d.])(${NUMBER})(?![\\p{L}\\d])`, "u"),
  )?.[1];
  return single(number);
}

function takeQuery(phrase: Phrase): Found {
  const quoted = takeQuotedWhole(phrase);
  if (quoted !== undefined) return { value: quoted };
  const after = phrase.take(
    new RegExp(
      `\\b(?:for|about|on|regarding|matching|containing)\\s+(?:the\\s+(?:term|word|phrase|keyword)s?\\s+)?([^\\uE000-\\uE002]{1,300}?)(?=\\s+(?:in|on|from|using|with|limit|at most|up to|under|below|over|above|sorted|by)\\b|\\s*\\uE002|\\s*[,;]|$)`,
      "iu",
    ),
  )?.[1];
  return single(after?.trim());
}

/** Takes the words behind a preposition: a place, a person, a language. */
function takeAfter(phrase: Phrase, prepositions: string, isPlace: boolean): Found {
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${prepositions})\\s+(?:the\\s+(?:city|cities|town|location|place|places)\\s+(?:of\\s+)?|(?:each\\s+of\\s+)?(?:the\\s+|these\\s+|those\\s+)?(?:following\\s+)?\\p{Ll}+\\s*:\\s+|the\\s+following(?:\\s+\\w+)?:?\\s*|each\\s+of\\s+|cities\\s+|both\\s+|:\\s*)?((?:${QUOTED}|[^\\s;:?!\\uE001\\uE002])[^;:?!\\uE002]{0,2000}?)(?=(?<!\\b(?:and|or))\\s+(?:for|in|on|at|with|from|to|by|using|over|during|until|till|since|before|after|between|not|but|except|without|twice|every|daily|per|please|next|tomorrow|today|tonight|now|right now|this|starting|as|via|of|if|when|and then)\\b|\\s*[;?!\\uE002]|\\s*:\\s|\\.(?:\\s|$)|$)`,
    "giu",
  );
  for (const match of phrase.text.matchAll(pattern)) {
    const words = (match[1] ?? "").trim().replace(/(?<![,.])[,.]+$/u, "");
    if (
      words === "" ||
      PRONOUN.test(words) ||
      /^(?:\d+|that many|each|every|all|these|those|there|here|the (?:next|last|first|result|same|sum|other|rest))\b/iu.test(
        words,
      )
    )
      continue;
    phrase.remove(match.index, match[0].length);
    const list = splitList(words, phrase, isPlace);
    const cleaned = list.map((part) => part.replace(/^the\s+(?=\p{Ll})/u, ""));
    if (cleaned.length > 1) return { list: cleaned };
    return { value: cleaned[0] ?? phrase.decode(words) };
  }
  return undefined;
}
