import { CemError } from "@cem/core";
import type { JsonValue, ToolCall, ToolInvoker, ToolResult } from "@cem/core";
import { z } from "zod";
import { canonicalJson } from "./canonical-json.ts";

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
    }),
  ),
});

/** The calls of a run and their results, in the order they were made. Plain data, ready for JSON. */
export type Recording = z.infer<typeof recordingSchema>;

export interface Recorder extends ToolInvoker {
  /** What was recorded so far: calls that have ended. */
  recording(): Recording;
}

/** Passes every call on and remembers it with its result. */
export function createRecorder(invoker: ToolInvoker): Recorder {
  const calls: { call: ToolCall; result?: ToolResult; ms: number }[] = [];
  return {
    specificationVersion: "v1",
    async invoke(call, context) {
      const entry: (typeof calls)[number] = { call, ms: 0 };
      calls.push(entry);
      const start = performance.now();
      const result = await invoker.invoke(call, context);
      entry.ms = Math.round(performance.now() - start);
      entry.result = result;
      return result;
    },
    recording() {
      const ended = calls.flatMap(({ call, result, ms }) => {
        if (result === undefined) return [];
        const { server, tool, args } = call;
        return [{ server, tool, args: args ?? null, result, ms }];
      });
      // A copy, so that what happens later does not change what was handed out.
      return recordingSchema.parse(structuredClone({ format: "cem-recording", version: 1, calls: ended }));
    },
  };
}

/**
 * Answers calls from a recording. The same call made several times gets its results in the order they were
 * recorded; a call that was not recorded fails with `NOT_RECORDED`.
 *
 * @throws CemError `RECORDING_INVALID` when the data is no recording.
 */
export function createReplayer(recording: unknown): ToolInvoker {
  const parsed = recordingSchema.safeParse(recording);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const place = (issue?.path ?? []).map(String).join(".") || "the file";
    throw new CemError("RECORDING_INVALID", `This is not a recording: ${place}: ${issue?.message}.`, {
      details: { place },
    });
  }
  const results = new Map<string, ToolResult[]>();
  for (const { server, tool, args, result } of parsed.data.calls) {
    const key = keyOf({ server, tool, args });
    const list = results.get(key);
    if (list === undefined) results.set(key, [result]);
    else list.push(result);
  }
  const used = new Map<string, number>();
  return {
    specificationVersion: "v1",
    async invoke(call) {
      const key = keyOf(call);
      const recorded = results.get(key) ?? [];
      const index = used.get(key) ?? 0;
      used.set(key, index + 1);
      const result = recorded[index];
      if (result !== undefined) return structuredClone(result);
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
