import { assertKnownOptions, CemError, type Redactor, type RedactionScope } from "@cem/core";
import { createDetector, DETECTOR_OPTIONS, type DetectorSettings } from "./detect.ts";
import type { FindNameInCode, FlowRule } from "./restorer.ts";
import { visitTexts } from "./json-walk.ts";
import { RedactionSession } from "./session.ts";
import { createRedactionStream } from "./stream.ts";
import type { Recognizer } from "./context.ts";
import { PlainTexts, RESULT_KEY } from "./value-finder.ts";
import { Vault, type VaultData } from "./vault.ts";

/** Maximum number of sessions. The least recently used one is forgotten first. */
const MAX_SESSIONS = 10_000;
const MIN_NAME_CHARACTERS = 3;
/** Maximum number of values in a workspace's index, after which the next session starts a new one. */
const MAX_VALUES = 1_000_000;

/** Persists the values of sessions. */
export interface VaultStore {
  load(session: string): VaultData | undefined;
  save(session: string, data: VaultData): Promise<void>;
  remove(session: string): Promise<void>;
}

/** Persists the values of sessions for all machines. */
export interface SharedVaults {
  load(session: string): Promise<VaultData | undefined>;
  /**
   * Merges data into the stored values of a session.
   *
   * @returns all stored values of the session.
   */
  save(session: string, data: VaultData): Promise<VaultData>;
}

/** Settings of {@link createRedactor}. */
export interface RedactorSettings extends DetectorSettings {
  /**
   * Whether code in the sandbox sees values or only tokens.
   *
   * @defaultValue `values`
   */
  guest?: "values" | "tokens" | undefined;
  /** The tools between which values may flow. Without rules, all. */
  rules?: readonly FlowRule[] | undefined;
  /** Finds the names of tools in code, which rules may use in addition to those of their servers. */
  findNameInCode?: FindNameInCode | undefined;
  /**
   * Returns the workspace of a session, used with rules. Sessions of one workspace read each other's files, so the origins
   * of values that a session does not know are taken from the others, for the life of the process.
   *
   * @defaultValue each session has its own workspace
   */
  workspaceOf?: ((session: string) => string) | undefined;
  /** Finds names and addresses. */
  recognizer?: Recognizer | undefined;
  /** Persists values on disk. Default: in memory only. */
  store?: VaultStore | undefined;
  /** Persists values for all machines, instead of `store`. Ending a session only forgets them on this machine. */
  shared?: SharedVaults | undefined;
}

const OBJECTS = { recognizer: "an object", store: "an object", shared: "an object" } as const;
const FUNCTIONS = { findNameInCode: "a function", workspaceOf: "a function" } as const;
const OTHERS = { ...OBJECTS, ...FUNCTIONS, guest: ["values", "tokens"], rules: "a list" } as const;
const OF_RULES = { from: "a string", to: "a string", action: ["allow", "deny", "ask"] } as const;

/** Creates a redactor with one vault for each session. */
export function createRedactor(settings: RedactorSettings = {}): Redactor {
  assertKnownOptions(settings, { ...DETECTOR_OPTIONS, ...OTHERS }, "createRedactor");
  const { guest = "values", rules = [], recognizer, store, shared, types, regions, custom } = settings;
  const { workspaceOf } = settings;
  for (const rule of rules) assertKnownOptions(rule, OF_RULES, "a rule of createRedactor");
  /** Origins of values, by workspace. */
  const indexes = new Map<string, Vault>();

  const originsOf = (session: string): Vault | undefined => {
    if (rules.length === 0 || workspaceOf === undefined) return undefined;
    const workspace = workspaceOf(session);
    let index = indexes.get(workspace);
    if (index === undefined || index.size >= MAX_VALUES) indexes.set(workspace, (index = new Vault()));
    return index;
  };
  const detector = createDetector({ types, regions, custom });
  const secrets =
    types === undefined || types.includes("SECRET") ? createDetector({ types: ["SECRET"] }) : undefined;
  const plain = new PlainTexts();
  const sessions = new Map<string, RedactionSession>();

  const open = ({ session = "", isLate }: Pick<RedactionScope, "session" | "isLate">): RedactionSession => {
    let found = sessions.get(session);
    found ??= new RedactionSession(detector, {
      rules,
      findNameInCode: settings.findNameInCode,
      seesTokens: guest === "tokens",
      secrets,
      plain,
      data: store?.load(session),
      origins: originsOf(session),
    });
    // Values recognized by a model must be known for the next text.
    if (isLate === true && recognizer === undefined && !sessions.has(session)) return found;
    // Moves it to the end of the map as the most recently used.
    sessions.delete(session);
    sessions.set(session, found);
    if (sessions.size > MAX_SESSIONS) sessions.delete(sessions.keys().next().value ?? "");
    return found;
  };

  /** The number of persisted changes of each session. */
  const saved = new WeakMap<RedactionSession, number>();

  async function restore(session = ""): Promise<void> {
    const kept = await shared?.load(session);
    if (kept !== undefined) open({ session }).vault.merge(kept);
  }

  async function save(session: string, opened: RedactionSession): Promise<void> {
    const { vault } = opened;
    const { changes } = vault;
    if (changes === (saved.get(opened) ?? 0)) return;
    if (shared !== undefined) vault.merge(await shared.save(session, vault.toJSON()));
    else await store?.save(session, vault.toJSON());
    saved.set(opened, changes);
  }

  const redactor: Redactor = {
    specificationVersion: "v1",
    guest,
    tracksOrigins: rules.length > 0,
    tokenize: (data, scope) => open(scope).tokenize(data, scope),
    tokenizeInTurns: (data, scope) => open(scope).tokenizeInTurns(data, scope),
    tokenizeFile: (text, scope) =>
      open(scope).tokenizeFile(text, scope, async (data) => redactor.recognize?.(data, scope)),
    tokenizePart: (text, range, scope) => open(scope).tokenizePart(text, range),
    keep: (value, type, scope) => open(scope).keep(value, type, scope),
    observe: (data, scope) => open(scope).observe(data, scope),
    observeInTurns: (data, scope) => open(scope).observeInTurns(data, scope),
    detokenize: async (args, target) => {
      try {
        return await open(target).restorer.restore(args, target);
      } catch (error) {
        if (shared === undefined || !CemError.isInstance(error) || error.code !== "TOKEN_UNKNOWN")
          throw error;
        // Another machine may have just created the token.
        await restore(target.session);
        return open(target).restorer.restore(args, target);
      }
    },
    reveal: (code, scope) => open(scope).restorer.reveal(code),
    openStream({ isOfCode, ...scope }) {
      const session = open(scope);
      return createRedactionStream({
        findIn: (text) => session.findIn(text, { isOfCode, key: RESULT_KEY }),
        beginningIn: (text) => (isOfCode === true ? undefined : session.beginningIn(text)),
        findColumns: session.findColumns,
        replace: (text, found) => session.replace(text, found, { isOfCode }),
      });
    },
    async endSession(session = "") {
      sessions.delete(session);
      await store?.remove(session);
    },
    forgetWorkspace: (session = "") => void indexes.delete(workspaceOf?.(session) ?? ""),
    async dispose() {
      indexes.clear();
      const all = [...sessions];
      sessions.clear();
      await Promise.all(all.map(([name, opened]) => save(name, opened)));
    },
  };
  if (shared !== undefined) redactor.restore = restore;
  if ((shared ?? store) !== undefined) {
    redactor.persist = async (session = "") => {
      const opened = sessions.get(session);
      if (opened !== undefined) await save(session, opened);
    };
  }
  if (recognizer !== undefined) {
    redactor.recognize = async (data, scope) => {
      const capitalized = new Set<string>();
      visitTexts(data, (text) => {
        if (/\p{Lu}|\p{Lo}/u.test(text)) capitalized.add(text);
      });
      const texts = [...capitalized];
      const found = texts.length === 0 ? [] : await recognizer.recognize(texts);
      const session = open(scope);
      for (const [index, findings] of found.entries()) {
        for (const { start, end, type } of findings) {
          const value = texts[index]?.slice(start, end).trim() ?? "";
          if (value.length >= MIN_NAME_CHARACTERS) session.keep(value, type, scope);
        }
      }
    };
  }
  return redactor;
}
