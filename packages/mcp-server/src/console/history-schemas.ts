import * as z from "zod";

const text = z.string();
const count = z.int().min(0);
const anything = z.unknown().meta({ description: "Any JSON value." });
const NOT_HERE = "Why there is none here.";

const WorkflowSummary = z
  .object({ name: text, description: text, version: text, steps: count, mcpTool: z.boolean() })
  .meta({ id: "WorkflowSummary" });
export const WorkflowList = z
  .object({ workflows: z.array(WorkflowSummary), absent: text.optional().meta({ description: NOT_HERE }) })
  .meta({ id: "WorkflowList" });

const DrawnStep = z
  .object({
    depth: count.meta({ description: "How deep it stands." }),
    group: count.meta({ description: "Steps of one group can run at once." }),
    text,
    detail: text,
    after: z.array(text).meta({ description: "The steps that it waits for." }),
  })
  .meta({ id: "WorkflowStep" });
export const WorkflowGraph = z
  .object({ name: text, steps: z.array(DrawnStep) })
  .meta({ id: "WorkflowGraph" });

const WorkflowRunFields = {
  run: text,
  workflow: text,
  version: text,
  status: z.enum(["running", "success", "error", "timeout", "cancelled", "interrupted", "unreadable"]),
  startedAt: text,
  updatedAt: text,
  ms: z.number().min(0),
};
export const WorkflowRunList = z
  .object({ runs: z.array(z.object(WorkflowRunFields).meta({ id: "WorkflowRunSummary" })) })
  .meta({ id: "WorkflowRunList" });
export const WorkflowRun = z
  .object({
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
    uncertain: z.array(text).meta({ description: "Steps that may have been executed; a resume asks." }),
    canResume: z.boolean(),
  })
  .meta({ id: "WorkflowRun" });

const SessionFields = {
  id: text,
  startedAt: text,
  endedAt: text.nullable().meta({ description: "null while it goes on, and when its process was killed." }),
};
export const SessionList = z
  .object({
    sessions: z.array(
      z.object({ ...SessionFields, tasks: count, lastTask: text }).meta({ id: "SessionSummary" }),
    ),
    absent: text.optional().meta({ description: NOT_HERE }),
  })
  .meta({ id: "SessionList" });
export const Session = z
  .object({
    ...SessionFields,
    recap: text.meta({ description: "The summary of the session for a model." }),
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
  })
  .meta({ id: "Session" });

const Quota = z.object({
  per: text,
  runs: count,
  maxRuns: count.optional(),
  seconds: z.number().min(0),
  maxSeconds: z.number().min(0).optional(),
  resetsInMs: z.number().min(0).optional(),
});
export const CustomerList = z
  .object({
    customers: z.array(
      z
        .object({ id: text, bytes: count, entries: count, lastUsed: text, quotas: z.array(Quota) })
        .meta({ id: "Customer" }),
    ),
    absent: text.optional().meta({ description: NOT_HERE }),
  })
  .meta({ id: "CustomerList" });
export const Confirmation = z
  .object({ confirm: text.meta({ description: "The customer's id once more." }) })
  .strict()
  .meta({ id: "Confirmation" });

export const GuestCounts = z
  .object({
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
      .meta({ description: "null before the first run, and where runs are executed elsewhere." }),
    isolation: text.nullable().meta({ description: "That of the latest run." }),
    mechanisms: z.array(text),
    memoryLimitMb: count.nullable().meta({ description: "What one guest may take." }),
    since: text.meta({ description: "When the server's console began to count." }),
  })
  .meta({ id: "Guests" });

export const QueueFigures = z
  .object({
    now: z
      .object({
        workers: count,
        waiting: count,
        running: count,
        error: count.meta({ description: "Runs that no worker could execute." }),
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
      .meta({ description: "The last hour, as this server saw it." }),
    runs: z
      .array(z.object({ id: text, customer: text.optional(), kind: text, reason: text, at: text }))
      .meta({ description: "The latest runs that no worker could execute." }),
    absent: text.optional().meta({ description: NOT_HERE }),
  })
  .meta({ id: "Queue" });

export type WorkflowList = z.infer<typeof WorkflowList>;
export type WorkflowGraph = z.infer<typeof WorkflowGraph>;
export type WorkflowRunList = z.infer<typeof WorkflowRunList>;
export type WorkflowRun = z.infer<typeof WorkflowRun>;
export type SessionList = z.infer<typeof SessionList>;
export type Session = z.infer<typeof Session>;
export type CustomerList = z.infer<typeof CustomerList>;
export type GuestCounts = z.infer<typeof GuestCounts>;
export type QueueFigures = z.infer<typeof QueueFigures>;
