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
   * Whether a user or a program wrote the data: who wrote a value knows it, wherever else it came from.
   *
   * @defaultValue false
   */
  isWritten?: boolean | undefined;
  /**
   * Whether code that sees tokens only wrote the data. What it writes in clear is its own, even where a tool returned the same:
   * it has a token of its own, so that guesses tell nothing.
   *
   * @defaultValue false
   */
  isOfCode?: boolean | undefined;
  /** Whether texts are cut at their ends, so that the beginning of a value is to be replaced too. */
  isCut?: boolean | undefined;
  /**
   * Whether the session may have ended before its data came here. It is not begun anew: nobody would end it.
   *
   * @defaultValue false
   */
  isLate?: boolean | undefined;
}

/** The call that values are to go to. */
export interface RedactionTarget {
  session?: string | undefined;
  server: string;
  tool: string;
  /** Whether the values stay in the workspace of the session, of which no rule says anything. */
  isKept?: boolean | undefined;
  /**
   * Puts in only values that came from the server itself. Other tokens stay, also those that stand for nothing.
   *
   * @defaultValue false
   */
  ownOnly?: boolean | undefined;
  /** Asks the user whether a value may go there. Without one, no answer is a no. */
  elicit?: Elicit | undefined;
  signal?: AbortSignal | undefined;
}

/** Replaces values in a text that comes in pieces. */
export interface RedactionStream {
  /** @returns the prefix that is safe to emit: no part of it can belong to a value. */
  push(text: string): string;
  /** @returns the rest of the text, which was held back. */
  end(): string;
}

/** Replaces personal data and secrets by tokens, and turns them back for the calls that may have them. */
export interface Redactor {
  readonly specificationVersion: "v1";
  /** Whether code in the sandbox sees values, or tokens only. */
  readonly guest: "values" | "tokens";
  /**
   * Whether rules depend on where values came from, so that all of what tools return is to be observed, kept files too.
   *
   * @defaultValue false
   */
  readonly tracksOrigins?: boolean | undefined;
  /**
   * Copies data with tokens in place of values, in texts that it holds as base64 too. What holds no value is returned as it is.
   * Data is looked through in its JSON form, so that a `Map`, a `Set`, an `Error` and bytes are not.
   */
  tokenize<Data>(data: Data, scope: RedactionScope): Data;
  /**
   * Does what `tokenize` does with data that may be large, and lets others have the thread in between. Absent: `tokenize`
   * does it at once.
   */
  tokenizeInTurns?<Data>(data: Data, scope: RedactionScope): Promise<Data>;
  /** Does what `tokenizeInTurns` does with the text of a file, and looks at JSON by its members. Absent: it is a text as any. */
  tokenizeFile?(text: string, scope: RedactionScope): Promise<string>;
  /**
   * Replaces values in a part of a text, known by the whole of it. A value that begins before the part is left out, one that
   * ends beyond it is replaced whole.
   */
  tokenizePart(text: string, range: { start: number; end: number }, scope: RedactionScope): string;
  /** Has a model find names and addresses in data, so that `tokenize` knows them. Absent without such a model. */
  recognize?(data: unknown, scope: RedactionScope): Promise<void>;
  /**
   * Keeps a value that is known to be personal, also where no detector would find it.
   *
   * @param type - The kind of value: upper case, digits and underscores.
   * @returns its token, which is a text also for a number.
   */
  keep(value: string | number, type: string, scope: RedactionScope): string;
  /** Takes note of what a tool returned, so that values without a form of their own are known when they leave. */
  observe(data: JsonValue, scope: RedactionScope): void;
  /** Looks data through that may be large, and lets others have the thread in between. Absent: `observe` does it at once. */
  observeInTurns?(data: JsonValue, scope: RedactionScope): Promise<void>;
  /**
   * Puts values in the place of tokens in the arguments of a call.
   *
   * @throws CemError `TOKEN_UNKNOWN` for a token of another session or of none, `FLOW_DENIED` where a rule keeps a value
   *   from going there.
   */
  detokenize(args: JsonValue, target: RedactionTarget): Promise<JsonValue>;
  /** Puts values in the place of tokens in code, where code in the sandbox sees values. */
  reveal(code: string, scope: RedactionScope): string;
  openStream(scope: RedactionScope): RedactionStream;
  /**
   * Reads what is kept of a session beyond the process, where other machines write too. Called before each run of it.
   *
   * @throws CemError `STORE_UNAVAILABLE`
   */
  restore?(session: string | undefined): Promise<void>;
  /** Writes the values of a session to where they are kept beyond the process. Absent where they are not. */
  persist?(session: string | undefined): Promise<void>;
  /** Forgets the values of a session. */
  endSession(session: string | undefined): Promise<void>;
  /** Forgets where values came from, for all sessions of the workspace that a session is of. Absent where they share nothing. */
  forgetWorkspace?(session: string | undefined): void;
  /** Forgets the values of all sessions, after what is kept on disk was written. */
  dispose(): Promise<void>;
}

/** An error as whoever asked may read it: with tokens in place of values. One that holds none stays as it is. */
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

/**
 * Puts tokens in place of values, once a model has recognized names where there is one, and with turns of the event loop for
 * others where the redactor can do so.
 */
export async function tokenizeInTurns<Data>(
  redactor: Redactor,
  data: Data,
  scope: RedactionScope,
): Promise<Data> {
  await redactor.recognize?.(data, scope);
  return redactor.tokenizeInTurns?.(data, scope) ?? redactor.tokenize(data, scope);
}
