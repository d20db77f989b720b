import { isSecretKey, SECRET_STEMS } from "./detectors/secret.ts";
import { traitsOf } from "./traits.ts";
import { isSmall, mapLeaves, mapLeavesInTurns, visitTexts } from "./json-walk.ts";
import type { LeafChanges, Turns } from "./json-walk.ts";
import { membersOf } from "./embedded-data.ts";
import { readingsOf } from "./readings.ts";
import { streamInTurns } from "./stream.ts";
import type { Detector, Finding, PiiType } from "./context.ts";
import { MAX_DECODED, MIN_NUMBER, MIN_TEXT_CHARACTERS, PLAIN_WORD } from "./value-finder.ts";
import type { PlainTexts, ValueFinder } from "./value-finder.ts";

/** Total size of large results that are searched only for secrets until outgoing data may contain other values. In characters. */
const MAX_UNREAD = 64 * 1024 * 1024;
/** Maximum number of processed files that are remembered. */
export const MAX_FILES = 2;
const MAX_FILE_CHARACTERS = 4 * 1024 * 1024;
/** The assumed size of a result that was returned to code inline. */
const INLINE_CHARACTERS = 1024 * 1024;
/** Results up to this size are searched for all values immediately. */
const MAX_LEAVES_READ = 1_024;
const MAX_CHARACTERS_READ = 256 * 1024;
/** In longer texts, words around a value may identify it. */
const LONG_TEXT_CHARACTERS = 64;
/** Fewer digits are of no interest to any detector. */
const MIN_HELD_CHARACTERS = 7;
const MANY_DIGITS = /(?<!\d)(?!\d{4}-\d\d-\d\d)\d(?:\D{0,3}\d){6}/;
const MOMENTS = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g;
/** Cells that may be parts of a split value: the end of an email address, or a single letter. */
const SPLIT_CELL = /^@?[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}$|^[^\s\d]$/;
const SPLIT_NUMBER = /^[\d\s()+.-]+$/;
const MIN_SPLIT_DIGITS = 6;

/** A result of a tool. */
interface Observed {
  data: unknown;
  origin: string | undefined;
}

/** The parts used to search results. */
interface Looking {
  finder: Pick<ValueFinder, "detected" | "findColumns">;
  plain: PlainTexts;
  /** Finds only secrets. Absent if secrets are not detected. */
  secrets: Detector | undefined;
  keep: (value: string | number, type: PiiType, origin: string | undefined) => void;
}

/** Collects tool results whose values must be recognized in outgoing data. */
export function createObservedResults({ finder, plain, secrets, keep }: Looking) {
  const unread: Observed[] = [];
  /** Recently processed files, since programs read the same ones repeatedly. */
  const read: Observed[] = [];

  function keepAll(text: string, found: readonly Finding[], origin: string | undefined): void {
    for (const { start, end, type } of found) keep(text.slice(start, end), type, origin);
  }

  /** Keeps the values in a text, including decoded ones. */
  function note(text: string, key: string | undefined, origin: string | undefined, depth = 0): string {
    if (text.length < MIN_TEXT_CHARACTERS || plain.has(text, key)) return text;
    const traits = traitsOf(text);
    const found = finder.detected(text, key, traits);
    keepAll(text, found, origin);
    const readings = depth < MAX_DECODED ? readingsOf(text, traits) : [];
    for (const reading of readings) note(reading.text, key, origin, depth + 1);
    if (found.length + readings.length === 0 && depth < MAX_DECODED) plain.add(text, key);
    return text;
  }

  function changes(origin: string | undefined): LeafChanges {
    return {
      text: (text, key) => note(text, key, origin),
      number: (value, key) => {
        const isCode = key !== undefined && isSecretKey(key);
        if ((value < MIN_NUMBER && !isCode) || !Number.isSafeInteger(value)) return value;
        const text = String(value);
        const [first] = finder.detected(text, key);
        if (first?.start === 0 && first.end === text.length) keep(value, first.type, origin);
        return value;
      },
      name: (name) => (PLAIN_WORD.test(name) ? name : note(name, undefined, origin)),
    };
  }

  /** Keeps the secrets that are only recognizable by context, which may be missing in outgoing data. */
  function noteSecrets({ data, origin }: Observed): void {
    if (secrets === undefined) return;
    const look = (text: string, key: string | undefined): void => {
      if (text.length < LONG_TEXT_CHARACTERS && !(key !== undefined && isSecretKey(key))) return;
      if (!plain.has(text, key)) keepAll(text, secrets.find(text, key), origin);
    };
    if (typeof data !== "string") visitTexts(data, look);
    else if (SECRET_STEMS.test(data)) visitTexts(membersOf(data).data, look);
  }

  /** Keeps all values that are found in data, without giving them tokens. */
  function learn(observed: Observed): void {
    mapLeaves(dataOf(observed), changes(observed.origin));
  }

  /** The same, yielding to the event loop in between. Long texts are processed in pieces. */
  async function learnInTurns(observed: Observed, turns: Turns): Promise<void> {
    const { data, origin } = observed;
    if (read.some((one) => one.data === data && one.origin === origin)) return;
    const longText = (text: string, key: string | undefined): Promise<string> => {
      const session = {
        findColumns: finder.findColumns,
        findIn: (piece: string) => (note(piece, key, origin), []),
        replace: (piece: string, found: readonly Finding[]) => (keepAll(piece, found, origin), ""),
      };
      return streamInTurns(text, session, turns);
    };
    await mapLeavesInTurns(dataOf(observed), { ...changes(origin), longText }, turns);
    if (typeof data === "string" && isLargeFile(data)) read.push(observed);
    if (read.length > MAX_FILES) read.shift();
  }

  return {
    learn,
    learnInTurns,
    /** Whether there are large results that were searched only for secrets. */
    get hasUnread(): boolean {
      return unread.length > 0;
    },
    /** Keeps the values of a result. Of a large one, keeps the secrets, and other values once outgoing data may contain them. */
    add(observed: Observed): void {
      const { data, origin } = observed;
      if (isSmall(data, MAX_LEAVES_READ, MAX_CHARACTERS_READ)) return learn(observed);
      // An identical result of a repeated call.
      if (unread.some((one) => one.data === data && one.origin === origin)) return;
      noteSecrets(observed);
      unread.push(observed);
    },
    /** The number of oldest results beyond the limit. */
    get tooMany(): number {
      let characters = 0;
      for (let at = unread.length; at > 0; at -= 1) {
        const data = unread[at - 1]?.data;
        characters += typeof data === "string" ? data.length : INLINE_CHARACTERS;
        if (characters > MAX_UNREAD) return at;
      }
      return 0;
    },
    /** Processes the oldest deferred results, or all of them. */
    learnUnread(count = unread.length): void {
      for (const one of unread.splice(0, count)) learn(one);
    },
    async learnUnreadInTurns(turns: Turns, count = unread.length): Promise<void> {
      for (const one of unread.slice(0, count)) {
        await learnInTurns(one, turns);
        // It stays listed until its values are known, so that concurrent callers process it themselves.
        const at = unread.indexOf(one);
        if (at !== -1) unread.splice(at, 1);
      }
    },
  };
}

/** Whether a file takes long to process, but is not too large to be remembered. */
export function isLargeFile({ length }: string): boolean {
  return length > MAX_CHARACTERS_READ && length <= MAX_FILE_CHARACTERS;
}

function dataOf({ data }: Observed): unknown {
  return typeof data === "string" ? membersOf(data).data : data;
}

/** Whether adjacent cells may be parts of a value. */
export function mayBeSplit(cells: readonly (string | number)[]): boolean {
  let digits = 0;
  for (const cell of cells) {
    // A fraction, such as a measured time, is not part of a number.
    const text = typeof cell === "number" && !Number.isInteger(cell) ? "" : String(cell);
    if ((text.length === 1 || text.includes(".")) && SPLIT_CELL.test(text)) return true;
    digits = text.length < MIN_HELD_CHARACTERS && SPLIT_NUMBER.test(text) ? digits + text.length : 0;
    if (digits > text.length && digits > MIN_SPLIT_DIGITS) return true;
  }
  return false;
}

/** Whether the rest of a text may contain a value in another form. */
export function mayHoldMore(text: string, found: readonly Pick<Finding, "start" | "end">[]): boolean {
  const [first] = found;
  if (first?.start === 0 && first.end === text.length) return false;
  if (text.length < MIN_HELD_CHARACTERS || !MANY_DIGITS.test(text)) return false;
  let rest = "";
  let from = 0;
  for (const { start, end } of found) {
    rest += `${text.slice(from, start)}    `;
    from = end;
  }
  return MANY_DIGITS.test((rest + text.slice(from)).replace(MOMENTS, "    "));
}
