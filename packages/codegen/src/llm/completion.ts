import { setTimeout as sleep } from "node:timers/promises";
import { CemError, type ErrorDetails, MS_PER_SECOND, parseJson } from "@cem/core";
import type { APIError, OpenAI } from "openai";
import { adaptDialect, guessDialect, toRequest } from "./dialect.ts";

/** The status that the client puts before the API's message. */
const LEADING_STATUS = /^\d{3} /u;
const MAX_MESSAGE_CHARACTERS = 400;
/** Formats of API keys, plain or masked, in case a message contains a different key than the one in use. */
const KEY_SHAPE = /\b(?:sk|xai|gsk|key)-[\w*.-]{6,}/giu;

type ApiFailure = ReturnType<typeof readFailure>;

function readFailure(error: unknown) {
  const thrown = error instanceof Error ? error : new Error(String(error));
  const { name, message, status, code, error: said, param, headers } = thrown as Error & Partial<APIError>;
  const after = headers?.get("retry-after") ?? "";
  const waits = [
    Number.parseFloat(headers?.get("retry-after-ms") ?? ""),
    Number.parseFloat(after) * MS_PER_SECOND,
    Date.parse(after) - Date.now(),
  ];
  const wish = headers?.get("x-should-retry") ?? undefined;
  return {
    name,
    message: message.replace(LEADING_STATUS, ""),
    status,
    /** Whether the API itself reported the failure, with a status or within a stream. */
    isOfApi: said !== undefined,
    code: code ?? undefined,
    parameter: param ?? undefined,
    retryAfterMs: waits.find((wait) => wait >= 0),
    /** Whether the API says that a retry may succeed. */
    isPassing: wish === undefined ? undefined : wish === "true",
  };
}

function isTransient({ name, status, isPassing }: ApiFailure): boolean {
  if (isPassing !== undefined) return isPassing;
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  return name !== "APIUserAbortError";
}

/** Converts a failure to a CemError, without its cause and without the key, which its message may contain. */
function llmError(
  failure: ApiFailure,
  { model, apiKey, timeoutMs }: { model: string; apiKey: string; timeoutMs: number },
): CemError {
  const { status } = failure;
  const said = withoutKeys(failure.message, apiKey);
  const fail = (code: string, message: string, details: ErrorDetails = {}): CemError =>
    new CemError(code, message, { details: { model, status, ...details } });
  if (status === 401 || status === 403)
    return fail("LLM_KEY_REFUSED", `The API refused the key for ${model} (${status}): ${said}`);
  if (status === 429) {
    const { retryAfterMs: ms } = failure;
    const wait = ms === undefined ? "" : ` Try again in ${Math.ceil(ms / MS_PER_SECOND)} s.`;
    const message = `The API of ${model} limits the rate of requests (429): ${said}${wait}`;
    return fail("LLM_RATE_LIMITED", message, { retryAfterMs: ms });
  }
  if (status === undefined ? failure.isOfApi : status >= 500) {
    const how = status === undefined ? "within its answer" : `(${status})`;
    return fail("LLM_FAILED", `The API of ${model} failed ${how}: ${said}`);
  }
  if (status !== undefined)
    return fail("LLM_REQUEST_REFUSED", `The API of ${model} refused the request (${status}): ${said}`);
  if (failure.name === "APIConnectionTimeoutError" || failure.name === "TimeoutError") {
    const silence = `${timeoutMs.toLocaleString("en")} milliseconds`;
    return fail("LLM_TIMED_OUT", `The API of ${model} sent nothing for ${silence}.`, { timeoutMs });
  }
  return fail("LLM_UNREACHABLE", `The API of ${model} can't be reached or closed the connection: ${said}`);
}

/** `LLM_ANSWER_UNUSABLE`: the response is not from a model's API. */
function noAnswer(body: string, type: string, { model, apiKey }: CompletionSettings): CemError {
  const said = withoutKeys(body, apiKey);
  const message = `What answered for ${model} sent no answer of a model but ${type || "this"}: ${said} Is the URL of the API right?`;
  return new CemError("LLM_ANSWER_UNUSABLE", message, { details: { model } });
}

function withoutKeys(text: string, apiKey: string): string {
  const clean = text
    .replaceAll(apiKey, "[secret]")
    .replaceAll(KEY_SHAPE, "[secret]")
    .replaceAll(/\s+/gu, " ")
    .trim();
  const clipped =
    clean.length > MAX_MESSAGE_CHARACTERS ? `${clean.slice(0, MAX_MESSAGE_CHARACTERS)}…` : clean;
  return /[.!?…]$/u.test(clipped) ? clipped : `${clipped}.`;
}

/** The delay before the first retry if the API sends none. It doubles with each retry. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** Maximum number of timeouts that an API may extend with empty keep-alive data. */
const MAX_EMPTY_TIMEOUTS = 10;
const MAX_ANSWER_CHARACTERS = 512 * 1024;

export type Message = OpenAI.Chat.ChatCompletionMessageParam;

interface CompletionSettings {
  model: string;
  /** Removed from the messages of errors. */
  apiKey: string;
  temperature: number;
  /** Maximum time without data from the API. */
  timeoutMs: number;
  maxRetries: number;
}

export interface CompletionRequest {
  messages: Message[];
  maxTokens: number;
  /** Called with the answer so far. */
  onProgress?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface Completion {
  text: string;
  /** The words in which the model declined to answer. Usually empty. */
  refusal: string;
  /** Why it ended: `stop`, `length`, `content_filter` or another reason of the API. */
  finish: string;
  /** Each is absent if the API reports none. */
  usage?: { inputTokens: number | undefined; outputTokens: number | undefined } | undefined;
}

/** A part of an answer, or the complete answer of an API that does not stream. */
type Chunk = OpenAI.Chat.ChatCompletionChunk;
type UnfinishedAnswer = Omit<Completion, "finish"> & { finish?: string | undefined };
type Choice = Chunk["choices"][number];

/** Adds a part to an answer. @returns whether the part has content. */
function addTo(answer: UnfinishedAnswer, chunk: Chunk | undefined): boolean {
  const choice: (Choice & { message?: Choice["delta"] }) | undefined = chunk?.choices?.[0];
  const said = choice?.delta ?? choice?.message ?? {};
  answer.text += said.content ?? "";
  answer.refusal += said.refusal ?? "";
  answer.finish = choice?.finish_reason ?? answer.finish;
  const { prompt_tokens: input, completion_tokens: output } = chunk?.usage ?? {};
  if (chunk?.usage) answer.usage = { inputTokens: countOf(input), outputTokens: countOf(output) };
  return Object.entries(said).some(([name, value]) => name !== "role" && Boolean(value));
}

/** A number of tokens reported by an API, if it is valid. */
function countOf(tokens: unknown): number | undefined {
  return Number.isSafeInteger(tokens) && (tokens as number) >= 0 ? (tokens as number) : undefined;
}

/**
 * Creates a function that requests one completion, as a stream. It remembers the parameters that the model supports, and
 * retries transient failures after the delay that the API asks for, else with backoff; in total up to the timeout.
 */
export function createCompletions(client: OpenAI, settings: CompletionSettings) {
  const { maxRetries, model, temperature, timeoutMs } = settings;
  let dialect = guessDialect(model);

  const stream = async ({ messages, maxTokens, onProgress, signal }: CompletionRequest) => {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), timeoutMs);
    let heard = performance.now();
    const throwIfSilent = (): void => {
      if (silence.signal.aborted) throw new DOMException("no data for too long", "TimeoutError");
    };
    const signals = signal === undefined ? [silence.signal] : [silence.signal, signal];
    try {
      const asked = toRequest(dialect, { model, messages, maxTokens, temperature });
      const answering = client.chat.completions.create(asked, { signal: AbortSignal.any(signals) });
      const { data: chunks, response } = await answering.withResponse();
      const type = response.headers.get("content-type") ?? "";
      // A copy to be read as a whole if it turns out not to be a stream.
      let copy = type.includes("event-stream") ? undefined : response.clone();
      const answer: UnfinishedAnswer = { text: "", refusal: "" };
      for await (const chunk of chunks) {
        void copy?.body?.cancel().catch(() => {});
        copy = undefined;
        if (addTo(answer, chunk)) heard = performance.now();
        if (performance.now() - heard < timeoutMs * MAX_EMPTY_TIMEOUTS) timer.refresh();
        const { text } = answer;
        if (text.length + answer.refusal.length > MAX_ANSWER_CHARACTERS) {
          const most = MAX_ANSWER_CHARACTERS.toLocaleString("en");
          const message = `The answer of ${model} is longer than ${most} characters.`;
          const details = { model, maxCharacters: MAX_ANSWER_CHARACTERS };
          throw new CemError("LLM_ANSWER_UNUSABLE", message, { details });
        }
        onProgress?.(text);
      }
      throwIfSilent();
      if (copy !== undefined) {
        const whole = await copy.text();
        addTo(answer, parseJson(whole) as Chunk | undefined);
        if (answer.finish === undefined) throw noAnswer(whole, type, settings);
      }
      const { finish } = answer;
      if (finish === undefined) throw new Error("the answer ended in the middle");
      return { ...answer, finish };
    } catch (error) {
      throwIfSilent();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  return async (request: CompletionRequest): Promise<Completion> => {
    let askedMs = 0;
    for (let retries = 0; ;) {
      try {
        return await stream(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (CemError.isInstance(error)) throw error;
        const failure = readFailure(error);
        const adapted = adaptDialect(dialect, failure);
        if (adapted !== undefined) {
          dialect = adapted;
          continue;
        }
        const { retryAfterMs } = failure;
        askedMs += retryAfterMs ?? 0;
        if (!isTransient(failure) || retries >= maxRetries || askedMs > timeoutMs)
          throw llmError(failure, settings);
        const delayMs = retryAfterMs ?? Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retries);
        await sleep(delayMs, undefined, { signal: request.signal }).catch(() =>
          request.signal?.throwIfAborted(),
        );
        retries += 1;
      }
    }
  };
}
