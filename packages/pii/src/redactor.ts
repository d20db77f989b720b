import type { Redactor, RedactionScope } from "@cem/core";
import { createDetector } from "./detect.ts";
import type { DetectorSettings } from "./detect.ts";
import type { FlowRule } from "./flow-rules.ts";
import { visitTexts } from "./json-walk.ts";
import { RedactionSession } from "./session.ts";
import { createRedactionStream } from "./stream.ts";
import type { Recognizer } from "./types.ts";
import type { VaultData } from "./vault.ts";

/** Sessions beyond are forgotten, those first that were not used for longest. */
const DEFAULT_MAX_SESSIONS = 10_000;
const MIN_NAME_CHARACTERS = 3;

/** Keeps the values of sessions beyond the process. */
export interface VaultStore {
  load(session: string): VaultData | undefined;
  save(session: string, data: VaultData): Promise<void>;
  remove(session: string): Promise<void>;
}

/** Settings of {@link createRedactor}. */
export interface RedactorSettings extends DetectorSettings {
  /**
   * Whether code in the sandbox sees values, or tokens only.
   *
   * @defaultValue `values`
   */
  guest?: "values" | "tokens" | undefined;
  /** Between which tools values may go. Without rules, between all. */
  rules?: readonly FlowRule[] | undefined;
  /** Finds names and addresses. */
  recognizer?: Recognizer | undefined;
  /** Keeps values on disk. Default: in memory only. */
  store?: VaultStore | undefined;
  /** @defaultValue 10,000 */
  maxSessions?: number | undefined;
}

/** Creates a redactor with one vault for each session. */
export function createRedactor(settings: RedactorSettings = {}): Redactor {
  const { guest = "values", rules = [], recognizer, store, maxSessions = DEFAULT_MAX_SESSIONS } = settings;
  const detector = createDetector(settings);
  const sessions = new Map<string, RedactionSession>();
  /** The session that was used last: most are used many times in a row. */
  let latest: { name: string; opened: RedactionSession } | undefined;

  const open = ({ session = "" }: Pick<RedactionScope, "session">): RedactionSession => {
    if (latest?.name === session) return latest.opened;
    let found = sessions.get(session);
    if (found === undefined) found = new RedactionSession(detector, rules, store?.load(session));
    else sessions.delete(session);
    // The last one in the map is the one used last.
    sessions.set(session, found);
    if (sessions.size > maxSessions) sessions.delete(sessions.keys().next().value ?? "");
    latest = { name: session, opened: found };
    return found;
  };

  const redactor: Redactor = {
    specificationVersion: "v1",
    guest,
    tokenize: (data, scope) => open(scope).tokenize(data, scope),
    tokenizePart: (text, range, scope) => open(scope).tokenizePart(text, range),
    keep: (value, type, scope) => open(scope).keep(value, type, scope),
    observe: (data, scope) => open(scope).observe(data, scope),
    detokenize: (args, target) => open(target).detokenize(args, target),
    reveal: (code, scope) => (guest === "values" ? open(scope).reveal(code) : code),
    openStream: (scope) => createRedactionStream(open(scope)),
    async endSession(session = "") {
      sessions.delete(session);
      latest = undefined;
      await store?.remove(session);
    },
    async dispose() {
      const all = [...sessions];
      sessions.clear();
      latest = undefined;
      if (store === undefined) return;
      const filled = all.filter(([, { vault }]) => vault.size > 0);
      await Promise.all(filled.map(([name, { vault }]) => store.save(name, vault.toJSON())));
    },
  };
  if (store !== undefined) {
    redactor.persist = async (session = "") => {
      const opened = sessions.get(session);
      if (opened !== undefined && opened.vault.size > 0) await store.save(session, opened.vault.toJSON());
    };
  }
  if (recognizer === undefined) return redactor;
  return {
    ...redactor,
    async recognize(data, scope) {
      const texts = textsIn(data);
      const found = texts.length === 0 ? [] : await recognizer.recognize(texts);
      const session = open(scope);
      for (const [index, findings] of found.entries()) {
        for (const { start, end, type } of findings) {
          const value = texts[index]?.slice(start, end).trim() ?? "";
          if (value.length >= MIN_NAME_CHARACTERS) session.keep(value, type, scope);
        }
      }
    },
  };
}

function textsIn(data: unknown): string[] {
  const texts = new Set<string>();
  visitTexts(data, (text) => {
    if (/\p{Lu}|\p{Lo}/u.test(text)) texts.add(text);
  });
  return [...texts];
}
