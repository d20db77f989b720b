import { CemError } from "@cem/core";
import type { RecordedStatus, RunRecord, RunRecordSummary } from "@cem/core";
import type * as z from "zod";
import type { ApiScope } from "./api-route.ts";
import { countRedactions } from "./redactions.ts";
import type { RunDetails, RunQuery, RunSummary } from "./schemas.ts";
import { shownIsolation } from "./shown-isolation.ts";

const UNDER_WAY: ReadonlySet<string> = new Set(["running", "asking"]);

/** The runs that a client may see, those that began last first: those that are followed here, and records of others. */
export async function listRuns(
  { board, client, parts }: ApiScope,
  { status, since, text, limit }: z.output<typeof RunQuery>,
): Promise<RunSummary[]> {
  const from = since === undefined ? undefined : new Date(since);
  const here = board
    .list(client.audience)
    .map(({ summary }) => summary)
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => from === undefined || new Date(run.startedAt) >= from)
    .filter((run) => text === undefined || run.title.toLowerCase().includes(text.toLowerCase()));
  const filter = { since: from, text, limit, owner: parts.owner };
  const isRecorded = status === undefined || !UNDER_WAY.has(status);
  const kept =
    isRecorded && parts.records !== undefined
      ? await parts.records.list({ ...filter, status: status as RecordedStatus | undefined })
      : [];
  const listed = new Set(here.map(({ id }) => id));
  const others = kept.filter(({ id }) => !listed.has(id)).map(toSummary);
  return [...here, ...others]
    .toSorted((one, other) => other.startedAt.localeCompare(one.startedAt))
    .slice(0, limit);
}

/** A run that is followed here, or that is recorded. @throws CemError `RUN_NOT_FOUND` */
export async function readRun({ board, client, parts }: ApiScope, id: string): Promise<RunDetails> {
  const followed = board.find(id, client.audience);
  if (followed !== undefined && !followed.hasEnded) return followed.details;
  const record = await parts.records?.read(id, parts.owner).catch((error: unknown) => {
    if (CemError.isInstance(error) && error.code === "RUN_NOT_FOUND") return undefined;
    throw error;
  });
  if (followed === undefined)
    return record === undefined ? board.get(id, client.audience).details : toDetails(record);
  // What calls were given and answered is in the record only.
  const details = followed.details;
  return record === undefined
    ? details
    : { ...details, toolCalls: record.calls, toolCallsLeftOut: record.callsLeftOut };
}

function toSummary(record: RunRecordSummary): RunSummary {
  const { id, kind, title, status, startedAt, ms, calls, tokensSaved, isolation } = record;
  const level = isolation as RunSummary["isolation"];
  return {
    id,
    kind,
    title,
    status,
    startedAt,
    ms,
    calls,
    questions: 0,
    redacted: countRedactions(title).reduce((sum, { values }) => sum + values, 0),
    tokensSaved,
    ...(level !== undefined && { isolation: level }),
  };
}

function toDetails(record: RunRecord): RunDetails {
  const { id, kind, status, startedAt, ms, input, code, origin, value, isolation } = record;
  const { calls, callsLeftOut, output, outputIsCut, error, contextTokens, timings, notes } = record;
  const redactions = countRedactions({ input, code, output, value, calls, error });
  return {
    id,
    kind,
    status,
    startedAt,
    ms,
    title: input.trim().slice(0, 200),
    calls: calls.length + callsLeftOut,
    questions: 0,
    redacted: redactions.reduce((sum, { values }) => sum + values, 0),
    tokensSaved: contextTokens.saved,
    input,
    ...(code !== "" && { code }),
    origin,
    stages: Object.entries(timings)
      .filter(([stage]) => stage !== "total")
      .map(([stage, took]) => ({ stage, ms: took })),
    toolCalls: calls,
    toolCallsLeftOut: callsLeftOut,
    findings: [],
    output,
    outputIsCut,
    ...(value !== undefined && "value" in value && value.value !== null && { value: value.value }),
    valueIsLeftOut: value !== undefined && !("value" in value),
    ...(error !== null && { error }),
    ...shownIsolation(isolation),
    context: { direct: contextTokens.direct, used: contextTokens.used, saved: contextTokens.saved },
    redactions,
    notes,
    openQuestions: [],
  };
}
