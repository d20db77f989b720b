import { fromErrorInfo, moduleBeside, offload, toErrorInfo, tokenizeInTurns, withoutValues } from "@cem/core";
import type {
  Approve,
  Elicit,
  InvokeContext,
  JsonObject,
  JsonValue,
  RedactionScope,
  Redactor,
  Sample,
  ToolCall,
  ToolInvoker,
  ToolResult,
} from "@cem/core";
import { Turns } from "./json-walk.ts";
import type { Pieces } from "./large-kept-work.ts";
import { decodeText } from "./embedded-data.ts";

/**
 * Creates a middleware that replaces tokens by values in the arguments of calls and, if code in the sandbox sees tokens
 * only, values by tokens in results and errors.
 *
 * @param asking - Asks a person about values that may go to a tool if a rule says to ask, for calls whose context has nobody
 *   to ask. `approve` is used if there is no `elicit`, since it may already approve every call of a tool.
 */
export function redactCalls(
  redactor: Redactor,
  asking: { elicit?: Elicit | undefined; approve?: Approve | undefined } = {},
): (next: ToolInvoker) => ToolInvoker {
  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { server, tool } = call;
      const { session, signal } = context;
      const scope = { session, server, tool };
      const elicit = context.elicit && redactQuestions(context.elicit, redactor, scope);
      const sample = context.sample && redactSamples(context.sample, redactor, session);
      const by = (approve: Approve | undefined) => approve && elicitBy(approve, call, session);
      // The person of the run before the agent's: someone else would be asked.
      const asker = elicit ?? by(context.approve) ?? asking.elicit ?? by(asking.approve);
      const target = { ...scope, elicit: waiting(asker, context), signal };
      const restored = await redactor.detokenize(call.args, target);
      let result: ToolResult;
      try {
        result = await next.invoke(
          restored === call.args ? call : { ...call, args: restored },
          elicit === undefined && sample === undefined ? context : { ...context, elicit, sample },
        );
      } catch (error) {
        // An error thrown by a tool is redacted like a result.
        if (redactor.guest === "tokens") throw await withoutValues(error, redactor, scope);
        redactor.observe(toErrorInfo(error) as unknown as JsonValue, scope);
        throw error;
      }
      if (redactor.guest === "values") {
        // An error shown to code may contain values like an answer.
        redactor.observe(result.ok ? result.value : (result.error as unknown as JsonValue), scope);
        return result;
      }
      try {
        return await tokenizeInTurns(redactor, result, scope);
      } catch (error) {
        const info = toErrorInfo(error);
        // The call was made, so nobody should be asked to repeat it.
        throw fromErrorInfo({ ...info, details: { ...info.details, isSent: true } });
      }
    },
  });
}

/**
 * Replaces values by tokens in tools' questions to a user, and tokens by values in the answers, as far as rules allow it
 * for the asking tool.
 */
export function redactQuestions(
  elicit: Elicit,
  redactor: Redactor,
  { session, ...asking }: Pick<RedactionScope, "session" | "server" | "tool">,
): Elicit {
  return async (request) => {
    const { server, message, mode } = request;
    // A URL must stay unchanged, since the user opens it.
    const question = mode === "form" ? { message, requestedSchema: request.requestedSchema } : { message };
    const shown = await tokenizeInTurns(redactor, question, { session, server });
    const answer = await elicit({ ...request, ...shown });
    if (answer.action !== "accept" || answer.content === undefined) return answer;
    // A question may arrive outside of a call of its tool.
    const { tool = "*" } = asking.server === server ? asking : {};
    try {
      const content = await redactor.detokenize(answer.content, { session, server, tool });
      return { ...answer, content: content as NonNullable<typeof answer.content> };
    } catch (error) {
      const { code, message: why } = toErrorInfo(error);
      return { action: "cancel", reason: `The answer was withheld (${code}): ${why}` };
    }
  };
}

/**
 * Replaces values by tokens in servers' sampling requests, and in the model's answer restores those that came from the same
 * server. Other tokens are kept, since a model must not decide where values go.
 */
export function redactSamples(sample: Sample, redactor: Redactor, session: string | undefined): Sample {
  return async (request) => {
    const { server, params } = request;
    const shown = await tokenizeInTurns(redactor, params, { session, server });
    const answer = await sample({ ...request, params: shown });
    const target = { session, server, tool: "*", ownOnly: true, signal: request.signal };
    return (await redactor.detokenize(answer, target)) as JsonObject;
  };
}

/** Asks about a flow of values by a function that approves calls. */
function elicitBy(approve: Approve, { server, tool, args }: ToolCall, session: string | undefined): Elicit {
  return async ({ message: reason, signal }) => {
    const answer = await approve({ server, tool, args, reason, session, signal }).catch(() => undefined);
    signal.throwIfAborted();
    if (answer === undefined) return { action: "cancel" };
    return { action: "accept", content: { allow: answer !== "no", once: answer === "once" } };
  };
}

/** Stops the clock of the run while a user is asked. */
function waiting(elicit: Elicit | undefined, { onWaiting }: InvokeContext): Elicit | undefined {
  if (elicit === undefined) return undefined;
  return async (request) => {
    onWaiting?.(true);
    try {
      return await elicit(request);
    } finally {
      onWaiting?.(false);
    }
  };
}

const READ_TIMEOUT_MS = 60_000;
/** A file up to this size is observed as a whole, which is cheap until outgoing data may contain values of it. */
const MAX_OBSERVED_BYTES = 4 * 1024 * 1024;

/**
 * Redacts files stored for code in the same way as results: if code sees tokens only, values are replaced; otherwise they
 * are recognized when they leave, with the scope's tool as their origin. Yields to the event loop in between.
 *
 * @returns the bytes to store: unchanged if nothing is replaced, or if they are not text.
 */
export async function redactKept(
  bytes: Uint8Array,
  redactor: Redactor,
  scope: RedactionScope,
): Promise<Uint8Array> {
  const hasTokens = redactor.guest === "tokens";
  if (!hasTokens && scope.server === undefined) return bytes;
  if (!hasTokens && bytes.length > MAX_OBSERVED_BYTES) {
    await observeLarge(bytes, redactor, scope);
    return bytes;
  }
  const decoded = decodeText(bytes);
  if (decoded === undefined) return bytes;
  const { text } = decoded;
  if (hasTokens) {
    const shown = await (redactor.tokenizeFile?.(text, scope) ?? tokenizeInTurns(redactor, text, scope));
    return shown === text ? bytes : decoded.encode(shown);
  }
  await ((redactor.tracksOrigins === true && redactor.observeInTurns?.(text, scope)) ||
    redactor.observe(text, scope));
  return bytes;
}

/** Collects the values of a large file, which is split in a work thread and processed in small pieces. */
async function observeLarge(given: Uint8Array, redactor: Redactor, scope: RedactionScope): Promise<void> {
  const module = moduleBeside("large-kept-work", import.meta.url);
  const cut = await offload<Pieces>(
    () => ({ module, name: "piecesOf", args: [given], timeoutMs: READ_TIMEOUT_MS }),
    async () => (await import("./large-kept-work.ts")).piecesOf(given),
  );
  const { pieces, isJson, bytes = given } = cut;
  const turns = new Turns();
  const decoder = new TextDecoder();
  for (const { start, end, open, close } of pieces) {
    const text = `${open}${decoder.decode(bytes.subarray(start, end))}${close}`;
    const data = isJson ? (JSON.parse(text) as JsonValue) : text;
    await (redactor.observeInTurns?.(data, scope) ?? redactor.observe(data, scope));
    await turns.next();
  }
}
