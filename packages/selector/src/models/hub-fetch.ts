import { createHash } from "node:crypto";
import { CemError } from "@cem/core";
import type { LockedFile } from "./model-lock.ts";
import type { PinnedModel } from "./pinned-models.ts";

/** A file that is being pulled. */
export interface PullProgress {
  /** Path in the model's repository: `onnx/model_quantized.onnx`. */
  file: string;
  /** Bytes so far. */
  loaded: number;
  /** Bytes of the whole file; absent when the server does not tell. */
  total?: number | undefined;
  /** Whether the file is complete, and its digest the known one where there is one. */
  done: boolean;
}

/** The largest file of a model. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;

export interface HubFetchSettings {
  /** The URL below which the model's files are: `https://hub.example/NAME/resolve/REVISION/`. */
  base: string;
  model: string;
  pinned: PinnedModel | undefined;
  onProgress: ((progress: PullProgress) => void) | undefined;
  signal: AbortSignal | undefined;
}

/**
 * What the hub code of the library fetches with: it can be aborted, reports progress, and computes the digest of each file
 * while it comes. A file whose digest is not the known one fails before it is complete, so that it is never kept.
 */
export class HubFetch {
  /** The files that came whole, by path. */
  readonly files: Record<string, LockedFile> = {};
  /** What went wrong last: a file that is another stays. The library gives its own errors for the same. */
  failure: CemError | undefined;
  readonly #settings: HubFetchSettings;

  constructor(settings: HubFetchSettings) {
    this.#settings = settings;
  }

  /** Fetches like the global `fetch`. */
  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { base, signal } = this.#settings;
    const url = input instanceof Request ? input.url : String(input);
    const headers = new Headers(init.headers);
    // Lengths then are those of the files themselves.
    headers.set("accept-encoding", "identity");
    let response: Response;
    try {
      response = await fetch(url, { ...init, headers, signal: signal ?? null });
    } catch (error) {
      throw this.#fail(unreachable(url, error));
    }
    if (!response.ok) {
      this.#fail(refused(this.#settings.model, url, response.status));
      return response;
    }
    if (response.body === null || !url.startsWith(base)) return response;
    const file = decodeURIComponent(url.slice(base.length));
    const { status, headers: answered } = response;
    const watched = ReadableStream.from(this.#watch(file, url, response.body, lengthOf(answered)));
    return new Response(watched, { status, headers: answered });
  };

  async *#watch(
    file: string,
    url: string,
    body: ReadableStream<Uint8Array>,
    total: number | undefined,
  ): AsyncGenerator<Uint8Array> {
    const { pinned, onProgress, model, signal } = this.#settings;
    const hash = createHash("sha256");
    let loaded = 0;
    try {
      for await (const chunk of body) {
        signal?.throwIfAborted();
        loaded += chunk.length;
        if (loaded > MAX_FILE_BYTES) break;
        hash.update(chunk);
        yield chunk;
        onProgress?.({ file, loaded, total, done: false });
      }
    } catch (error) {
      throw this.#fail(unreachable(url, error));
    }
    if (loaded > MAX_FILE_BYTES) throw this.#fail(tooLarge(model, file));
    const sha256 = hash.digest("hex");
    const known = pinned?.files[file];
    if (known !== undefined && known !== sha256) throw this.#fail(isAnother(model, url, sha256, known));
    this.files[file] = { bytes: loaded, sha256 };
    onProgress?.({ file, loaded, total: loaded, done: true });
  }

  #fail(error: CemError): CemError {
    if (this.failure?.code !== "EMBEDDER_MODEL_CHANGED") this.failure = error;
    return error;
  }
}

function lengthOf(headers: Headers): number | undefined {
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return Number.isSafeInteger(length) && length >= 0 ? length : undefined;
}

/** An error of `fetch` itself, whose cause has the reason. */
export function unreachable(url: string, error: unknown): CemError {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  const reason = code ?? (error instanceof Error ? error.message : String(error));
  return new CemError("EMBEDDER_PULL_FAILED", `${url} can't be reached: ${reason}.`, {
    cause: error,
    details: { url },
  });
}

function refused(model: string, url: string, status: number): CemError {
  const details = { model, url, status };
  if (status === 404) {
    const message = `${url} does not exist, or not for you (404). A model that can be pulled has config.json, tokenizer.json and onnx/model_quantized.onnx or onnx/model.onnx.`;
    return new CemError("EMBEDDER_MODEL_NOT_FOUND", message, { details });
  }
  if (status === 401 || status === 403) {
    const message = `${url} is not for everybody, or does not exist (${status}). For a model that needs a sign-in on huggingface.co, set HF_TOKEN in the environment.`;
    return new CemError("EMBEDDER_MODEL_NOT_FOUND", message, { details });
  }
  return new CemError("EMBEDDER_PULL_FAILED", `${url} was answered with status ${status}.`, { details });
}

function isAnother(model: string, url: string, found: string, known: string): CemError {
  return new CemError(
    "EMBEDDER_MODEL_CHANGED",
    `${url} is not the file that is known for ${model}: its digest is ${found}, not ${known}. Nothing of it was kept.`,
    { details: { model, url } },
  );
}

function tooLarge(model: string, file: string): CemError {
  const message = `${file} of ${model} is larger than ${MAX_FILE_BYTES} bytes, the most that is pulled.`;
  return new CemError("EMBEDDER_PULL_FAILED", message, { details: { model, file } });
}
