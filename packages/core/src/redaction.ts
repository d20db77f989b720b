import type { Elicit } from "./questions.ts";
import type { JsonValue } from "./json.ts";
import { CemError } from "./errors.ts";

/** Session and origin of the values to replace. */
export interface RedactionScope {
  /** The session whose vault holds the values. Absent: the session of runs that name none. */
  session?: string | undefined;
  /** The server that the data comes from. Absent for what a user or a program wrote. */
  server?: string | undefined;
  /** The tool that the data comes from. */
  tool?: string | undefined;
  /**
   * Whether a user or a program wrote the data: its author knows the values in it, wherever else they came from.
   *
   * @defaultValue false
   */
  isWritten?: boolean | undefined;
  /**
   * Whether code that sees tokens only wrote the data. Values that it writes in clear text get tokens of their own,
   * even if a tool returned the same value, so that guessing reveals nothing.
   *
   * @defaultValue false
   */
  isOfCode?: boolean | undefined;
  /** Whether texts are truncated, so that the beginning of a value at their end has to be replaced too. */
  isCut?: boolean | undefined;
  /**
   * Whether the session may have ended before its data arrived. It is not started again, since nobody would end it.
   *
   * @defaultValue false
   */
  isLate?: boolean | undefined;
}

/** The call that receives the values. */
export interface RedactionTarget {
  session?: string | undefined;
  server: string;
  tool: string;
  /** Whether the values stay in the session's workspace, to which no flow rule applies. */
  isKept?: boolean | undefined;
  /**
   * Whether to restore only values that came from the server itself. Other tokens stay, even invalid ones.
   *
   * @defaultValue false
   */
  ownOnly?: boolean | undefined;
  /** Asks the user whether a value may go there. Absent: it may not. */
  elicit?: Elicit | undefined;
  signal?: AbortSignal | undefined;
}

/** Replaces values in a streamed text. */
export interface RedactionStream {
  /** @returns the prefix that is safe to emit: no part of it can belong to a value. */
  push(text: string): string;
  /** @returns the rest of the text, held back so far. */
  end(): string;
}

/** Replaces personal data and secrets by tokens, and restores them for calls that may receive them. */
export interface Redactor {
  readonly specificationVersion: "v1";
  /** Whether code in the sandbox sees values, or tokens only. */
  readonly guest: "values" | "tokens";
  /**
   * Whether rules depend on the origin of values, so that everything that tools return has to be observed, including
   * stored files.
   *
   * @defaultValue false
   */
  readonly tracksOrigins?: boolean | undefined;
  /**
   * Copies data with tokens in place of values, including in base64-encoded texts. Data without values is returned
   * unchanged. Data is searched in its JSON form: the content of a `Map`, a `Set`, an `Error` and of bytes is not.
   */
  tokenize<Data>(data: Data, scope: RedactionScope): Data;
  /** Like `tokenize`, for data that may be large: yields the thread to others in between. Absent: use `tokenize`. */
  tokenizeInTurns?<Data>(data: Data, scope: RedactionScope): Promise<Data>;
  /** Like `tokenizeInTurns`, for the text of a file; searches JSON member by member. Absent: it is treated as any text. */
  tokenizeFile?(text: string, scope: RedactionScope): Promise<string>;
  /**
   * Replaces values in a part of a text, and recognizes them by the whole text. A value that begins before the part is
   * left out; one that ends beyond it is replaced as a whole.
   */
  tokenizePart(text: string, range: { start: number; end: number }, scope: RedactionScope): string;
  /** Lets a model find names and addresses in data, so that `tokenize` knows them. Absent without such a model. */
  recognize?(data: unknown, scope: RedactionScope): Promise<void>;
  /**
   * Stores a value that is known to be personal, even if no detector would find it.
   *
   * @param type - The kind of value: upper case, digits and underscores.
   * @returns its token: a text, even for a number.
   */
  keep(value: string | number, type: string, scope: RedactionScope): string;
  /** Records what a tool returned, so that values without a recognizable form are known when they leave. */
  observe(data: JsonValue, scope: RedactionScope): void;
  /** Like `observe`, for data that may be large: yields the thread to others in between. Absent: use `observe`. */
  observeInTurns?(data: JsonValue, scope: RedactionScope): Promise<void>;
  /**
   * Replaces tokens by values in the arguments of a call.
   *
   * @throws CemError `TOKEN_UNKNOWN` for a token of another session or of none, `FLOW_DENIED` where a rule keeps a value
   *   from going there.
   */
  detokenize(args: JsonValue, target: RedactionTarget): Promise<JsonValue>;
  /** Replaces tokens by values in code, where code in the sandbox sees values. */
  reveal(code: string, scope: RedactionScope): string;
  openStream(scope: RedactionScope): RedactionStream;
  /**
   * Reads the persisted values of a session, which other machines write too. Called before each of its runs.
   *
   * @throws CemError `STORE_UNAVAILABLE`
   */
  restore?(session: string | undefined): Promise<void>;
  /** Persists the values of a session. Absent where they are not persisted. */
  persist?(session: string | undefined): Promise<void>;
  /** Forgets the values of a session. */
  endSession(session: string | undefined): Promise<void>;
  /** Forgets the origins of values, for all sessions of the session's workspace. Absent where sessions share nothing. */
  forgetWorkspace?(session: string | undefined): void;
  /** Forgets the values of all sessions, after writing those that are kept on disk. */
  dispose(): Promise<void>;
}

/** Returns an error as the caller may see it: with tokens in place of values. One without values is returned unchanged. */
export async function withoutValues(
  error: unknown,
  redactor: Redactor,
  scope: RedactionScope,
): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  const { message } = error;
  const code = CemError.isInstance(error) ? error.code : "UNEXPECTED";
  const details = CemError.isInstance(error) ? error.details : {};
  const shown = await tokenizeInTurns(redactor, { message, details }, scope);
  // An unchanged error keeps its cause and its class.
  if (shown.message === message && shown.details === details) return error;
  return new CemError(code, shown.message, { details: shown.details });
}

/** Replaces values by tokens, after a model recognized names, if there is one. Yields in between if the redactor can. */
export async function tokenizeInTurns<Data>(
  redactor: Redactor,
  data: Data,
  scope: RedactionScope,
): Promise<Data> {
  await redactor.recognize?.(data, scope);
  return redactor.tokenizeInTurns?.(data, scope) ?? redactor.tokenize(data, scope);
}
