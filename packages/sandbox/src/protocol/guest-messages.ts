import { isObject, type JsonValue, type ToolCallRecord } from "@cem/core";
import * as z from "zod/mini";
import type { RawGuestError } from "./guest-stack.ts";
import { MAX_NAMES, MAX_VALUE_DEPTH, MAX_VALUES, measureJson } from "./json-depth.ts";

/** Report of a tool call that ran in the guest. */
export interface GuestTrace extends Omit<
  ToolCallRecord,
  "args" | "result" | "startMs" | "isCancelled" | "mayBeDone" | "isLate" | "place"
> {
  type: "trace";
  /** The beginning of the arguments as JSON. */
  args?: string | undefined;
  /** Length of the result as JSON, in characters. */
  characters: number;
  /** The beginning of the result as JSON. */
  sample: string;
}

/** Work that a program did not await. */
export interface GuestWork {
  kind: "call" | "operation" | "timer";
  /** Empty unless it is a call. */
  server: string;
  name: string;
  /** The stack where it was begun. */
  stack: string;
}

export interface GuestCall {
  id: number;
  server: string;
  tool: string;
  args: JsonValue;
}

/** A message from a guest with its shape validated. Its contents are still untrusted. */
export type GuestMessage =
  | { type: "ready"; version: string }
  | { type: "stderr"; text: string }
  | ({ type: "call" } & GuestCall)
  | GuestTrace
  /** Work that the program had started and not awaited when it returned. The run waits for it, or stops it. */
  | { type: "unawaited"; isStopped: boolean; work: GuestWork[] }
  /** Sent before any code of a program that may use the runtime is run: the guest must be ended after the run. */
  | { type: "single-use" }
  /** An argument or the value is too large. */
  | { type: "limit"; of: "argument" | "value" }
  /** The value of a program that has returned, while the run waits for other work of it. */
  | { type: "returned"; value: JsonValue }
  | { type: "done"; value?: JsonValue | undefined }
  | { type: "failed"; kind: "syntax" | "exception"; error: RawGuestError };

/** JSON limits of one message: those of a value, plus the envelope of the message. */
const MESSAGE_LIMITS = { depth: MAX_VALUE_DEPTH + 2, marks: MAX_VALUES * 2 + 16, names: MAX_NAMES + 16 };

const MAX_NAME_CHARACTERS = 256;
const MAX_STACK_CHARACTERS = 65_536;
const name = z.string().check(z.maxLength(MAX_NAME_CHARACTERS));
const count = z.int().check(z.gte(0));
// JSON.parse always returns a JsonValue; its depth has been checked before.
const jsonValue = z.custom<JsonValue>((value) => value !== undefined);

const guestError = z.strictObject({
  name: z.string().check(z.maxLength(1_024)),
  message: z.string().check(z.maxLength(16_384)),
  stack: z.string().check(z.maxLength(MAX_STACK_CHARACTERS)),
});

/** As many as a guest lists. */
export const MAX_WORK = 40;
/** A guest sends 4,096, and positions in the source may have more digits than in what was compiled. */
const MAX_WORK_STACK_CHARACTERS = 8_192;
const work = z.strictObject({
  kind: z.enum(["call", "operation", "timer"]),
  server: name,
  name,
  stack: z.string().check(z.maxLength(MAX_WORK_STACK_CHARACTERS)),
});

/** Strict: unknown members would be parsed but not covered by any limit, and the guest runner never writes any. */
const guestMessage: z.ZodMiniType<GuestMessage> = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready"), version: name }),
  z.strictObject({ type: z.literal("stderr"), text: z.string() }),
  z.strictObject({
    type: z.literal("trace"),
    server: name,
    tool: name,
    args: z.optional(z.string().check(z.maxLength(2 * 1024))),
    ms: z.number().check(z.gte(0)),
    ok: z.boolean(),
    characters: count,
    sample: z.string().check(z.maxLength(64 * 1024)),
  }),
  z.strictObject({
    type: z.literal("unawaited"),
    isStopped: z.boolean(),
    work: z.array(work).check(z.maxLength(MAX_WORK)),
  }),
  z.strictObject({ type: z.literal("single-use") }),
  z.strictObject({ type: z.literal("limit"), of: z.enum(["argument", "value"]) }),
  z.strictObject({ type: z.literal("returned"), value: jsonValue }),
  z.strictObject({ type: z.literal("done"), value: z.optional(jsonValue) }),
  z.strictObject({ type: z.literal("failed"), kind: z.enum(["syntax", "exception"]), error: guestError }),
]);

const CALL_MEMBERS = 5;

/** Fast path for calls, the most frequent messages: the schema takes many times as long. `undefined` for other messages. */
function readCall(parsed: unknown): GuestMessage | undefined {
  if (!isObject(parsed) || parsed["type"] !== "call") return undefined;
  const { id, server, tool, args } = parsed;
  const isId = Number.isSafeInteger(id) && (id as number) >= 0;
  return Object.keys(parsed).length === CALL_MEMBERS &&
    isId &&
    isName(server) &&
    isName(tool) &&
    args !== undefined
    ? { type: "call", id: id as number, server, tool, args: args as JsonValue }
    : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_NAME_CHARACTERS;
}

/**
 * Parses and validates one message of a guest. Never throws. @returns the problem of an invalid one, to follow "The
 * guest sent"
 */
export function readGuestMessage(frame: Buffer): GuestMessage | string {
  const { depth, marks, names } = measureJson(frame, MESSAGE_LIMITS);
  if (depth > MESSAGE_LIMITS.depth) return `a message nested deeper than ${MAX_VALUE_DEPTH} levels`;
  if (marks > MESSAGE_LIMITS.marks) return `a message of more than ${MAX_VALUES.toLocaleString("en")} values`;
  if (names > MESSAGE_LIMITS.names)
    return `a message of more than ${MAX_NAMES.toLocaleString("en")} different names`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(frame.toString("utf8"));
  } catch {
    return "a message that is not JSON";
  }
  return readCall(parsed) ?? guestMessage.safeParse(parsed).data ?? "a message of the wrong shape";
}
