import { CemError } from "@cem/core";
import type {
  AgentEvent,
  ExecuteOptions,
  RedactionScope,
  RedactionStream,
  Redactor,
  TaskResult,
} from "@cem/core";
import type { Stages } from "./stages.ts";

/**
 * Carries out a request so that nothing of it leaves with a value of a person or a secret: not its events, not its result
 * and not its error.
 */
export async function redacted(
  { redactor: lazy }: Stages,
  options: ExecuteOptions,
  carryOut: (options: ExecuteOptions) => Promise<TaskResult>,
): Promise<TaskResult> {
  const redactor = await lazy?.get();
  if (redactor === undefined) return carryOut(options);
  await redactor.restore?.(options.session);
  const scope: RedactionScope = { session: options.session };
  const events = new RedactedEvents(redactor, scope, options.onEvent);
  try {
    const raw = await carryOut({ ...options, onEvent: (event) => events.emit(event) });
    await redactor.recognize?.(raw, scope);
    const output = redactor.tokenize(raw.output, { ...scope, isCut: raw.outputDroppedBytes > 0 });
    const result = redactor.tokenize({ ...raw, output }, scope);
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
  { session }: ExecuteOptions,
): Promise<string> {
  const redactor = await lazy?.get();
  if (redactor === undefined) return task;
  await redactor.recognize?.(task, { session });
  return redactor.tokenize(task, { session });
}

async function withoutValues(error: unknown, redactor: Redactor, scope: RedactionScope): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  const { message } = error;
  const code = CemError.isInstance(error) ? error.code : "UNEXPECTED";
  const details = CemError.isInstance(error) ? error.details : {};
  await redactor.recognize?.([message, details], scope);
  const shown = redactor.tokenize({ message, details }, scope);
  // What nothing was replaced in keeps its cause and its class.
  if (shown.message === message && shown.details === details) return error;
  return new CemError(code, shown.message, { details: shown.details });
}

/** Passes a request's events on in their order, with tokens in place of values. */
class RedactedEvents {
  readonly #redactor: Redactor;
  readonly #scope: RedactionScope;
  readonly #onEvent: ExecuteOptions["onEvent"];
  readonly #streams = new Map<"stdout" | "stderr", RedactionStream>();
  /** What a model looks through first. */
  #queue: Promise<void> = Promise.resolve();

  constructor(redactor: Redactor, scope: RedactionScope, onEvent: ExecuteOptions["onEvent"]) {
    this.#redactor = redactor;
    this.#scope = scope;
    this.#onEvent = onEvent;
  }

  emit(event: AgentEvent): void {
    // The result is told of once its values are replaced.
    if (this.#onEvent === undefined || event.type === "finished") return;
    if (this.#redactor.recognize === undefined) return this.#pass(event);
    this.#queue = this.#queue
      .then(() => this.#redactor.recognize?.(event, this.#scope))
      .then(() => this.#pass(event));
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
    this.#onEvent?.(this.#redactor.tokenize(event, this.#scope));
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
