import { CemError } from "@cem/core";
import type { JsonValue, ResultStore, ToolCall, ToolInvoker, ToolResult } from "@cem/core";
import { z } from "zod";
import { canonicalJson } from "./canonical-json.ts";
import { readKeptFiles, restoreKeptFiles } from "./recorded-files.ts";
import type { RecordedFile } from "./recorded-files.ts";
import { hideInside } from "./secrets.ts";
import type { HideSecrets } from "./secrets.ts";

const jsonSchema = z.json() as z.ZodType<JsonValue>;
const resultSchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: jsonSchema }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).default({}),
    }),
  }),
]);
const recordingSchema = z.object({
  format: z.literal("cem-recording"),
  version: z.literal(1),
  calls: z.array(
    z.object({
      server: z.string(),
      tool: z.string(),
      args: jsonSchema,
      result: resultSchema,
      ms: z.number(),
      /** What the result's handles stand for. */
      files: z.array(z.object({ path: z.string(), mimeType: z.string(), data: z.base64() })).default([]),
    }),
  ),
});

/** The calls of a run and their results, in the order they were made. Plain data, ready for JSON. */
export type Recording = z.infer<typeof recordingSchema>;

export interface Recorder extends ToolInvoker {
  /** What was recorded so far: calls that have ended. */
  recording(): Recording;
}

export interface RecorderSettings {
  /** Where the results of the calls are kept; what is there becomes part of the recording. */
  store?: ResultStore | undefined;
  /** Takes secrets out of everything that is recorded. Default: everything is recorded as it is. */
  hideSecrets?: HideSecrets | undefined;
}

/** Passes every call on and remembers it with its result. */
export function createRecorder(
  invoker: ToolInvoker,
  { store, hideSecrets = (text) => text }: RecorderSettings = {},
): Recorder {
  const calls: { call: ToolCall; result?: ToolResult | undefined; ms: number; files: RecordedFile[] }[] = [];
  return {
    specificationVersion: "v1",
    async invoke(call, context) {
      const entry: (typeof calls)[number] = { call, ms: 0, files: [] };
      calls.push(entry);
      const start = performance.now();
      const result = await invoker.invoke(call, context);
      entry.ms = Math.round(performance.now() - start);
      if (result.ok && store !== undefined) entry.files = await readKeptFiles(result.value, store);
      entry.result = result;
      return result;
    },
    recording() {
      const ended = calls.flatMap(({ call, result, ms, files }) => {
        if (result === undefined) return [];
        const { server, tool, args } = call;
        return [{ server, tool, args: args ?? null, result, ms, files }];
      });
      // A copy, so that what happens later does not change what was handed out.
      const recording = { format: "cem-recording", version: 1, calls: ended };
      return recordingSchema.parse(hideInside(recording, hideSecrets));
    },
  };
}

/**
 * Answers calls from a recording. The same call made several times gets its results in the order they were
 * recorded; a call that was not recorded fails with `NOT_RECORDED`.
 *
 * @throws CemError `RECORDING_INVALID` when the data is no recording.
 */
export function createReplayer(
  recording: unknown,
  { store }: { store?: ResultStore | undefined } = {},
): ToolInvoker {
  const parsed = recordingSchema.safeParse(recording);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const place = (issue?.path ?? []).map(String).join(".") || "the file";
    throw new CemError("RECORDING_INVALID", `This is not a recording: ${place}: ${issue?.message}.`, {
      details: { place },
    });
  }
  const results = new Map<string, { result: ToolResult; files: readonly RecordedFile[] }[]>();
  for (const { result, files, ...call } of parsed.data.calls) {
    const key = keyOf(call);
    const list = results.get(key) ?? [];
    list.push({ result, files });
    results.set(key, list);
  }
  const used = new Map<string, number>();
  return {
    specificationVersion: "v1",
    async invoke(call) {
      const key = keyOf(call);
      const recorded = results.get(key) ?? [];
      const index = used.get(key) ?? 0;
      used.set(key, index + 1);
      const found = recorded[index];
      if (found !== undefined) {
        const result = structuredClone(found.result);
        if (!result.ok || store === undefined) return result;
        return { ok: true, value: await restoreKeptFiles(result.value, found.files, store) };
      }
      const { server, tool } = call;
      const why =
        recorded.length === 0
          ? "with these arguments is not in the recording"
          : `is in the recording ${recorded.length} times, and this is call ${index + 1}`;
      return {
        ok: false,
        error: {
          code: "NOT_RECORDED",
          message: `The call of ${server}.${tool} ${why}. Record the run again.`,
          details: { server, tool },
        },
      };
    },
  };
}

function keyOf({ server, tool, args }: ToolCall): string {
  return canonicalJson([server, tool, args ?? null]);
}
