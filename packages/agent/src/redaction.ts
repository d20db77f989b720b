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
    await redactor.recognize?.(raw, scope);
    // Counts of our own hold no value, and look like the parts of one.
    const { output: printed, contextTokens, ...rest } = raw;
    const output = await tokenizeInTurns(redactor, printed, { ...scope, isCut: raw.outputDroppedBytes > 0 });
    const result = { ...(await tokenizeInTurns(redactor, rest, scope)), contextTokens, output };
    await events.finish(result);
    return result;
  } catch (error) {
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
  const session = sessionOf(options);
  await redactor.recognize?.(task, { session });
  return tokenizeInTurns(redactor, task, { session });
}

/** Whether an event holds a text that takes long to look through. */
function isLong(event: AgentEvent): boolean {
  const text = event.type === "output" ? event.chunk.text : event.type === "generated" ? event.code : "";
  return text.length > LONG_CHARACTERS;
}

/** Passes a request's events on in their order, with tokens in place of values. */
class RedactedEvents {
  readonly #redactor: Redactor;
  readonly #scope: RedactionScope;
  readonly #onEvent: ExecuteOptions["onEvent"];
  readonly #streams = new Map<"stdout" | "stderr", RedactionStream>();
  /** Events that a model looks through first, large events, and those behind them. */
  #queue: Promise<void> = Promise.resolve();
  #queued = 0;

  constructor(redactor: Redactor, scope: RedactionScope, onEvent: ExecuteOptions["onEvent"]) {
    this.#redactor = redactor;
    this.#scope = scope;
    this.#onEvent = onEvent;
  }

  emit(event: AgentEvent): void {
    // The result is reported once its values are replaced.
    if (this.#onEvent === undefined || event.type === "finished") return;
    const isQuick = this.#queued === 0 && this.#redactor.recognize === undefined && !isLong(event);
    if (isQuick) return this.#pass(event);
    this.#queued += 1;
    this.#queue = this.#queue
      .then(() => this.#redactor.recognize?.(event, this.#scope))
      .then(() => this.#passInTurns(event))
      .finally(() => (this.#queued -= 1));
    this.#queue.catch(() => {});
  }

  async finish(result: TaskResult): Promise<void> {
    if (this.#onEvent === undefined) return;
    await this.#queue;
    this.#endStreams();
    this.#onEvent({ type: "finished", result });
  }

  #pass(event: AgentEvent): void {
    if (event.type === "output") return this.#passOutput(event.chunk.stream, event.chunk.text);
    if (event.type === "ran") this.#endStreams();
    // Progress of a tool is not text of the code: it may hold a value in another form.
    const { session } = this.#scope;
    const scope =
      event.type === "tool-progressed" ? { session, server: event.server, tool: event.tool } : this.#scope;
    this.#onEvent?.(this.#redactor.tokenize(event, scope));
  }

  async #passInTurns(event: AgentEvent): Promise<void> {
    if (!isLong(event)) return this.#pass(event);
    if (event.type !== "output")
      return this.#onEvent?.(await tokenizeInTurns(this.#redactor, event, this.#scope));
    const { stream, text } = event.chunk;
    for (let from = 0; from < text.length; from += LONG_CHARACTERS) {
      this.#passOutput(stream, text.slice(from, from + LONG_CHARACTERS));
      await nextTurn();
    }
  }

  #passOutput(stream: "stdout" | "stderr", text: string): void {
    let pieces = this.#streams.get(stream);
    if (pieces === undefined) this.#streams.set(stream, (pieces = this.#redactor.openStream(this.#scope)));
    this.#emitOutput(stream, pieces.push(text));
  }

  #endStreams(): void {
    for (const [stream, pieces] of this.#streams) this.#emitOutput(stream, pieces.end());
    this.#streams.clear();
  }

  #emitOutput(stream: "stdout" | "stderr", text: string): void {
    if (text !== "") this.#onEvent?.({ type: "output", chunk: { stream, text } });
  }
}
