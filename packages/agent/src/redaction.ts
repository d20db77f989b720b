import { setImmediate as nextTurn } from "node:timers/promises";
import { tokenizeInTurns, withoutValues } from "@cem/core";
import type {
  AgentEvent,
  ExecuteOptions,
  RedactionScope,
  RedactionStream,
  Redactor,
  TaskResult,
} from "@cem/core";
import { sessionOf } from "./session-context.ts";
import type { Stages } from "./stages.ts";

/** A text that is longer is looked through in pieces, with turns for others in between. */
const LONG_CHARACTERS = 4_096;

/**
 * Executes a request so that no personal data and no secret leaves with its events, its result or its error.
 */
export async function redacted(
  { redactor: lazy }: Stages,
  given: ExecuteOptions,
  carryOut: (options: ExecuteOptions) => Promise<TaskResult>,
): Promise<TaskResult> {
  const redactor = await lazy?.get();
  if (redactor === undefined) return carryOut(given);
  // The calls of a single run are of no session. What they returned is to be known when it leaves.
  const options = { ...given, session: sessionOf(given) };
  await redactor.restore?.(options.session);
  const scope: RedactionScope = { session: options.session, isOfCode: redactor.guest === "tokens" };
  const events = new RedactedEvents(redactor, scope, options.onEvent);
  try {
    const raw = await carryOut({ ...options, onEvent: (event) => events.emit(event) });
    // Counts of our own hold no value, and look like the parts of one.
    const { output: printed, contextTokens, ...rest } = raw;
    const ofOutput = { ...scope, isCut: raw.outputDroppedBytes > 0 };
    const first = await tokenizeInTurns(redactor, printed, ofOutput);
    const shown = await tokenizeInTurns(redactor, rest, scope);
    // A key in the value may have told what a secret in the output is.
    const output = shown === rest ? first : await tokenizeInTurns(redactor, printed, ofOutput);
    const result = { ...shown, contextTokens, output };
    await events.finish(result);
    return result;
  } catch (error) {
    await events.passed();
    throw await withoutValues(error, redactor, scope);
  } finally {
    await redactor.persist?.(options.session);
  }
}

/** A task as it may stand in a file. */
export async function redactedTask(
  { redactor: lazy }: Stages,
  task: string,
  options: ExecuteOptions,
): Promise<string> {
  const redactor = await lazy?.get();
  if (redactor === undefined) return task;
  return tokenizeInTurns(redactor, task, { session: sessionOf(options) });
}

/** Passes a request's events on in their order, with tokens in place of values. */
class RedactedEvents {
  readonly #redactor: Redactor;
  readonly #scope: RedactionScope;
  readonly #onEvent: ExecuteOptions["onEvent"];
  readonly #streams = new Map<"stdout" | "stderr", RedactionStream>();
  #queue: Promise<void> = Promise.resolve();

  constructor(redactor: Redactor, scope: RedactionScope, onEvent: ExecuteOptions["onEvent"]) {
    this.#redactor = redactor;
    this.#scope = scope;
    this.#onEvent = onEvent;
  }

  emit(event: AgentEvent): void {
    // The result is reported once its values are replaced.
    if (this.#onEvent === undefined || event.type === "finished") return;
    this.#queue = this.#queue.then(() => this.#pass(event));
    this.#queue.catch(() => {});
  }

  /** Resolves once the events so far were passed on, or one could not be. */
  passed(): Promise<void> {
    return this.#queue.catch(() => {});
  }

  async finish(result: TaskResult): Promise<void> {
    if (this.#onEvent === undefined) return;
    await this.#queue;
    this.#endStreams();
    this.#onEvent({ type: "finished", result });
  }

  async #pass(event: AgentEvent): Promise<void> {
    if (event.type === "output") return this.#passOutput(event.chunk);
    if (event.type === "ran") this.#endStreams();
    // Progress of a tool is not text of the code: it may hold a value in another form.
    const { session } = this.#scope;
    const scope =
      event.type === "tool-progressed" ? { session, server: event.server, tool: event.tool } : this.#scope;
    this.#onEvent?.(await tokenizeInTurns(this.#redactor, event, scope));
  }

  async #passOutput({ stream, text }: { stream: "stdout" | "stderr"; text: string }): Promise<void> {
    await this.#redactor.recognize?.(text, this.#scope);
    let pieces = this.#streams.get(stream);
    if (pieces === undefined) this.#streams.set(stream, (pieces = this.#redactor.openStream(this.#scope)));
    for (let from = 0; from < text.length; from += LONG_CHARACTERS) {
      if (from > 0) await nextTurn();
      this.#emitOutput(stream, pieces.push(text.slice(from, from + LONG_CHARACTERS)));
    }
  }

  #endStreams(): void {
    for (const [stream, pieces] of this.#streams) this.#emitOutput(stream, pieces.end());
    this.#streams.clear();
  }

  #emitOutput(stream: "stdout" | "stderr", text: string): void {
    if (text !== "") this.#onEvent?.({ type: "output", chunk: { stream, text } });
  }
}
