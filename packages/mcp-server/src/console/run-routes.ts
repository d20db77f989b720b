import { CemError, type RecordedCall, type RunRecord, type RunRecordSummary } from "@cem/core";
import * as z from "zod";
import { declareRoute, type ApiScope } from "./api-route.ts";
import { callOf, countRedactions, endOf, withCounts } from "./recorded-run.ts";
import { streamRuns } from "./run-board.ts";
import * as schemas from "./schemas.ts";

const RunId = z.object({ id: z.string() });
const QuestionId = z.object({ id: z.string(), question: z.string() });
const UNDER_WAY: ReadonlySet<string> = new Set(["waiting", "running", "asking"]);

export const RUN_ROUTES = [
  declareRoute("POST /tasks", {
    operationId: "startTask",
    summary: "Start a task in words, which goes on by itself",
    input: { body: schemas.StartTask },
    status: 202,
    answer: schemas.Started,
    handle: ({ body }, { client }) => started(client.launch("task", body.task)),
  }),
  declareRoute("POST /runs", {
    operationId: "startCode",
    summary: "Start code, which goes on by itself",
    input: { body: schemas.StartCode },
    status: 202,
    answer: schemas.Started,
    handle: ({ body }, { client }) => started(client.launch("code", body.code)),
  }),
  declareRoute("GET /runs", {
    operationId: "listRuns",
    summary: "List runs, also recorded ones of other processes, the latest first",
    input: { query: schemas.RunQuery },
    answer: schemas.RunList,
    handle: async ({ query }, scope) => ({ runs: await listRuns(scope, query) }),
  }),
  declareRoute("GET /runs/{id}", {
    operationId: "getRun",
    summary: "Read a run",
    input: { params: RunId },
    answer: schemas.RunDetails,
    handle: ({ params }, scope) => readRun(scope, params.id),
  }),
  declareRoute("POST /runs/{id}/end", {
    operationId: "endRun",
    summary: "End a run under way",
    input: { params: RunId },
    answer: schemas.Done,
    handle({ params }, { board, client }) {
      board.get(params.id, client.audience).end();
      return { done: true as const };
    },
  }),
  declareRoute("POST /runs/{id}/questions/{question}", {
    operationId: "answerQuestion",
    summary: "Answer a question of a run, such as an approval",
    input: { params: QuestionId, body: schemas.Answer },
    answer: schemas.Done,
    async handle({ params, body }, { board, client }) {
      await board.get(params.id, client.audience).answer(params.question, body);
      return { done: true as const };
    },
  }),
  declareRoute("GET /activity", {
    operationId: "readActivity",
    summary: "Read the figures of the runs of the last hour, by the minute",
    answer: schemas.ActivityAnswer,
    handle: (_, { board, client }) => ({ minutes: board.activityOf(client.audience).lastHour() }),
  }),
  declareRoute("GET /events", {
    operationId: "followRuns",
    summary: "Follow runs as they change: server-sent events named run, each with a RunSummary",
    answer: z.string(),
    type: "text/event-stream",
    handle: (_, { board, client }, signal) => streamRuns(board, client.audience, signal),
  }),
];

function started({ id }: { id: string }): z.infer<typeof schemas.Started> {
  return { id, url: `api/v1/runs/${id}` };
}

/** The runs that a client may see, latest first: those followed here, and records of others. */
async function listRuns(
  { board, client, parts }: ApiScope,
  { status, since, text, limit }: z.output<typeof schemas.RunQuery>,
): Promise<schemas.RunSummary[]> {
  const from = since === undefined ? undefined : new Date(since);
  const here = board
    .list(client.audience)
    .filter((run) => text === undefined || run.details.input.toLowerCase().includes(text.toLowerCase()))
    .map(({ summary }) => summary)
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => from === undefined || new Date(run.startedAt) >= from);
  const filter = { since: from, text, limit, owner: parts.owner };
  const isRecorded = status === undefined || !UNDER_WAY.has(status);
  const kept =
    isRecorded && parts.records !== undefined
      ? await parts.records.list({ ...filter, status: status as RunRecordSummary["status"] | undefined })
      : [];
  const listed = new Set(here.map(({ id }) => id));
  const others = kept.filter(({ id }) => !listed.has(id)).map(toSummary);
  return [...here, ...others]
    .toSorted((one, other) => other.startedAt.localeCompare(one.startedAt))
    .slice(0, limit);
}

/** A run that is followed here or recorded. @throws CemError `RUN_NOT_FOUND` */
async function readRun({ board, client, parts }: ApiScope, id: string): Promise<schemas.RunDetails> {
  const followed = board.find(id, client.audience);
  if (followed !== undefined && !followed.hasEnded) return followed.details;
  const record = await parts.records?.read(id, parts.owner).catch((error: unknown) => {
    if (CemError.isInstance(error) && error.code === "RUN_NOT_FOUND") return undefined;
    throw error;
  });
  if (followed === undefined)
    return record === undefined ? board.get(id, client.audience).details : toDetails(record);
  // Arguments and results of calls are in the record only.
  const details = followed.details;
  return record === undefined
    ? details
    : { ...details, toolCalls: record.calls.map(withData), toolCallsLeftOut: record.callsLeftOut };
}

function withData(call: RecordedCall): schemas.RunDetails["toolCalls"][number] {
  const { args, result } = call;
  return { ...callOf(call), ...(args !== undefined && { args }), ...(result !== undefined && { result }) };
}

function toSummary(record: RunRecordSummary): schemas.RunSummary {
  const { workspaceOwner: _, owner: _owner, isolation, ...shown } = record;
  const level = isolation as schemas.RunSummary["isolation"];
  return {
    ...shown,
    printed: 0,
    questions: 0,
    redacted: countRedactions(record.title).reduce((sum, { values }) => sum + values, 0),
    ...(level !== undefined && { isolation: level }),
  };
}

function toDetails(record: RunRecord): schemas.RunDetails {
  const { id, kind, status, startedAt, ms, input, value } = record;
  const { calls, callsLeftOut, output, outputIsCut, notes } = record;
  return withCounts({
    id,
    kind,
    status,
    startedAt,
    ms,
    input,
    inputIsCut: !record.inputIsWhole,
    codeIsCut: false,
    ...endOf(record),
    calls: calls.length + callsLeftOut,
    toolCalls: calls.map(withData),
    toolCallsLeftOut: callsLeftOut,
    findings: [],
    output,
    outputIsCut,
    ...(value !== undefined && "value" in value && value.value !== null && { value: value.value }),
    valueIsLeftOut: value !== undefined && !("value" in value),
    notes,
    openQuestions: [],
  });
}
