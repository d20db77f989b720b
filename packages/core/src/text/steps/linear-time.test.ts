import { describe, expect, it } from "vitest";
import { splitWords } from "../words.ts";
import { splitSteps } from "./split-steps.ts";

const PIECES = [
  ".",
  " ",
  "\t",
  "\n",
  ",",
  ", ",
  ";",
  "!",
  "?",
  "(",
  ")",
  "[",
  "{",
  "<",
  '"',
  "'",
  "`",
  "“",
  "天気予報",
  "漢",
  "🌦️",
  "e\u0301\u0308",
  "\u0301",
  "a",
  "A",
  "aB",
  "1",
  "1.",
  "1,",
  "a-",
  "a_",
  "/",
  "a.",
  "a@",
  "#",
  "1+",
  "=",
  "and then ",
  " please",
  "SELECT ",
  "if a then b else c ",
  "in X ",
  "New York ",
  '{"a":1},',
  "a: b\n",
  "- a\n",
  "it's ",
  "\u00A0",
  "step 1: ",
  ",\t",
];
const CHARACTERS = 15_000;
const TIMES_LONGER = 4;
/** Linear text takes 4 times as long where it is 4 times as long; quadratic text 16 times. */
const MAX_RATIO = 10;
/** A shorter time is quick, however it grows; quadratic texts of this length take seconds. */
const QUICK_MS = 250;

const MICROSECONDS_PER_MS = 1_000;

/** Milliseconds of the processor: those of a clock depend on what else the machine does. */
function timeOf(work: (text: string) => unknown, text: string): number {
  const before = process.threadCpuUsage();
  work(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / MICROSECONDS_PER_MS;
}

describe.each([
  ["splitSteps", (text: string) => splitSteps(text)],
  ["splitWords", (text: string) => splitWords(text)],
])("%s", (_, work) => {
  it.each(PIECES)("reads text of %j in linear time", (piece) => {
    const short = piece.repeat(CHARACTERS / piece.length);
    const long = short.repeat(TIMES_LONGER);
    // A cold cache slows down one measurement or the other: the shortest of several tell.
    let [shortMs, longMs] = [Infinity, Infinity];
    for (let attempt = 0; attempt < 5; attempt++) {
      longMs = Math.min(longMs, timeOf(work, long));
      if (longMs < QUICK_MS) return;
      shortMs = Math.min(shortMs, timeOf(work, short));
      if (longMs < shortMs * MAX_RATIO) return;
    }
    expect(longMs / shortMs).toBeLessThan(MAX_RATIO);
  });
});
