import { findQuotes } from "@cem/text";
import { PATH } from "../arguments/take-by-role.ts";
import { lookUp } from "../reading/look-up.ts";

/** Every file that a text names. */
export function pathsIn(text: string): string[] {
  const bare = [...text.matchAll(new RegExp(PATH.source, "gu"))]
    .map((match) => match[0])
    .filter((path) => /\.[a-z]\w{0,4}$/iu.test(path));
  const first = findPath(text);
  return [...new Set(bare.length > 1 ? bare : first === undefined ? [] : [first])];
}

/** The first file that a text names. */
export function findPath(text: string): string | undefined {
  const quotes = findQuotes(text);
  const outside = quotes.reduce(
    (rest, quote) => rest.slice(0, quote.start) + " ".repeat(quote.end - quote.start) + rest.slice(quote.end),
    text,
  );
  for (const match of outside.matchAll(new RegExp(PATH.source, "gu")))
    if (/^[./~]|\.[a-z]\w{0,4}$/iu.test(match[0])) return match[0];
  return quotes.find((quote) => /^[^\s]+\.[a-z][a-z0-9]{0,4}$/iu.test(quote.value))?.value;
}

const ENDINGS: Readonly<Record<string, string>> = {
  csv: "csv",
  markdown: "md",
  md: "md",
  log: "log",
  html: "html",
  xml: "xml",
  yaml: "yaml",
};

/** `a test file` is test.txt. */
export function derivePath(text: string): string | undefined {
  const match =
    /\b(?:an?|the|new|another)\s+(?:new\s+|simple\s+|small\s+)?(?:(\p{L}[\p{L}\p{N}_-]*)\s+)?(?:(text|txt|csv|markdown|md|log|html|xml|yaml)\s+)?file\b/iu.exec(
      text,
    );
  const named = /\bfile\s+(?:named|called)\s+["'`]?([\p{L}\p{N}_.-]+)/iu.exec(text)?.[1];
  if (match === null && named === undefined) return undefined;
  const kind = (match?.[2] ?? match?.[1] ?? "").toLowerCase();
  const ending = lookUp(ENDINGS, kind) ?? "txt";
  const stem =
    named ??
    (/^(?:text|txt|new|csv|markdown|md|html|xml|yaml)$/iu.test(match?.[1] ?? "text")
      ? "file"
      : match?.[1]?.toLowerCase());
  return stem?.includes(".") === true ? stem : `${stem ?? "file"}.${ending}`;
}
