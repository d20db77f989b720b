import { createHmac, randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Middleware } from "@cem/bridge";
import type { JsonValue, RecordedCall, RecordedData } from "@cem/core";

/** Of the arguments or the result of one call, as JSON. A larger one is told of by its size. */
const MAX_DATA_CHARACTERS = 16 * 1024;
/** Of all data of one run. */
const MAX_RUN_CHARACTERS = 256 * 1024;
const MAX_CALLS = 500;
/** Runs under way whose calls are kept. */
const MAX_RUNS = 2_000;

interface KeptRun {
  calls: Promise<RecordedCall>[];
  characters: number;
  /** Makes digests of one run comparable with each other and with nothing else: many values could be guessed. */
  key: Buffer;
}

/** Keeps the calls of runs on the host until the runs have ended. */
export class CallKeeper {
  readonly #runs = new Map<string, KeptRun>();
  readonly #keepsValues: boolean;

  /** @param keepsValues - Whether arguments and results are kept, not only their sizes. */
  constructor(keepsValues: boolean) {
    this.#keepsValues = keepsValues;
  }

  readonly middleware: Middleware = (next) => ({
    specificationVersion: "v1",
    invoke: async (call, context) => {
      const kept = context.run === undefined ? undefined : this.#of(context.run);
      if (kept === undefined || kept.calls.length >= MAX_CALLS) return next.invoke(call, context);
      const started = performance.now();
      const { server, tool } = call;
      const args = this.#keep(call.args, kept);
      const { promise, resolve } = Promise.withResolvers<RecordedCall>();
      kept.calls.push(promise);
      try {
        const result = await next.invoke(call, context);
        const ms = performance.now() - started;
        const data = this.#keep(result as unknown as JsonValue, kept);
        const record = async (): Promise<RecordedCall> => ({
          server,
          tool,
          ms,
          ok: result.ok,
          args: await args,
          result: await data,
        });
        resolve(record());
        return result;
      } catch (error) {
        resolve(args.then((given) => ({ server, tool, ms: 0, ok: false, args: given })));
        throw error;
      }
    },
  });

  /** The calls of a run, in their order; they are kept no longer. Those under way are left out. */
  async take(run: string): Promise<RecordedCall[]> {
    const kept = this.#runs.get(run);
    this.#runs.delete(run);
    const ended = (kept?.calls ?? []).map((call) => Promise.race([call, setImmediate(undefined)]));
    return (await Promise.all(ended)).filter((call) => call !== undefined);
  }

  #of(run: string): KeptRun {
    let kept = this.#runs.get(run);
    if (kept === undefined) {
      const [oldest] = this.#runs.keys();
      if (this.#runs.size >= MAX_RUNS && oldest !== undefined) this.#runs.delete(oldest);
      this.#runs.set(run, (kept = { calls: [], characters: 0, key: randomBytes(16) }));
    }
    return kept;
  }

  async #keep(data: JsonValue | undefined, kept: KeptRun): Promise<RecordedData> {
    const room = Math.min(MAX_DATA_CHARACTERS, MAX_RUN_CHARACTERS - kept.characters);
    if (this.#keepsValues && isWithin(data, room)) {
      // A copy: what is handed out may be changed.
      const text = JSON.stringify(data ?? null);
      kept.characters += text.length;
      return { value: JSON.parse(text) as JsonValue };
    }
    // What is large is measured once the call has gone on its way.
    await setImmediate();
    const text = JSON.stringify(data ?? null);
    const digest = createHmac("sha256", kept.key).update(text).digest("hex").slice(0, 16);
    return { bytes: Buffer.byteLength(text), digest };
  }
}

/** Whether data is no longer than that as JSON, about. What is longer is looked at no further. */
function isWithin(data: unknown, maxCharacters: number): boolean {
  let left = maxCharacters;
  const open = [data];
  while (open.length > 0 && left >= 0) {
    const one = open.pop();
    left -= typeof one === "string" ? one.length + 2 : 4;
    if (typeof one !== "object" || one === null) continue;
    const entries = Object.entries(one);
    left -= entries.length * 2;
    if (left < 0) return false;
    for (const [key, value] of entries) {
      left -= Array.isArray(one) ? 0 : key.length;
      open.push(value);
    }
  }
  return left >= 0;
}
