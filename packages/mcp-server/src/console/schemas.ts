import { RECORDED_STATUSES } from "@cem/core";
import * as z from "zod";

const MAX_LISTED_RUNS = 1_000;
const DEFAULT_LISTED_RUNS = 200;
const MAX_QUERY_CHARACTERS = 1_000;
const MAX_SEARCH_RESULTS = 50;

const text = z.string();
const count = z.int().min(0);
const ms = z.number().min(0);
const anything = z.unknown().describe("Any JSON value.");

/** An object that the API's document lists by its name. */
function named<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.object(shape).meta({ id });
}

/** The body of a request, without other members. */
function body<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.strictObject(shape).meta({ id });
}

export const ErrorAnswer = z
  .object({ error: z.object({ code: text, message: text }) })
  .meta({ id: "Error", description: "What happened, with a stable code." });

const RunStatus = z
  .enum(["waiting", "running", "asking", ...RECORDED_STATUSES])
  .describe(
    "waiting: no worker has taken it, or other runs of its client come first. asking: it waits for a person's answer.",
  );

const Redaction = named("Redaction", { type: text, values: count });

export const RunSummary = named("RunSummary", {
  id: text,
  kind: z.enum(["task", "code"]),
  title: text.describe("The task; or the first line of the code that is neither an import nor a comment."),
  status: RunStatus,
  startedAt: z.iso.datetime(),
  ms: ms.optional().describe("How long it took. Absent while it runs."),
  calls: count,
  printed: count.describe("Characters of output so far."),
  questions: count,
  redacted: count.describe("Values that tokens stand for."),
  tokensSaved: count.optional().describe("Tokens kept out of the model's context."),
  isolation: z.enum(["microvm", "namespaces", "permissions"]).optional(),
  stage: text.optional().describe("What it is at. Absent once it has ended."),
});

const Data = z
  .union([z.object({ value: anything }), z.object({ bytes: count, digest: text })])
  .meta({ id: "RecordedData", description: "The data, or its size where it is not kept." });
const ToolCall = named("ToolCall", {
  server: text,
  tool: text,
  startMs: ms.optional().describe("When it began, from the start of the code."),
  ms,
  status: z
    .enum(["success", "error", "cancelled"])
    .describe("cancelled: its run ended before it was answered."),
  args: Data.optional(),
  result: Data.optional(),
});

const Question = named("Question", {
  id: text,
  server: text,
  message: text,
  mode: z.enum(["form", "url"]),
  schema: z.record(text, z.unknown()).optional().describe("JSON Schema of the answer."),
  url: text.optional().describe("The page to open."),
});

export const RunDetails = RunSummary.extend({
  input: text,
  inputIsCut: z.boolean().describe("Only its beginning is kept."),
  code: text.optional(),
  codeIsCut: z.boolean(),
  origin: z.enum(["rules", "llm", "given"]).optional(),
  stages: z
    .array(z.object({ stage: text, ms: ms.optional() }))
    .describe("Those that began, in order, with how long they took."),
  toolCalls: z.array(ToolCall),
  toolCallsLeftOut: count,
  findings: z.array(z.object({ rule: text, severity: text, message: text, line: count.optional() })),
  output: text,
  outputIsCut: z.boolean(),
  value: anything.optional(),
  valueIsLeftOut: z.boolean().describe("It is too large for here."),
  error: z.object({ code: text, message: text }).optional(),
  sandbox: z.object({ name: text, level: text, mechanisms: z.array(text) }).optional(),
  context: z.object({ direct: count, used: count, saved: count, spent: count.optional() }).optional(),
  redactions: z.array(Redaction),
  notes: z.array(text),
  openQuestions: z.array(Question),
}).meta({ id: "Run" });

export const StartTask = body("StartTask", { task: text.min(1) });
export const StartCode = body("StartCode", { code: text.min(1) });
export const Started = named("Started", { id: text, url: text });

export const Answer = z
  .discriminatedUnion("action", [
    z.strictObject({
      action: z.literal("accept"),
      content: z.record(text, z.union([text, z.number(), z.boolean(), z.array(text)])).optional(),
    }),
    z.strictObject({ action: z.literal("decline") }),
    z.strictObject({ action: z.literal("cancel") }),
  ])
  .meta({ id: "Answer" });

const Tool = named("Tool", {
  server: text,
  name: text,
  description: text,
  signature: text,
  module: text,
  readOnly: z.boolean(),
  unavailable: text.optional(),
  warnings: z.array(text),
});

export const Catalog = named("Catalog", {
  servers: z.array(
    z.object({
      name: text,
      description: text,
      kind: z.enum(["local", "skill", "host"]),
      tools: z.array(Tool),
    }),
  ),
  problems: z.array(z.object({ server: text, message: text })),
});

export const SearchQuery = z.object({
  query: text.min(1).max(MAX_QUERY_CHARACTERS),
  limit: z.coerce.number().int().min(1).max(MAX_SEARCH_RESULTS).default(10),
});
export const Found = named("Found", {
  tools: z.array(z.object({ tool: Tool, score: z.number(), reason: text })),
  notes: z.array(text),
});

export const StateQuery = z.object({
  file: text.optional().describe("A file in /workspace. Default: state.json."),
});
export const State = named("State", { exists: z.boolean(), data: anything, version: text });
export const SaveState = body("SaveState", {
  data: z.record(text, z.unknown()),
  file: text.optional(),
  version: text.optional(),
});
export const SavedState = named("SavedState", { file: text, version: text, merged: z.boolean().optional() });

const SkillFields = {
  name: text,
  description: text,
  status: z.enum(["active", "proposal"]),
  version: count,
  tools: z.array(text),
  changedTools: z.array(text),
};
export const SkillList = named("SkillList", { skills: z.array(named("SkillSummary", SkillFields)) });
export const SkillDetails = named("Skill", { ...SkillFields, instructions: text, code: text, test: text });

export const RunQuery = z.object({
  status: RunStatus.optional(),
  since: z.iso.datetime({ offset: true }).optional().describe("Those that began then or later."),
  text: text.min(1).max(MAX_QUERY_CHARACTERS).optional().describe("A text in the task or code."),
  limit: z.coerce.number().int().min(1).max(MAX_LISTED_RUNS).default(DEFAULT_LISTED_RUNS),
});
export const ActivityAnswer = named("Activity", {
  minutes: z.array(
    z.object({
      at: z.iso.datetime(),
      runs: count.describe("Runs that ended."),
      unsuccessful: count.describe("Those of them that did not succeed."),
      tokensSaved: count,
      p50Ms: ms.optional(),
      p95Ms: ms.optional(),
      memoryMb: count.optional().describe("The most of the server's process."),
    }),
  ),
});
export const RunList = named("RunList", { runs: z.array(RunSummary) });
export const Done = named("Done", { done: z.literal(true) });

const absent = text.optional().describe("Why there is none here.");

const WorkflowSummary = named("WorkflowSummary", {
  name: text,
  description: text,
  version: text,
  steps: count,
  mcpTool: z.boolean(),
});
export const WorkflowList = named("WorkflowList", { workflows: z.array(WorkflowSummary), absent });

const DrawnStep = named("WorkflowStep", {
  depth: count.describe("How deep it stands."),
  group: count.describe("Steps of one group can run at once."),
  text,
  detail: text,
  after: z.array(text).describe("The steps that it waits for."),
});
export const WorkflowGraph = named("WorkflowGraph", { name: text, steps: z.array(DrawnStep) });

const WorkflowRunFields = {
  run: text,
  workflow: text,
  version: text,
  status: z.enum(["running", "success", "error", "timeout", "cancelled", "interrupted", "unreadable"]),
  startedAt: text,
  updatedAt: text,
  ms,
};
export const WorkflowRunList = named("WorkflowRunList", {
  runs: z.array(named("WorkflowRunSummary", WorkflowRunFields)),
});
export const WorkflowRun = named("WorkflowRun", {
  ...WorkflowRunFields,
  variables: anything,
  outputs: anything,
  error: z.object({ code: text, message: text }).nullable(),
  steps: z.array(
    z.object({
      step: text,
      status: z.enum(["running", "success", "error", "skipped"]),
      attempts: count,
      error: text.optional(),
    }),
  ),
  uncertain: z.array(text).describe("Steps that may have been executed; a resume asks."),
  canResume: z.boolean(),
});

const SessionFields = {
  id: text,
  startedAt: text,
  endedAt: text.nullable().describe("null while it goes on, and when its process was killed."),
};
export const SessionList = named("SessionList", {
  sessions: z.array(named("SessionSummary", { ...SessionFields, tasks: count, lastTask: text })),
  absent,
});
export const Session = named("Session", {
  ...SessionFields,
  recap: text.describe("The summary of the session for a model."),
  tasks: z.array(
    z.object({
      id: text,
      description: text,
      code: text,
      result: anything,
      output: text,
      at: text,
      error: text.nullable(),
    }),
  ),
});

const Quota = z.object({
  per: text,
  runs: count,
  maxRuns: count.optional(),
  seconds: ms,
  maxSeconds: ms.optional(),
  resetsInMs: ms.optional(),
});
export const CustomerList = named("CustomerList", {
  customers: z.array(
    named("Customer", { id: text, bytes: count, entries: count, lastUsed: text, quotas: z.array(Quota) }),
  ),
  absent,
});
export const Confirmation = body("Confirmation", { confirm: text.describe("The customer's id once more.") });

export const GuestCounts = named("Guests", {
  counts: z
    .object({
      running: count,
      waiting: count,
      standby: count,
      kept: count,
      taken: count,
      started: count,
      hits: count,
      reused: count,
      misses: count,
      lost: count,
      discarded: count,
    })
    .nullable()
    .describe("null before the first run, and where runs are executed elsewhere."),
  isolation: text.nullable().describe("That of the latest run."),
  mechanisms: z.array(text),
  memoryLimitMb: count.nullable().describe("What one guest may take."),
  since: text.describe("When the server's console began to count."),
});

export const QueueFigures = named("Queue", {
  now: z
    .object({
      workers: count,
      waiting: count,
      running: count,
      error: count.describe("Runs that no worker could execute."),
      oldestWaitMs: count,
      endedPerMinute: count,
    })
    .optional(),
  minutes: z
    .array(
      z.object({
        at: text,
        workers: count.optional(),
        oldestWaitMs: count.optional(),
        ended: count.optional(),
        error: count,
      }),
    )
    .describe("The last hour, as this server saw it."),
  runs: z
    .array(z.object({ id: text, customer: text.optional(), kind: text, reason: text, at: text }))
    .describe("The latest runs that no worker could execute."),
  absent,
});

export type RunSummary = z.infer<typeof RunSummary>;
export type ActivityAnswer = z.infer<typeof ActivityAnswer>;
export type RunDetails = z.infer<typeof RunDetails>;
export type Tool = z.infer<typeof Tool>;
export type Catalog = z.infer<typeof Catalog>;
export type Found = z.infer<typeof Found>;
export type State = z.infer<typeof State>;
export type SkillList = z.infer<typeof SkillList>;
export type SkillDetails = z.infer<typeof SkillDetails>;
export type WorkflowList = z.infer<typeof WorkflowList>;
export type WorkflowGraph = z.infer<typeof WorkflowGraph>;
export type WorkflowRunList = z.infer<typeof WorkflowRunList>;
export type WorkflowRun = z.infer<typeof WorkflowRun>;
export type SessionList = z.infer<typeof SessionList>;
export type Session = z.infer<typeof Session>;
export type CustomerList = z.infer<typeof CustomerList>;
export type GuestCounts = z.infer<typeof GuestCounts>;
export type QueueFigures = z.infer<typeof QueueFigures>;
