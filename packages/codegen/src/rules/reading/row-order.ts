import { lookUp } from "./look-up.ts";
import type { Phrase } from "./phrase.ts";
import { FIELD, type RowSelection, toField } from "./row-selection.ts";

export function readSort(phrase: Phrase, selection: RowSelection): void {
  const match = phrase.take(
    new RegExp(
      `(?:\\b(?:and|then)\\s+)?\\b(?:sort(?:ed)?|order(?:ed)?|rank(?:ed)?|arranged?)(?:\\s+(?:them|it|these|those|the\\s+\\p{L}+|\\p{L}+s))?\\s+by\\s+(?:the\\s+|their\\s+)?(${FIELD})(?:\\s*,?\\s*(?:in\\s+)?\\(?(asc|ascending|desc|descending)(?:ending)?(?:\\s+order)?\\)?|\\s*,?\\s*((?:highest|largest|biggest|newest|latest|most)\\s+first|(?:lowest|smallest|oldest|cheapest|earliest|least)\\s+first|from\\s+(?:high(?:est)? to low(?:est)?|low(?:est)? to high(?:est)?)))?`,
      "iu",
    ),
  );
  if (match?.[1] !== undefined) {
    const words = match[1].replace(/\s+(?:asc|desc)\w*$/iu, "");
    const hint = `${match[2] ?? ""} ${match[3] ?? ""}`;
    selection.sort = {
      field: toField(words),
      isDescending: /desc|highest first|largest|biggest|newest|latest|most|from high/iu.test(hint),
    };
    return;
  }
  const bare = phrase.take(/\bin\s+(ascending|descending)\s+order\b/iu)?.[1];
  if (bare !== undefined && selection.sort !== undefined) selection.sort.isDescending = /^desc/iu.test(bare);
}

const SUPERLATIVES: Readonly<Record<string, { field: string; isDescending: boolean }>> = {
  cheapest: { field: "price", isDescending: false },
  priciest: { field: "price", isDescending: true },
  costliest: { field: "price", isDescending: true },
  oldest: { field: "age", isDescending: true },
  youngest: { field: "age", isDescending: false },
  newest: { field: "created_at", isDescending: true },
  latest: { field: "created_at", isDescending: true },
  "most recent": { field: "created_at", isDescending: true },
  "most expensive": { field: "price", isDescending: true },
  "least expensive": { field: "price", isDescending: false },
  warmest: { field: "temperature", isDescending: true },
  hottest: { field: "temperature", isDescending: true },
  coldest: { field: "temperature", isDescending: false },
  tallest: { field: "height", isDescending: true },
  heaviest: { field: "weight", isDescending: true },
};

const COUNT_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/** `3`, `three`. */
export const COUNT = `(?:\\d{1,9}|${COUNT_WORDS.join("|")})`;

function toCount(text: string): number {
  const at = COUNT_WORDS.indexOf(text.toLowerCase());
  return at < 0 ? Number(text) : at + 2;
}

export function readLimit(phrase: Phrase, selection: RowSelection): void {
  const words = Object.keys(SUPERLATIVES).join("|");
  const superlative = phrase.take(
    new RegExp(`\\b(?:the\\s+)?(?:(\\d{1,9})\\s+)?(${words})(?:\\s+(\\d{1,9}))?\\b(?!\\s+first)`, "iu"),
  );
  if (superlative?.[2] !== undefined) {
    const count = Number(superlative[1] ?? superlative[3] ?? 1);
    const isSingle =
      superlative[1] === undefined &&
      superlative[3] === undefined &&
      !new RegExp("^\\s*\\uE002?\\s*\\p{L}+s\\b", "u").test(phrase.text.slice(superlative.index));
    const order = lookUp(SUPERLATIVES, superlative[2].toLowerCase());
    if (order !== undefined) selection.sort = { ...order };
    selection.limit = { count, fromEnd: false, isSingle: isSingle && count === 1 };
    return;
  }
  const extreme = phrase.take(
    new RegExp(
      `\\bwith\\s+the\\s+(highest|largest|biggest|greatest|most|lowest|smallest|least|fewest)\\s+(${FIELD})`,
      "iu",
    ),
  );
  if (extreme?.[1] !== undefined && extreme[2] !== undefined) {
    selection.sort = {
      field: toField(extreme[2]),
      isDescending: !/^(?:low|small|least|few)/iu.test(extreme[1]),
    };
    selection.limit = { count: 1, fromEnd: false, isSingle: true };
  }
  const match = phrase.take(
    new RegExp(
      `(?:\\b(?:take|keep|show|get|only|limit(?:ed)?(?:\\s+(?:it|them))?(?:\\s+to)?|return|pick|select|give me)\\s+)*(?:only\\s+)?(?:the\\s+)?\\b(top|first|last|bottom|at most|up to|limit(?:ed)? to|limit)\\s+(${COUNT})\\b(?:\\s+(?:rows?|results?|entries|items?|records?|ones?|of them|by\\s+(?=\\uE002)))?`,
      "iu",
    ),
  );
  if (match?.[1] !== undefined && selection.limit === undefined) {
    const isTop = /^(?:top|bottom)$/iu.test(match[1]);
    selection.limit = {
      count: toCount(match[2] ?? ""),
      fromEnd: /^last$/iu.test(match[1]),
      isSingle: false,
      isTop,
    };
    const by = isTop
      ? phrase.take(new RegExp(`\\bby\\s+(?:the\\s+|their\\s+)?(${FIELD})`, "iu"))?.[1]
      : undefined;
    if (by !== undefined) selection.sort = { field: toField(by), isDescending: /^top$/iu.test(match[1]) };
  }
}
