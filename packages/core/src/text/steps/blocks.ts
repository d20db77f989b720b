import { SMALL_TALK } from "../vocabulary.ts";
import { isStopWord, splitWords } from "../words.ts";
import { outline } from "./outline.ts";
import { beginsStep } from "./verbs.ts";

/** A `key: value` pair below a step, both as written. */
export interface StepField {
  key: string;
  value: string;
}

/** A list item or a run of prose, with the fields and items listed below it. */
export interface TextBlock {
  text: string;
  fields: StepField[];
  items: string[];
}

interface Line {
  marker: "number" | "bullet" | undefined;
  text: string;
}

const NUMBERED = /^\s*(?:step\s+\d{1,3}\s*[:.)]|\(\d{1,3}\)|\d{1,3}[.)](?=\s))\s*/iu;
const BULLET = /^\s*[-*•–+]\s+(?:\[[ x]\]\s+)?/u;
const FIELD = /^["'`]?([\p{L}_][\p{L}\p{N}_.-]*(?: [\p{L}\p{N}_.-]+){0,2})["'`]?\s*[:=]\s*(\S.*)$/su;

export function readBlocks(task: string): TextBlock[] {
  const blocks: TextBlock[] = [];
  for (const line of readLines(task)) addLine(blocks, line);
  return blocks.filter((block, index) => !isHeading(block, blocks[index + 1]));
}

function addLine(blocks: TextBlock[], line: Line): void {
  const last = blocks.at(-1);
  const field = line.marker === "number" ? undefined : readField(line.text);
  const announced =
    last !== undefined && (last.text.endsWith(":") || last.fields.length > 0 || last.items.length > 0);
  if (field !== undefined && last !== undefined && (announced || line.marker === "bullet")) {
    last.fields.push(field);
    return;
  }
  if (line.marker === "bullet" && announced && last.fields.length === 0 && !beginsStep(line.text)) {
    last.items.push(line.text.replace(/[;,.]$/u, ""));
    return;
  }
  // JSON below `Save this to x.json:` belongs to it.
  if (line.marker === undefined && last?.text.endsWith(":") === true && /^[{[]/u.test(line.text)) {
    last.text += ` ${line.text}`;
    return;
  }
  const wraps =
    line.marker === undefined &&
    last !== undefined &&
    last.fields.length === 0 &&
    last.items.length === 0 &&
    !/[.:;!?]$/u.test(last.text) &&
    /^[\p{Ll}\d(]/u.test(line.text) &&
    !beginsStep(line.text);
  if (wraps) last.text += ` ${line.text}`;
  else blocks.push({ text: line.text, fields: [], items: [] });
}

/** Whether a block is a heading above a list of steps, such as "Do the following:", and not a step itself. */
function isHeading(block: TextBlock, next: TextBlock | undefined): boolean {
  if (next === undefined || !block.text.endsWith(":") || block.fields.length > 0 || block.items.length > 0)
    return false;
  return splitWords(block.text).every(
    (word) => HEADING_WORDS.has(word) || isStopWord(word) || SMALL_TALK.has(word),
  );
}

/** Words of a heading that only announces steps. */
const HEADING_WORDS = new Set(
  `do perform follow complete continue initialize initialise start begin run execute carry set create build work finish finalize
  workflow workflows task tasks step steps following plan session process procedure calculation previous below order sequence
  instruction instructions these three two`.split(/\s+/),
);

function readField(text: string): StepField | undefined {
  const match = FIELD.exec(text);
  const key = match?.[1];
  const value = match?.[2];
  if (key === undefined || value === undefined || value.startsWith("//")) return undefined;
  if (beginsStep(text) && key.includes(" ")) return undefined;
  return { key, value: value.replace(/[;,]$/u, "").trim() };
}

function readLines(task: string): Line[] {
  const mask = outline(task);
  const cuts = new Set<number>();
  for (const match of mask.matchAll(/\r?\n|\r|\u2028|\u2029/gu)) cuts.add(match.index);
  for (const at of inlineBullets(task, mask)) cuts.add(at);
  for (const at of inlineNumbers(mask)) cuts.add(at);
  const lines: Line[] = [];
  let start = 0;
  for (const end of [...cuts].toSorted((a, b) => a - b).concat(task.length)) {
    const line = readLine(task.slice(start, end));
    if (line !== undefined) lines.push(line);
    start = end;
  }
  return lines.flatMap((line) => splitTrailingSentences(line));
}

function readLine(raw: string): Line | undefined {
  const trimmed = raw.trim();
  if (trimmed === "" || /^[-=*_#]{3,}$/u.test(trimmed)) return undefined;
  const numbered = NUMBERED.exec(trimmed)?.[0];
  const bullet = BULLET.exec(trimmed)?.[0];
  const marker = numbered !== undefined ? "number" : bullet !== undefined ? "bullet" : undefined;
  const text = trimmed
    .slice((numbered ?? bullet ?? "").length)
    .replace(/^#{1,6}\s+/u, "")
    .trim();
  return text === "" ? undefined : { marker, text };
}

/** Positions of bullets inside a line: `… contain: - result: 8 - step: 1`. */
function inlineBullets(task: string, mask: string): number[] {
  const bullets = mask.matchAll(/ (?=[-•] ["'`]?[\p{L}_·][\p{L}\p{N}_ .·-]{0,60}["'`]?\s?[:=]\s)/gu);
  const hasColon = /:\s/u.test(mask);
  return Array.from(bullets, ({ index }) => index).filter(
    (at) => hasColon || !/\d\s*$/u.test(task.slice(Math.max(0, at - 3), at)),
  );
}

/** Positions of numbered items inside a line: `1. Read … 2. Print …`. Only when the numbers count up from 1. */
function inlineNumbers(mask: string): number[] {
  const found: number[] = [];
  let expected = 1;
  for (const match of mask.matchAll(
    /(?:^|(?<=[\s:]))(?:\((\d{1,3})\)|(\d{1,3})[.)])\s+(?=["'`(/]?\p{L})/gu,
  )) {
    if (Number(match[1] ?? match[2]) !== expected) continue;
    const before = mask.slice(Math.max(0, match.index - 4), match.index).trimEnd();
    if (expected === 1 && before !== "" && !/[:.;!?]$/u.test(before)) continue;
    found.push(match.index);
    expected += 1;
  }
  return found.length > 1 ? found : [];
}

/** Splits a sentence off the last field of an inline list: `- message: "saved" Also verify …`. */
function splitTrailingSentences(line: Line): Line[] {
  if (line.marker !== "bullet" || readField(line.text) === undefined) return [line];
  const mask = outline(line.text);
  const cut = /(?<=["'`}\]]|\d|\w\.)[.,]?\s+(?=\p{Lu}[\p{Ll}]+\s)/u.exec(mask);
  if (cut === null) return [line];
  const rest = line.text.slice(cut.index).replace(/^[.,]?\s+/u, "");
  if (!beginsStep(rest)) return [line];
  return [
    { ...line, text: line.text.slice(0, cut.index) },
    { marker: undefined, text: rest },
  ];
}
