import type { JsonValue, RedactionScope } from "@cem/core";
import type { PiiType } from "./context.ts";
import type { TextDetector } from "./detect.ts";
import { mapLeaves, mapLeavesInTurns, Turns, type LeafChanges } from "./json-walk.ts";
import {
  isLargeFile,
  MAX_FILES,
  mayBeSplit,
  mayHoldMore,
  createObservedResults,
} from "./observed-results.ts";
import { isEscapedInJson, membersOf, readString } from "./embedded-data.ts";
import { createRestorer, type RestorerSettings } from "./restorer.ts";
import { isSecretKey } from "./detectors/secret.ts";
import { streamInTurns } from "./stream.ts";
import { MIN_CODE, MIN_NUMBER, MIN_TEXT_CHARACTERS, PLAIN_WORD, createValueFinder } from "./value-finder.ts";
import type { FindingPlace, PlainTexts, ValueFinder } from "./value-finder.ts";
import { Vault, type ValueFinding, type VaultData, type VaultEntry } from "./vault.ts";

/** Maximum number and length of texts that are cached per key while data is processed. */
const MAX_REPEATED = 256;
const MAX_REPEATED_CHARACTERS = 64;
/** Where a string of JSON may begin. */
const MAX_BEFORE_PIECE = 4096;

const TOLD_BY_KEYS: ReadonlySet<string> = new Set(["SECRET", "BIRTH_DATE", "NATIONAL_ID"]);

interface SessionSettings extends Omit<RestorerSettings, "vault" | "finder"> {
  /** Finds only secrets. Absent if secrets are not detected. */
  secrets: TextDetector | undefined;
  /** A cache of texts without values, shared by sessions. */
  plain: PlainTexts;
  data: VaultData | undefined;
}

/** The values of one session: finds them, replaces them by tokens, and restores them. */
export class RedactionSession {
  readonly vault: Vault;
  readonly #finder: ValueFinder;
  /**
   * Counts values that were identified by a key or a word. They may also occur earlier in the data, which is then processed again.
   */
  #toldByKeys = 0;
  readonly #observed: ReturnType<typeof createObservedResults>;
  /** Replaces the session's tokens by values. */
  readonly restorer: ReturnType<typeof createRestorer>;
  readonly #hasRules: boolean;
  /**
   * Recent files with their tokens, since programs read the same ones repeatedly. Values that became known later have
   * already left with them.
   */
  readonly #files: { text: string; origin: string | undefined; shown: string }[] = [];

  /** See {@link TextDetector.findColumns}. */
  readonly findColumns: TextDetector["findColumns"];

  constructor(detector: TextDetector, settings: SessionSettings) {
    const vault = new Vault(settings.data, settings.origins);
    this.vault = vault;
    this.#hasRules = settings.rules.length > 0;
    const finder = createValueFinder(detector, vault, this.#hasRules, settings.plain);
    this.#finder = finder;
    this.findColumns = finder.findColumns;
    const { plain, secrets } = settings;
    const keep = this.#known.bind(this);
    this.#observed = createObservedResults({ finder, plain, secrets, keep });
    this.restorer = createRestorer({ ...settings, vault, finder });
  }

  tokenize<Data>(data: Data, scope: RedactionScope): Data {
    this.#observed.learnUnread(this.#observed.tooMany);
    const before = this.#toldByKeys;
    const changed = mapLeaves(data, this.#changes(placeOf(scope))) as Data;
    return this.#toldByKeys === before ? changed : (mapLeaves(data, this.#changes(placeOf(scope))) as Data);
  }

  /** Like `tokenize`, but yields to the event loop in between. Long texts are processed in pieces. */
  async tokenizeInTurns<Data>(data: Data, scope: RedactionScope): Promise<Data> {
    const turns = new Turns();
    await this.#observed.learnUnreadInTurns(turns, this.#observed.tooMany);
    const pass = { wantsUnread: false };
    const place = { ...placeOf(scope), pass };
    const longText = (text: string, key: string | undefined): Promise<string> =>
      this.#replaceLong(text, { ...place, key }, turns);
    const before = this.#toldByKeys;
    const changed = await mapLeavesInTurns(data, { ...this.#changes(place), longText }, turns);
    if (this.#toldByKeys > before) return this.tokenizeInTurns(data, scope);
    if (!pass.wantsUnread) return changed as Data;
    await this.#observed.learnUnreadInTurns(turns);
    return this.tokenizeInTurns(data, scope);
  }

  /**
   * Does the same for the text of a file; JSON is processed by its members.
   *
   * @param recognize - Recognizes names by a model first, if there is one.
   */
  async tokenizeFile(
    text: string,
    scope: RedactionScope,
    recognize: (data: unknown) => Promise<void>,
  ): Promise<string> {
    const origin = originOf(scope);
    const same = this.#files.find((one) => one.text === text && one.origin === origin);
    if (same !== undefined) return same.shown;
    const { data, write } = membersOf(text);
    await recognize(data);
    const shown = write(await this.tokenizeInTurns(data, scope));
    if (shown !== text && isLargeFile(text)) this.#files.push({ text, origin, shown });
    if (this.#files.length > MAX_FILES) this.#files.shift();
    return shown;
  }

  #changes(place: Place): LeafChanges {
    // One object is shared by all leaves, since there are many.
    const leaf: Place = { ...place };
    const unchangedNames = new Set<string>();
    /**
     * Unchanged short texts by key, since columns of records have few distinct ones. Values that became known later have
     * already left with them.
     */
    const unchanged = new Map<string | undefined, Set<string>>();
    const at = (key: string | undefined): Place => {
      leaf.key = key;
      return leaf;
    };
    return {
      text: (text, key) => {
        if (text.length > MAX_REPEATED_CHARACTERS) return this.#replaceIn(text, at(key));
        let same = unchanged.get(key);
        if (same === undefined) unchanged.set(key, (same = new Set()));
        if (same.has(text)) return text;
        const changed = this.#replaceIn(text, at(key));
        if (changed === text && same.size < MAX_REPEATED) same.add(text);
        return changed;
      },
      number: (value, key) => this.#replaceNumber(value, at(key)),
      name: (name) => {
        if (!unchangedNames.has(name)) {
          // No detector finds anything in a plain word.
          if (!PLAIN_WORD.test(name) || this.vault.known.find(name).length > 0)
            return this.#replaceIn(name, { ...place, isCut: undefined });
          unchangedNames.add(name);
        }
        return name;
      },
      cells: (cells) => (place.isOfCode === true ? undefined : this.#replaceSplit(cells, place)),
    };
  }

  tokenizePart(text: string, { start, end }: { start: number; end: number }): string {
    const found = this.findIn(text).filter((one) => one.end > start && one.start < end);
    const [first] = found;
    const from = first !== undefined && first.start < start ? first.end : start;
    const shown = found.filter((one) => one.start >= from);
    return this.replace(
      text.slice(from, Math.max(end, found.at(-1)?.end ?? 0)),
      shown.map((one) => ({ ...one, start: one.start - from, end: one.end - from })),
    );
  }

  observe(data: JsonValue, scope: RedactionScope): void {
    const observed = { data, origin: originOf(scope) };
    // Rules need to know where each value came from.
    if (this.#hasRules) this.#observed.learn(observed);
    else this.#observed.add(observed);
  }

  async observeInTurns(data: JsonValue, scope: RedactionScope): Promise<void> {
    await this.#observed.learnInTurns({ data, origin: originOf(scope) }, new Turns());
  }

  /** Stores a value of a known type, and returns its token. */
  keep(value: string | number, type: string, scope: RedactionScope): string {
    return this.vault.tokenOf(this.#known(value, type, originOf(scope)));
  }

  /** Values in a text, in order, and none within a token. */
  findIn(text: string, place: Omit<Partial<Place>, "origin"> = {}): ValueFinding[] {
    const found = this.#finder.find(text, place);
    if (place.isOfCode === true || !this.#observed.hasUnread || !mayHoldMore(text, found)) return found;
    return this.#learnUnread(place) ? this.#finder.find(text, place) : found;
  }

  /** The start of a known value that is truncated by the end of the text. */
  beginningIn(text: string): number | undefined {
    const last = this.vault.known.find(text, true).at(-1);
    return last?.end === text.length ? last.start : undefined;
  }

  /**
   * Processes deferred results. @returns whether they are known now; an asynchronous pass processes them later and is then
   * repeated.
   */
  #learnUnread({ pass }: Pick<Place, "pass">): boolean {
    if (pass === undefined) this.#observed.learnUnread();
    else pass.wantsUnread = true;
    return pass === undefined;
  }

  replace(text: string, found: readonly ValueFinding[], place: Partial<Place> = {}): string {
    // In a URI the token must be a valid part of it: brackets would end a host name.
    const form = place.key === "uri" || place.key === "uriTemplate" ? "email" : "plain";
    let result = "";
    let from = 0;
    for (const finding of found) {
      const entry = this.#entryOf(text, finding, place);
      result += text.slice(from, finding.start) + this.vault.tokenOf(entry, form);
      from = finding.end;
    }
    return result + text.slice(from);
  }

  /** The entry of a finding. A value similar to known ones inherits their origins. */
  #entryOf(text: string, finding: ValueFinding, { origin, isOfCode }: Partial<Place> = {}): VaultEntry {
    if (finding.entry !== undefined) return finding.entry;
    const value = text.slice(finding.start, finding.end);
    const before = this.vault.size;
    const entry =
      isOfCode === true ? this.vault.entryOfCode(value, finding.type) : this.#keptOf(value, finding, origin);
    const isNew = isOfCode === true ? entry.id === "" : this.vault.size > before;
    if (isNew && value.length < text.length && isEscapedInJson(value)) {
      const isForm = origin === undefined && finding.alike !== undefined;
      const line = text.slice(Math.max(0, finding.start - MAX_BEFORE_PIECE), finding.start);
      // A backslash in a line without quotes is the value's own.
      const isString = line.lastIndexOf('"') > line.lastIndexOf("\n") && readString(value) !== undefined;
      if (isForm || isString) entry.piece = isForm ? "form" : "string";
    }
    return entry;
  }

  #keptOf(value: string | number, finding: ValueFinding, origin: string | undefined): VaultEntry {
    const before = this.vault.size;
    const entry = this.#known(value, finding.type, origin, finding.alike);
    if (TOLD_BY_KEYS.has(finding.type) && this.vault.size > before) this.#toldByKeys += 1;
    return entry;
  }

  /**
   * Stores a value. It inherits the origins of known values that it contains, since it hides them from the check of outgoing data.
   */
  #known(
    value: string | number,
    type: PiiType,
    origin: string | undefined,
    like?: readonly VaultEntry[],
  ): VaultEntry {
    const text = String(value);
    const isNew = like === undefined && this.#hasRules && this.vault.whole(text) === undefined;
    const alike = isNew ? this.vault.known.find(text).flatMap((one) => one.alike) : like;
    return this.#joined(this.vault.entryOf(value, type, origin), alike);
  }

  #joined(entry: VaultEntry, alike: readonly VaultEntry[] = []): VaultEntry {
    for (const { origins } of alike)
      for (const origin of origins)
        this.vault.entryOf(entry.value, entry.type, origin, entry.isPart === true ? true : undefined);
    return entry;
  }

  /** Replaces the parts of values that are split over adjacent cells. */
  #replaceSplit(cells: readonly (string | number)[], place: Place): (string | number)[] | undefined {
    if (this.#observed.hasUnread && mayBeSplit(cells)) this.#learnUnread(place);
    const { known } = this.vault;
    if (!known.mayHold(cells)) return undefined;
    const text = cells.join("\n");
    const found = known.find(text).filter(({ start, end }) => text.slice(start, end).includes("\n"));
    if (found.length === 0) return undefined;
    let from = 0;
    return cells.map((cell) => {
      const start = from;
      const end = start + String(cell).length;
      from = end + 1;
      const parts = found
        .filter((one) => one.start < end && one.end > start)
        .map((one) => ({ ...one, start: Math.max(one.start, start), end: Math.min(one.end, end) }));
      if (parts.length === 0) return cell;
      let result = "";
      let at = start;
      for (const part of parts) {
        const value = typeof cell === "number" ? cell : text.slice(part.start, part.end);
        const entry = this.#joined(this.vault.entryOf(value, part.type, place.origin, true), part.alike);
        if (typeof cell === "number") return this.vault.numberOf(entry);
        result += text.slice(at, part.start) + this.vault.tokenOf(entry);
        at = part.end;
      }
      return result + text.slice(at, end);
    });
  }

  #replaceIn(text: string, place: Place): string {
    if (text.length < MIN_TEXT_CHARACTERS) return text;
    const found = this.findIn(text, place);
    return found.length === 0 ? text : this.replace(text, found, place);
  }

  async #replaceLong(text: string, place: Place, turns: Turns): Promise<string> {
    let isEnd = false;
    const changes = {
      findColumns: this.findColumns,
      findIn: (piece: string) => this.findIn(piece, { ...place, isCut: place.isCut === true && isEnd }),
      replace: (piece: string, found: readonly ValueFinding[]) =>
        this.replace(piece, found, { ...place, key: undefined }),
    };
    return streamInTurns(text, changes, turns, () => (isEnd = true));
  }

  #replaceNumber(value: number, place: Place): number {
    const isWhole = Number.isSafeInteger(value);
    const isCode = place.key !== undefined && isSecretKey(place.key);
    const isShort = isWhole && Math.abs(value) < MIN_NUMBER && !isCode;
    if (isShort && (value < MIN_CODE || place.isOfCode === true)) return value;
    if (isShort && this.vault.whole(String(value)) === undefined) return value;
    if (this.vault.entryByNumber(value) !== undefined) return value;
    const text = String(value);
    if (!isWhole && !this.vault.known.mayHold(text)) return value;
    // A negative number or a fraction is either a known value or no value.
    const isPlain = isWhole && value > 0;
    // Only a text may be a value as a whole without a key.
    const first = this.findIn(text, { ...place, key: place.key ?? "" }).find(({ start, end, alike, entry }) =>
      isPlain ? start === 0 && end === text.length : (alike ?? entry) !== undefined,
    );
    if (first === undefined) {
      if (place.isOfCode !== true) this.vault.noteNumber(value);
      return value;
    }
    const entry =
      place.isOfCode === true
        ? this.vault.entryOfCode(value, first.type)
        : this.#keptOf(value, first, place.origin);
    return this.vault.numberOf(entry);
  }
}

interface Place extends FindingPlace {
  origin: string | undefined;
  /** The asynchronous pass, and whether it met text that may occur in a deferred result. */
  pass?: { wantsUnread: boolean } | undefined;
}

function placeOf(scope: RedactionScope): Place {
  return { isCut: scope.isCut, isOfCode: scope.isOfCode, origin: originOf(scope) };
}

function originOf({ server, tool, isWritten }: RedactionScope): string | undefined {
  if (isWritten === true) return "";
  return server === undefined ? undefined : `${server}.${tool ?? "*"}`;
}
