import { isUtf8 } from "node:buffer";
import { closeSync, fdatasync, ftruncateSync, writeSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { CemError, createLineSplitter, isObject, parseJson } from "@cem/core";
import type { ErrorInfo, JsonObject, JsonValue } from "@cem/core";
import { openForAppending, openHandle } from "@cem/core/files";
import * as z from "zod";

const sync = promisify(fdatasync);

const dated = { ms: z.number(), at: z.string() };
const attempted = { ...dated, step: z.string(), attempt: z.number() };
const error = z.object({
  code: z.string(),
  message: z.string(),
  details: z.custom<ErrorInfo["details"]>(isObject),
  hint: z.string().optional(),
});
const record = z.discriminatedUnion("type", [
  z.object({ ...dated, type: z.enum(["run-started", "run-resumed"]) }),
  /** The step is about to do something. */
  z.object({ ...attempted, type: z.literal("step-started") }),
  /** `error`: why it failed, when the run continues without it. */
  z.object({
    ...dated,
    type: z.literal("step-completed"),
    step: z.string(),
    value: z.custom<JsonValue>((value) => value !== undefined),
    error: error.optional(),
    isToldByUser: z.literal(true).optional(),
  }),
  /** `isUncertain`: the step may have been executed. */
  z.object({ ...attempted, type: z.literal("step-failed"), error, isUncertain: z.literal(true).optional() }),
  z.object({ ...dated, type: z.literal("step-skipped"), step: z.string(), error: error.optional() }),
  z.object({
    ...dated,
    type: z.literal("run-ended"),
    status: z.enum(["success", "error", "timeout", "cancelled"]),
    outputs: z.custom<JsonObject>(isObject),
    error: error.nullable(),
  }),
]);

/** The journal of a run, in JSON lines. A line counts only when its end is written: a kill or a full disk may truncate it. */
export type JournalRecord = z.output<typeof record>;

export type EndedStatus = Extract<JournalRecord, { status: string }>["status"];

type Undated<Record> = Record extends unknown ? Omit<Record, "ms" | "at"> : never;
export type NewRecord = Undated<JournalRecord>;

export type Journal = ReturnType<typeof openJournal>;

/** @param now - The working time of the run so far. @param length - The end of the last whole line, where the file is truncated. */
export function openJournal(file: string, now: () => number, length: number) {
  let failure: CemError | undefined;
  /** The latest sync, and the next one while it waits for that. */
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const run = path.basename(path.dirname(file));
  const fail = (error: unknown): CemError =>
    (failure ??= unwritable("journal can't be written", error, { file, run }));

  let descriptor: number;
  try {
    descriptor = openForAppending(file);
    ftruncateSync(descriptor, length);
  } catch (error) {
    throw fail(error);
  }

  const syncAfter = async (before: Promise<void>): Promise<void> => {
    await before.catch(() => {});
    next = undefined;
    if (failure !== undefined) throw failure;
    await sync(descriptor).catch((error: unknown) => {
      throw fail(error);
    });
  };

  return {
    /** Appends a line, which survives the process. @throws CemError `WORKFLOW_RUN_UNWRITABLE` */
    append(record: NewRecord): JournalRecord {
      if (failure !== undefined) throw failure;
      const dated = { ms: Math.round(now()), at: new Date().toISOString(), ...record };
      const line = Buffer.from(`${JSON.stringify(dated)}\n`);
      try {
        for (let written = 0; written < line.length;)
          written += writeSync(descriptor, line, written, line.length - written);
        return dated;
      } catch (error) {
        throw fail(error);
      }
    },
    /** Resolves once all current lines are on disk, so that they survive a crash of the machine. Concurrent calls share the work. */
    flush: () => (next ??= last = syncAfter(last)),
    async close(): Promise<void> {
      await last.catch(() => {});
      closeSync(descriptor);
    },
  };
}

export function unwritable(what: string, cause: unknown, details: ErrorInfo["details"]): CemError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CemError("WORKFLOW_RUN_UNWRITABLE", `The run's ${what}: ${reason}.`, {
    details: { ...details, code: (cause as NodeJS.ErrnoException).code },
    cause,
  });
}

/** Reads a journal up to its last whole line. @returns where that ends, in bytes. @throws CemError `WORKFLOW_RUN_UNREADABLE` */
export async function readJournal(file: string, onRecord: (record: JournalRecord) => void): Promise<number> {
  let number = 0;
  let bytes = 0;
  const take = (line: Buffer): void => {
    number += 1;
    bytes += line.length + 1;
    const read = record.safeParse(isUtf8(line) ? parseJson(line.toString()) : undefined);
    if (!read.success)
      throw new CemError(
        "WORKFLOW_RUN_UNREADABLE",
        `Line ${number} of the run's journal ${file} is damaged, so it is not known which steps are done.`,
        { details: { file, line: number } },
      );
    onRecord(read.data);
  };
  // Unlike readline, it ends lines at line feeds only: JSON may contain other line separators.
  const split = createLineSplitter(Infinity, undefined, { bytes: -1, take });
  try {
    await using handle = await openHandle(file);
    for await (const chunk of handle.createReadStream({ autoClose: false })) split(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return bytes;
}
