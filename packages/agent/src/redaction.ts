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

/** Longer texts are processed in pieces, yielding to the event loop in between. */
const LONG_CHARACTERS = 4_096;

/** Executes a request so that its events, result and error contain no personal data and no secrets. */
export async function redacted(
  { redactor: lazy }: Stages,
  given: ExecuteOptions,
  carryOut: (options: ExecuteOptions) => Promise<TaskResult>,
): Promise<TaskResult> {
  const redactor = await lazy?.get();
  if (redactor === undefined) return carryOut(given);
  // Single runs have no session, but values that their calls return must be recognized in the result.
  const options = { ...given, session: sessionOf(given) };
  await redactor.restore?.(options.session);
  const scope: RedactionScope = { session: options.session, isOfCode: redactor.guest === "tokens" };
  const events = redactEvents(redactor, scope, options.onEvent);
  try {
    const raw = await carryOut({ ...options, onEvent: events.emit });
    // Our own counts contain no values but may look like parts of one.
    const { output: value, contextTokens, ...rest } = raw;
    const ofOutput = { ...scope, isCut: raw.outputDroppedBytes > 0 };
    // Under a key, since numbers alone would be taken for values.
    const first = await tokenizeInTurns(redactor, { value }, ofOutput);
    const shown = await tokenizeInTurns(redactor, rest, scope);
    // A key in the value may have identified a secret in the output.
    const again = shown === rest ? first : await tokenizeInTurns(redactor, { value }, ofOutput);
    const result = { ...shown, contextTokens, output: again.value };
    await events.finish(result);
    return result;
  } catch (error) {
    await events.passed();
    throw await withoutValues(error, redactor, scope);
  } finally {
    await redactor.persist?.(options.session);
  }
}

export async function redactedTask({ redactor: lazy }: Stages, task: string, options: ExecuteOptions) {
  const redactor = await lazy?.get();
  if (redactor === undefined) return task;
  return tokenizeInTurns(redactor, task, { session: sessionOf(options) });
}

type OutputChunk = Extract<AgentEvent, { type: "output" }>["chunk"];

/** Passes a request's events on in their order, with tokens in place of values. */
function redactEvents(redactor: Redactor, scope: RedactionScope, onEvent: ExecuteOptions["onEvent"]) {
  const streams = new Map<OutputChunk["stream"], RedactionStream>();
  let queue: Promise<void> = Promise.resolve();

  const emitOutput = (stream: OutputChunk["stream"], text: string): void => {
    if (text !== "") onEvent?.({ type: "output", chunk: { stream, text } });
  };
  const endStreams = (): void => {
    for (const [stream, pieces] of streams) emitOutput(stream, pieces.end());
    streams.clear();
  };
  const passOutput = async ({ stream, text }: OutputChunk): Promise<void> => {
    await redactor.recognize?.(text, scope);
    const pieces = streams.get(stream) ?? redactor.openStream(scope);
    streams.set(stream, pieces);
    for (let from = 0; from < text.length; from += LONG_CHARACTERS) {
      if (from > 0) await nextTurn();
      emitOutput(stream, pieces.push(text.slice(from, from + LONG_CHARACTERS)));
    }
  };
  const pass = async (event: AgentEvent): Promise<void> => {
    if (event.type === "output") return passOutput(event.chunk);
    if (event.type === "ran") endStreams();
    // Progress comes from a tool, not from the code, so it may contain a value in another form.
    const { session } = scope;
    const of = event.type === "tool-progressed" ? { session, server: event.server, tool: event.tool } : scope;
    onEvent?.(await tokenizeInTurns(redactor, event, of));
  };

  return {
    emit: (event: AgentEvent): void => {
      // The result is reported once its values are replaced.
      if (onEvent === undefined || event.type === "finished") return;
      queue = queue.then(() => pass(event));
      queue.catch(() => {});
    },
    /** Resolves when the events so far were passed on, or one of them failed. */
    passed: () => queue.catch(() => {}),
    async finish(result: TaskResult): Promise<void> {
      if (onEvent === undefined) return;
      await queue;
      endStreams();
      onEvent({ type: "finished", result });
    },
  };
}
