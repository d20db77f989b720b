import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runInNewContext } from "node:vm";
import { check } from "recheck";
import type { SourcePattern } from "./collect.ts";

/** Digests of the patterns that were found linear, so that only new ones need to be checked. */
const FILE = path.join(import.meta.dirname, "checked.txt");
const DIGEST_CHARACTERS = 16;
const CHECK_TIMEOUT_MS = 100_000;
const CHECKS_AT_ONCE = 2;
/** Repetitions of an attack's pumps: a bounded pattern takes twice as long for twice as many, others four times. */
const ATTACK_CHARACTERS = [20_000, 40_000, 80_000];
const MEASUREMENTS = 5;
const MAX_ATTACK_MS = 400;
/** A match that takes longer is ended. */
const MAX_MEASURED_MS = 2_000;
const MAX_RATIO = 3.2;
/** Shorter times say nothing about how they grow. */
const MIN_MEASURED_MS = 100;

/** A pattern that takes more than linear time, and with what. */
export interface NotLinear extends SourcePattern {
  why: string;
}

/** The patterns that are not known to be linear yet. */
export function unchecked(patterns: readonly SourcePattern[]): SourcePattern[] {
  const known = new Set(readFileSync(FILE, "utf8").split("\n"));
  return patterns.filter((pattern) => !known.has(digestOf(pattern)));
}

export function writeChecked(patterns: readonly SourcePattern[]): void {
  writeFileSync(FILE, `${patterns.map(digestOf).toSorted().join("\n")}\n`);
}

/** Those of the patterns that are not linear. */
export async function findNotLinear(patterns: readonly SourcePattern[]): Promise<NotLinear[]> {
  const queue = [...patterns];
  const found: NotLinear[] = [];
  const work = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const why = await whyNotLinear(next);
      if (why !== undefined) found.push({ ...next, why });
    }
  };
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, work));
  return found;
}

async function whyNotLinear({ source, flags }: SourcePattern): Promise<string | undefined> {
  // A sticky pattern is tried at one place only, which the checker reads as an anchor.
  const read = flags.includes("y") ? `^(?:${source})` : source;
  const checked = await check(read, flags.replaceAll(/[yd]/gu, ""), { timeout: CHECK_TIMEOUT_MS });
  if (checked.status === "safe") return undefined;
  if (checked.status === "unknown") return `it can't be checked: ${JSON.stringify(checked.error)}`;
  const { attack, complexity } = checked;
  const times: number[] = [];
  for (const characters of ATTACK_CHARACTERS) {
    const time = timeOf(read, flags, attack, characters);
    times.push(time);
    // Longer texts take longer still.
    if (time >= MAX_ATTACK_MS) break;
  }
  // Where every repetition is bounded, time grows with the bound and then no more: what the checker takes for a power.
  const [half = 0, full = 0] = times.slice(-2);
  const isBounded =
    times.length === ATTACK_CHARACTERS.length &&
    full < MAX_ATTACK_MS &&
    (full < MIN_MEASURED_MS || full / half < MAX_RATIO);
  if (isBounded) return undefined;
  const shown = times.map(
    (time, index) => `${Math.round(time)} ms for ${ATTACK_CHARACTERS[index]} characters`,
  );
  return `${complexity.summary}: ${shown.join(", ")} of ${attack.pattern.slice(0, 200)}`;
}

interface Attack {
  pumps: readonly { prefix: string; pump: string }[];
  suffix: string;
}

/** The shortest of a few times, since a machine may be busy with something else. */
function timeOf(source: string, flags: string, attack: Attack, characters: number): number {
  let shortest = Infinity;
  for (let count = 0; count < MEASUREMENTS; count += 1) {
    shortest = Math.min(shortest, timeOnce(source, flags, attack, characters));
    // No repetition makes it short enough, or none has to.
    if (shortest >= MAX_MEASURED_MS || shortest < MIN_MEASURED_MS) break;
  }
  return shortest;
}

function timeOnce(source: string, flags: string, { pumps, suffix }: Attack, characters: number): number {
  const each = characters / Math.max(1, pumps.length);
  const parts = pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.ceil(each / pump.length)));
  const text = `${parts.join("")}${suffix}`;
  const pattern = new RegExp(source, flags.replaceAll(/[yg]/gu, ""));
  const all = new RegExp(source, flags.replaceAll("y", ""));
  const started = performance.now();
  try {
    const match = flags.includes("g") ? () => text.replaceAll(all, "") : () => pattern.test(text);
    runInNewContext("match()", { match }, { timeout: MAX_MEASURED_MS });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
  }
  return performance.now() - started;
}

function digestOf({ source, flags }: SourcePattern): string {
  return hash("sha256", `/${source}/${flags}`, "hex").slice(0, DIGEST_CHARACTERS);
}
