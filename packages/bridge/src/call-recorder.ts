import { createHmac, randomBytes } from "node:crypto";
import type { JsonValue, RecordedCall, RecordedData, ToolCall, ToolInvoker, ToolResult } from "@cem/core";
import { stringify } from "safe-stable-stringify";
import type { Middleware } from "./middleware.ts";

/** Limit of the arguments or the result of one call, as JSON. Of larger ones only the size is recorded. */
const MAX_DATA_CHARACTERS = 16 * 1024;
const MAX_RUN_CHARACTERS = 256 * 1024;
const MAX_CALLS = 500;
const MAX_RUNS = 2_000;
const DIGEST_KEY_BYTES = 16;
const DIGEST_DIGITS = 16;

interface RunUnderWay {
  calls: CallUnderWay[];
  characters: number;
  /** Key of the digests of one run, so that they are comparable only with each other. Otherwise values could be guessed. */
  key: Buffer;
}

interface CallUnderWay extends Pick<RecordedCall, "server" | "tool" | "args"> {
  started: number;
  /** Absent while it is running. */
  ended?: Pick<RecordedCall, "ms" | "ok" | "result">;
}

/** Records the calls of runs on the host until the runs end. */
export type CallRecorder = ReturnType<typeof createCallRecorder>;

/** @param keepsValues - Whether arguments and results are kept, not only their sizes. */
export function createCallRecorder(keepsValues: boolean) {
  const runs = new Map<string, RunUnderWay>();
  const middleware: Middleware = (next) => ({
    specificationVersion: "v1",
    invoke: async (call, context) => {
      const kept = context.run === undefined ? undefined : open(context.run);
      if (kept === undefined || kept.calls.length >= MAX_CALLS) return next.invoke(call, context);
      const { server, tool } = call;
      const args = keep(call.args, kept);
      const started = performance.now();
      const underWay: CallUnderWay = { server, tool, started, args };
      kept.calls.push(underWay);
      try {
        const answer = await next.invoke(call, context);
        const ms = performance.now() - started;
        const result = keep(answer as unknown as JsonValue, kept);
        underWay.ended = { ms, ok: answer.ok, result };
        return answer;
      } catch (error) {
        underWay.ended = { ms: performance.now() - started, ok: false };
        throw error;
      }
    },
  });

  function open(run: string): RunUnderWay {
    const [oldest] = runs.keys();
    if (runs.size >= MAX_RUNS && oldest !== undefined && !runs.has(run)) runs.delete(oldest);
    const kept = runs.get(run) ?? { calls: [], characters: 0, key: randomBytes(DIGEST_KEY_BYTES) };
    runs.set(run, kept);
    return kept;
  }

  function keep(data: JsonValue | undefined, kept: RunUnderWay): RecordedData {
    const text = toJson(data);
    if (keepsValues && text.length <= Math.min(MAX_DATA_CHARACTERS, MAX_RUN_CHARACTERS - kept.characters)) {
      kept.characters += text.length;
      // Copies the value, since the original may be modified.
      return { value: JSON.parse(text) as JsonValue };
    }
    const digest = createHmac("sha256", kept.key).update(text).digest("hex").slice(0, DIGEST_DIGITS);
    return { bytes: Buffer.byteLength(text), digest };
  }

  return {
    middleware,
    /** Removes the calls of a run and returns how to list them. Unfinished ones are cancelled, since the run has ended. */
    take(run: string): () => RecordedCall[] {
      const { calls = [] } = runs.get(run) ?? {};
      runs.delete(run);
      const now = performance.now();
      const taken = calls.map(({ started, ended, ...call }) => {
        const cancelled = { ms: now - started, ok: false, isCancelled: true };
        return { ...call, ...(ended ?? cancelled) };
      });
      return () => taken;
    },
  };
}

/** Data that is not JSON becomes `null` here. It fails where it is sent. */
function toJson(data: JsonValue | undefined): string {
  try {
    return JSON.stringify(data) ?? "null";
  } catch {
    return "null";
  }
}

/** A call of an earlier run with its result. */
export interface AnsweredCall {
  server: string;
  tool: string;
  args: JsonValue;
  result: ToolResult;
}

/**
 * Creates an invoker that replays the results of an earlier run. A call that was made several times gets its results in
 * that order. A call that was not recorded, or is repeated more often, fails with `NOT_RECORDED`.
 *
 * @param calls - In the order in which they were made. The order of keys in arguments does not matter.
 */
export function createReplayer(calls: readonly AnsweredCall[]): ToolInvoker {
  const recorded = new Map<string, { results: ToolResult[]; asked: number }>();
  for (const { result, ...call } of calls) {
    const key = keyOf(call);
    const same = recorded.get(key) ?? { results: [], asked: 0 };
    same.results.push(result);
    recorded.set(key, same);
  }
  return {
    specificationVersion: "v1",
    async invoke(call) {
      const same = recorded.get(keyOf(call));
      const found = same?.results[same.asked];
      if (same !== undefined) same.asked += 1;
      if (found !== undefined) return structuredClone(found);
      const { server, tool } = call;
      const why =
        same === undefined
          ? "with these arguments was not made in the recorded run"
          : `was made ${same.results.length} times in the recorded run, and this is call ${same.asked}`;
      const message = `The call of ${server}.${tool} ${why}.`;
      return { ok: false, error: { code: "NOT_RECORDED", message, details: { server, tool } } };
    },
  };
}

function keyOf({ server, tool, args }: ToolCall): string {
  return stringify([server, tool, args ?? null]);
}
