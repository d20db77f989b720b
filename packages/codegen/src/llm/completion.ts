import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { OpenAI } from "openai";
import { type Dialect, guessDialect, inDialect, learn } from "./dialect.ts";
import { isPassing, llmError, readFailure } from "./failures.ts";

const FIRST_DELAY_MS = 500;
/** An answer beyond this is no program. */
const MAX_ANSWER_CHARACTERS = 512 * 1024;

export type Message = OpenAI.Chat.ChatCompletionMessageParam;

export interface CompletionSettings {
  model: string;
  apiKey: string;
  temperature: number;
  timeoutMs: number;
  maxRetries: number;
}

export interface CompletionRequest {
  messages: Message[];
  maxTokens: number;
  onProgress?: ((characters: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface Completion {
  text: string;
  /** Absent where the API does not tell. */
  usage?: { inputTokens: number; outputTokens: number } | undefined;
}

/** Streams answers of one model, and remembers which parameters it takes. */
export class CompletionStream {
  readonly #client: OpenAI;
  readonly #settings: CompletionSettings;
  #dialect: Dialect;

  constructor(client: OpenAI, settings: CompletionSettings) {
    this.#client = client;
    this.#settings = settings;
    this.#dialect = guessDialect(settings.model);
  }

  /** @throws CemError `LLM_…`; the signal's reason when it is cancelled. */
  async complete(request: CompletionRequest): Promise<Completion> {
    const { apiKey, maxRetries, model } = this.#settings;
    for (let retries = 0; ;) {
      try {
        return await this.#stream(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (CemError.isInstance(error)) throw error;
        const failure = readFailure(error);
        const learned = learn(this.#dialect, {
          status: failure.status,
          code: failure.code,
          parameter: failure.parameter,
          message: failure.message,
        });
        if (learned !== undefined) {
          this.#dialect = learned;
          continue;
        }
        // What has a status was already tried again by the client, which knows when the API wants it to be.
        const brokeOff = failure.status === undefined && isPassing(failure);
        if (!brokeOff || retries >= maxRetries) throw llmError(failure, model, apiKey);
        await sleep(FIRST_DELAY_MS * 2 ** retries, undefined, request.signal && { signal: request.signal });
        retries += 1;
      }
    }
  }

  async #stream({ messages, maxTokens, onProgress, signal }: CompletionRequest): Promise<Completion> {
    const { model, temperature, timeoutMs } = this.#settings;
    const silence = new SilenceTimer(timeoutMs);
    const signals = signal === undefined ? [silence.signal] : [silence.signal, signal];
    try {
      const stream = await this.#client.chat.completions.create(
        inDialect(this.#dialect, { model, messages, maxTokens, temperature }),
        { signal: AbortSignal.any(signals) },
      );
      let text = "";
      let finish: string | undefined;
      let usage: Completion["usage"];
      for await (const chunk of stream) {
        silence.restart();
        const choice = chunk.choices?.[0];
        text += choice?.delta?.content ?? "";
        finish = choice?.finish_reason ?? finish;
        if (chunk.usage) {
          usage = { inputTokens: chunk.usage.prompt_tokens, outputTokens: chunk.usage.completion_tokens };
        }
        if (text.length > MAX_ANSWER_CHARACTERS) throw this.#unusable("is far longer than a program");
        onProgress?.(text.length);
      }
      silence.throwIfReached();
      if (finish === undefined) throw new Error("the answer ended in the middle");
      if (finish === "length") {
        throw this.#unusable(`did not fit into ${maxTokens} tokens. Allow more with llm.max_tokens`);
      }
      if (finish === "content_filter") throw this.#unusable("was held back by the provider's content filter");
      return usage === undefined ? { text } : { text, usage };
    } catch (error) {
      silence.throwIfReached();
      throw error;
    } finally {
      silence.stop();
    }
  }

  #unusable(why: string): CemError {
    const { model } = this.#settings;
    return new CemError("LLM_ANSWER_UNUSABLE", `The answer of ${model} ${why}.`, { details: { model } });
  }
}

/** Aborts when nothing was heard for so long. */
class SilenceTimer {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => this.#abort.abort(), timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  restart(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  throwIfReached(): void {
    if (this.#abort.signal.aborted) throw new DOMException("silent for too long", "TimeoutError");
  }
}
