import { toErrorInfo, tokenizeInTurns, withoutValues } from "@cem/core";
import type {
  Elicit,
  InvokeContext,
  JsonObject,
  JsonSchema,
  JsonValue,
  RedactionScope,
  Redactor,
  Sample,
  ToolCall,
  ToolInvoker,
  ToolResult,
} from "@cem/core";
import { findColumns } from "./detectors/columns.ts";
import { decodeText, parsedText } from "./embedded-text.ts";

/** Settings of {@link redactCalls}. */
export interface RedactCallsSettings {
  /** The schema of a tool's results, whose formats tokens are to satisfy. */
  outputSchemaOf?: ((call: ToolCall, signal: AbortSignal) => Promise<JsonSchema | undefined>) | undefined;
}

/**
 * Creates a middleware that puts values in the place of tokens in the arguments of calls; and, where code in the sandbox
 * is to see tokens only, tokens in the place of values in results and errors.
 */
export function redactCalls(
  redactor: Redactor,
  { outputSchemaOf }: RedactCallsSettings = {},
): (next: ToolInvoker) => ToolInvoker {
  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { server, tool } = call;
      const { session, signal } = context;
      const elicit = context.elicit && redactQuestions(context.elicit, redactor, session);
      const sample = context.sample && redactSamples(context.sample, redactor, session);
      const restored = await redactor.detokenize(call.args, {
        session,
        server,
        tool,
        elicit: waiting(elicit, context),
        signal,
      });
      const scope = { session, server, tool };
      const result = await next
        .invoke(
          restored === call.args ? call : { ...call, args: restored },
          elicit === undefined && sample === undefined ? context : { ...context, elicit, sample },
        )
        // An error that a tool throws is as much its answer as a result.
        .catch(async (error: unknown) => {
          if (redactor.guest === "tokens") throw await withoutValues(error, redactor, scope);
          redactor.observe(toErrorInfo(error) as unknown as JsonValue, scope);
          throw error;
        });
      if (redactor.guest === "values") {
        // The error that code is shown may hold as many values as an answer.
        redactor.observe(result.ok ? result.value : (result.error as unknown as JsonValue), scope);
        return result;
      }
      await redactor.recognize?.(result, scope);
      if (!result.ok) return tokenizeInTurns(redactor, result, scope);
      const schema = await outputSchemaOf?.(call, signal);
      const value = await tokenizeInTurns(redactor, result.value, { ...scope, schema });
      return { ok: true, value } satisfies ToolResult;
    },
  });
}

/** Puts tokens into the questions that tools ask a user, and values into the answers. */
export function redactQuestions(elicit: Elicit, redactor: Redactor, session: string | undefined): Elicit {
  return async (request) => {
    const { server, message, mode } = request;
    // A page is for the user to open, at its address as it is.
    const question = mode === "form" ? { message, requestedSchema: request.requestedSchema } : { message };
    await redactor.recognize?.(question, { session, server });
    const answer = await elicit({ ...request, ...redactor.tokenize(question, { session, server }) });
    if (answer.action !== "accept" || answer.content === undefined) return answer;
    const content = await redactor.detokenize(answer.content, { session, server, tool: "*" });
    return { ...answer, content: content as NonNullable<typeof answer.content> };
  };
}

/**
 * Puts tokens into what servers ask a model for, and values into the model's answer: those that the server itself gave.
 * Any other token stays one, since a model has no say in where values go.
 */
export function redactSamples(sample: Sample, redactor: Redactor, session: string | undefined): Sample {
  return async (request) => {
    const { server, params } = request;
    await redactor.recognize?.(params, { session, server });
    const shown = redactor.tokenize(params, { session, server });
    const answer = await sample({ ...request, params: shown });
    const target = { session, server, tool: "*", ownOnly: true, signal: request.signal };
    return (await redactor.detokenize(answer, target)) as JsonObject;
  };
}

/** Stops the clock of the run while a user is asked. */
function waiting(elicit: Elicit | undefined, { onWaiting }: InvokeContext): Elicit | undefined {
  return (
    elicit &&
    (async (request) => {
      onWaiting?.(true);
      try {
        return await elicit(request);
      } finally {
        onWaiting?.(false);
      }
    })
  );
}

/** Items or members that are looked through at once. */
const MEMBERS_AT_ONCE = 500;
/** A file is observed as a whole, which costs next to nothing until something leaves that may be of it; a larger one in parts. */
const MAX_OBSERVED_BYTES = 4 * 1024 * 1024;
/** Characters of a text without members that are looked through at once. */
const CHARACTERS_AT_ONCE = 256 * 1024;
/** Deeper data is looked through as a whole. */
const MAX_DEPTH = 8;
/** Other work has its turn after so long, in milliseconds. */
const MAX_BUSY_MS = 20;
const KEY_BEGINS = "-----BEGIN ";
const KEY_ENDS = "-----END ";

/**
 * Has what is kept as a file for code pass by the same door as what is returned to code: where code sees tokens only, it has
 * tokens, and where it sees values, these are known when they leave, and to have come from the scope's tool. It is looked
 * through piece by piece, so that other work goes on.
 *
 * @returns the bytes to keep: the same where nothing is replaced, also for bytes that are no text.
 */
export async function redactKept(
  bytes: Uint8Array,
  redactor: Redactor,
  scope: RedactionScope,
): Promise<Uint8Array> {
  const hasTokens = redactor.guest === "tokens";
  if (!hasTokens && scope.server === undefined) return bytes;
  const decoded = decodeText(bytes);
  if (decoded === undefined) return bytes;
  if (!hasTokens && redactor.tracksOrigins !== true && bytes.length <= MAX_OBSERVED_BYTES) {
    redactor.observe(decoded.text, scope);
    return bytes;
  }
  const data = parsedText(decoded.text);
  let since = performance.now();
  const change: Change = async (part) => {
    if (performance.now() - since > MAX_BUSY_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
    }
    if (!hasTokens) {
      redactor.observe(part as JsonValue, scope);
      return part;
    }
    await redactor.recognize?.(part, scope);
    return redactor.tokenize(part, scope);
  };
  const changed = await changeInParts(data, change);
  if (changed === data) return bytes;
  return decoded.encode(typeof changed === "string" ? changed : JSON.stringify(changed));
}

type Change = (part: unknown) => Promise<unknown>;

async function changeInParts(data: unknown, change: Change, depth = 0): Promise<unknown> {
  if (typeof data === "string") return changeText(data, change);
  if (!isLong(data, depth)) return change(data);
  return Array.isArray(data) ? changeItems(data, change) : changeMembers(data as object, change, depth);
}

async function changeText(text: string, change: Change): Promise<string> {
  let changed = "";
  const { heading } = findColumns(text.slice(0, text.indexOf("\n") + 1));
  // The columns of a table are known by its first line.
  const first = heading === undefined ? "" : text.slice(0, text.indexOf("\n") + 1);
  for (let from = 0; from < text.length;) {
    const end = endOfPart(text, from);
    changed +=
      from === 0 || first === ""
        ? await changePart(text.slice(from, end), change)
        : (await changePart(first + text.slice(from, end), change)).slice(first.length);
    from = end;
  }
  return changed;
}

/** Lines of JSON stay lines of JSON: a number becomes a number. */
async function changePart(text: string, change: Change): Promise<string> {
  const lines = text.split("\n");
  const parsed = lines.map(parsedText);
  if (!parsed.some((one) => typeof one !== "string")) return String(await change(text));
  const changed = (await change(parsed)) as unknown[];
  return changed
    .map((one, at) => (one === parsed[at] ? lines[at] : typeof one === "string" ? one : JSON.stringify(one)))
    .join("\n");
}

/** The end of a part: that of a line, and not one within a private key. */
function endOfPart(text: string, from: number): number {
  const limit = from + CHARACTERS_AT_ONCE;
  if (limit >= text.length) return text.length;
  const line = text.indexOf("\n", limit) + 1;
  const end = line === 0 ? text.length : line;
  const key = text.lastIndexOf(KEY_BEGINS, end);
  return key <= from || text.slice(key, end).includes(KEY_ENDS) ? end : key;
}

async function changeItems(items: readonly unknown[], change: Change): Promise<readonly unknown[]> {
  const parts: unknown[] = [];
  let isChanged = false;
  for (let from = 0; from < items.length; from += MEMBERS_AT_ONCE) {
    const part = items.slice(from, from + MEMBERS_AT_ONCE);
    const changed = await change(part);
    parts.push(changed);
    isChanged ||= changed !== part;
  }
  return isChanged ? parts.flat(1) : items;
}

async function changeMembers(data: object, change: Change, depth: number): Promise<object> {
  const entries: [string, unknown][] = [];
  let isChanged = false;
  let short: [string, unknown][] = [];
  const changeShort = async (): Promise<void> => {
    const part = Object.fromEntries(short);
    const changed = (await change(part)) as object;
    entries.push(...Object.entries(changed));
    isChanged ||= changed !== part;
    short = [];
  };
  for (const [name, value] of Object.entries(data)) {
    if (!isLong(value, depth + 1)) {
      if (short.push([name, value]) >= MEMBERS_AT_ONCE) await changeShort();
      continue;
    }
    await changeShort();
    // A part keeps the name that it stands under: names tell what values are.
    let shown = name;
    const changed = await changeInParts(
      value,
      async (part) => {
        const [entry] = Object.entries((await change({ [name]: part })) as object);
        [shown] = entry ?? [name];
        return entry?.[1];
      },
      depth + 1,
    );
    entries.push([shown, changed]);
    isChanged ||= changed !== value || shown !== name;
  }
  await changeShort();
  return isChanged ? Object.fromEntries(entries) : data;
}

/** Whether data is looked through in parts: it has many items or members, or a member that does. */
function isLong(data: unknown, depth: number): boolean {
  if (typeof data !== "object" || data === null) return false;
  if (Array.isArray(data)) return data.length > MEMBERS_AT_ONCE;
  const members = Object.values(data);
  return (
    members.length > MEMBERS_AT_ONCE || (depth < MAX_DEPTH && members.some((one) => isLong(one, depth + 1)))
  );
}
