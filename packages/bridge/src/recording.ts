import { CemError, isResultHandle } from "@cem/core";
import type { JsonObject, JsonValue, ResultStore, ToolCall, ToolInvoker, ToolResult } from "@cem/core";
import { stringify } from "safe-stable-stringify";
import { z } from "zod";
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
      /** The files that the handles in the result point to. */
      files: z.array(z.object({ path: z.string(), mimeType: z.string(), data: z.base64() })).default([]),
    }),
  ),
});

/** The calls of a run with their results, in the order in which they were made. Plain data, to be stored as JSON. */
export type Recording = z.infer<typeof recordingSchema>;

/** A recorded result, and the files that its handles point to. */
interface RecordedAnswer {
  result: ToolResult;
  files: readonly RecordedFile[];
}

/** An invoker that records its calls. */
export interface Recorder extends ToolInvoker {
  /** The calls that have ended so far. */
  recording(): Recording;
}

/** Settings of {@link createRecorder}. */
export interface RecorderSettings {
  /** The store of the calls' results. The files that handles point to become part of the recording. */
  store?: ResultStore | undefined;
  /**
   * Removes secrets from what is recorded. See `createSecretFilter`.
   *
   * @defaultValue everything is recorded unchanged
   */
  hideSecrets?: HideSecrets | undefined;
}

/** Creates an invoker that passes every call on and records it with its result. */
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
 * Creates an invoker that answers calls from a recording. A call that was recorded several times gets its results in
 * that order. A call that was not recorded, or is repeated more often, fails with `NOT_RECORDED`.
 *
 * @param recording - A {@link Recording}, as parsed from JSON. The order of keys in arguments does not matter.
 * @param settings - `store` stores recorded files, so that handles can be read.
 * @throws CemError `RECORDING_INVALID` when the data is not a recording.
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
  const recorded = new Map<string, { answers: RecordedAnswer[]; asked: number }>();
  for (const { result, files, ...call } of parsed.data.calls) {
    const key = keyOf(call);
    const same = recorded.get(key) ?? { answers: [], asked: 0 };
    same.answers.push({ result, files });
    recorded.set(key, same);
  }
  return {
    specificationVersion: "v1",
    async invoke(call) {
      const same = recorded.get(keyOf(call));
      const found = same?.answers[same.asked];
      if (same !== undefined) same.asked += 1;
      if (found !== undefined) {
        const result = structuredClone(found.result);
        if (!result.ok || store === undefined) return result;
        return { ok: true, value: await restoreKeptFiles(result.value, found.files, store) };
      }
      const { server, tool } = call;
      const why =
        same === undefined
          ? "with these arguments is not in the recording"
          : `is in the recording ${same.answers.length} times, and this is call ${same.asked}`;
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
  return stringify([server, tool, args ?? null]);
}

/** Larger files are not recorded, and their handles point to no file in a replay. In bytes. */
const MAX_RECORDED_FILE_BYTES = 64 * 1024 * 1024;

/** A stored file that a handle in a recorded result points to. */
export interface RecordedFile {
  /** The path of the handle. */
  path: string;
  mimeType: string;
  /** The content as base64. */
  data: string;
}

/** Reads the files that the handles in a result point to. */
export async function readKeptFiles(value: JsonValue, store: ResultStore): Promise<RecordedFile[]> {
  const files: RecordedFile[] = [];
  for (const { path, mimeType, size } of handlesIn(value)) {
    if (size > MAX_RECORDED_FILE_BYTES) continue;
    // A result may have the shape of a handle without being one.
    const page = await store.read(path, { limit: size }).catch(() => undefined);
    if (page !== undefined) files.push({ path, mimeType, data: Buffer.from(page.bytes).toString("base64") });
  }
  return files;
}

/** Stores recorded files again and replaces the paths in the value, which is changed, by the new ones. */
export async function restoreKeptFiles(
  value: JsonValue,
  files: readonly RecordedFile[],
  store: ResultStore,
): Promise<JsonValue> {
  for (const { path, mimeType, data } of files) {
    const name = path.split("/").at(-1) ?? "result";
    const kept = await store.write(Buffer.from(data, "base64"), mimeType, name.replace(/^[0-9a-f]+-/, ""));
    for (const handle of handlesIn(value)) if (handle.path === path) handle["path"] = kept.path;
  }
  return value;
}

function handlesIn(value: JsonValue): (JsonObject & { path: string; mimeType: string; size: number })[] {
  if (typeof value !== "object" || value === null) return [];
  if (isResultHandle(value)) return [value];
  return Object.values(value).flatMap(handlesIn);
}
