/** The closing mark of each opening one. An apostrophe inside a word is none. */
const CLOSING: Readonly<Record<string, RegExp>> = {
  '"': /"/gu,
  "'": /'(?![\p{L}\p{N}])/gu,
  "`": /`/gu,
  "“": /”/gu,
  "‘": /’(?![\p{L}\p{N}])/gu,
  "«": /»/gu,
};
const FILLER = "·";
const WORD = /[\p{L}\p{N}]/u;

/**
 * Finds the quoted parts of a text, in UTF-16 units: from the opening mark to after the closing one, and the text between
 * them. Runs in linear time.
 */
export function findQuotes(text: string) {
  const quotes: { start: number; end: number; value: string }[] = [];
  const unclosed = new Set<string>();
  for (let index = 0; index < text.length; index += 1) {
    const mark = text.charAt(index);
    const closing = unclosed.has(mark) ? undefined : CLOSING[mark];
    if (closing === undefined || (mark !== '"' && WORD.test(text.charAt(index - 1)))) continue;
    closing.lastIndex = index + 1;
    const end = closing.exec(text)?.index;
    if (end === undefined) unclosed.add(mark);
    else {
      quotes.push({ start: index, end: end + 1, value: text.slice(index + 1, end) });
      index = end;
    }
  }
  return quotes;
}

/** Blanks out quoted parts and the inside of balanced (), [] and {}. Offsets in the outline are offsets in the text. */
export function outline(text: string): string {
  const quoted = findQuotes(text).map(({ start, end }) => ({ start: start + 1, end: end - 1 }));
  const quoteless = blank(text, quoted);
  return blank(quoteless, findBrackets(quoteless));
}

/** Collapses runs of spaces outside quotes to one space, and of three and more line breaks to two. */
export function collapseSpaces(text: string): string {
  const parts: string[] = [];
  let last = 0;
  const collapse = (part: string): string =>
    part.replaceAll(/[^\S\r\n\u2028\u2029]{2,}/gu, " ").replaceAll(/(?:\r?\n ?){3,}/gu, "\n\n");
  for (const quote of findQuotes(text)) {
    parts.push(collapse(text.slice(last, quote.start)), text.slice(quote.start, quote.end));
    last = quote.end;
  }
  parts.push(collapse(text.slice(last)));
  return parts.join("");
}

/** The ranges inside the outermost balanced brackets of a text whose quotes are blanked out. */
function findBrackets(quoteless: string): { start: number; end: number }[] {
  const open: { mark: string; at: number }[] = [];
  const ranges: { start: number; end: number }[] = [];
  for (let index = 0; index < quoteless.length; index += 1) {
    const mark = quoteless.charAt(index);
    if ("([{".includes(mark)) open.push({ mark, at: index });
    const opening = { ")": "(", "]": "[", "}": "{" }[mark];
    if (opening === undefined || open.at(-1)?.mark !== opening) continue;
    const start = (open.pop()?.at ?? index) + 1;
    while ((ranges.at(-1)?.start ?? -1) >= start) ranges.pop();
    ranges.push({ start, end: index });
  }
  return ranges;
}

function blank(text: string, ranges: readonly { start: number; end: number }[]): string {
  const parts: string[] = [];
  let last = 0;
  for (const { start, end } of ranges) {
    parts.push(text.slice(last, start), FILLER.repeat(Math.max(0, end - start)));
    last = end;
  }
  parts.push(text.slice(last));
  return parts.join("");
}
