import { RECORDED_STATUSES } from "@cem/core";
import * as z from "zod";

const MAX_LISTED_RUNS = 1_000;
const DEFAULT_LISTED_RUNS = 200;
const MAX_QUERY_CHARACTERS = 1_000;
const MAX_SEARCH_RESULTS = 50;

const text = z.string();
const count = z.int().min(0);
const ms = z.number().min(0);
const anything = z.unknown().meta({ description: "Any JSON value." });

export const ErrorAnswer = z
  .object({ error: z.object({ code: text, message: text }) })
  .meta({ id: "Error", description: "What happened, with a stable code." });

const RunStatus = z
  .enum(["waiting", "running", "asking", ...RECORDED_STATUSES])
  .meta({ description: "waiting: no worker has taken it yet. asking: it waits for a person's answer." });

const Redaction = z.object({ type: text, values: count }).meta({ id: "Redaction" });

export const RunSummary = z
  .object({
    id: text,
    kind: z.enum(["task", "code"]),
    title: text.meta({
      description: "The task; or the first line of the code that is neither an import nor a comment.",
    }),
    status: RunStatus,
    startedAt: z.iso.datetime(),
    ms: ms.optional().meta({ description: "How long it took. Absent while it runs." }),
    calls: count,
    printed: count.meta({ description: "Characters of output so far." }),
    questions: count,
    redacted: count.meta({ description: "Values that tokens stand for." }),
    tokensSaved: count.optional().meta({ description: "Tokens kept out of the model's context." }),
    isolation: z.enum(["microvm", "namespaces", "permissions"]).optional(),
    stage: text.optional().meta({ description: "What it is at. Absent once it has ended." }),
  })
  .meta({ id: "RunSummary" });

const Data = z
  .union([z.object({ value: anything }), z.object({ bytes: count, digest: text })])
  .meta({ id: "RecordedData", description: "The data, or its size where it is not kept." });
const ToolCall = z
  .object({
    server: text,
    tool: text,
    startMs: ms.optional().meta({ description: "When it began, from the start of the code." }),
    ms,
    status: z
      .enum(["success", "error", "cancelled"])
      .meta({ description: "cancelled: its run ended before it was answered." }),
    args: Data.optional(),
    result: Data.optional(),
  })
  .meta({ id: "ToolCall" });

const Question = z
  .object({
    id: text,
    server: text,
    message: text,
    mode: z.enum(["form", "url"]),
    schema: z.record(text, z.unknown()).optional().meta({ description: "JSON Schema of the answer." }),
    url: text.optional().meta({ description: "The page to open." }),
  })
  .meta({ id: "Question" });

export const RunDetails = RunSummary.extend({
  input: text,
  code: text.optional(),
  origin: z.enum(["rules", "llm", "given"]).optional(),
  stages: z.array(z.object({ stage: text, ms: ms.optional() })).meta({
    description: "Those that began, in order, with how long they took.",
  }),
  toolCalls: z.array(ToolCall),
  toolCallsLeftOut: count,
  findings: z.array(z.object({ rule: text, severity: text, message: text, line: count.optional() })),
  output: text,
  outputIsCut: z.boolean(),
  value: anything.optional(),
  valueIsLeftOut: z.boolean().meta({ description: "It is too large for here." }),
  error: z.object({ code: text, message: text }).optional(),
  sandbox: z.object({ name: text, level: text, mechanisms: z.array(text) }).optional(),
  context: z.object({ direct: count, used: count, saved: count, spent: count.optional() }).optional(),
  redactions: z.array(Redaction),
  notes: z.array(text),
  openQuestions: z.array(Question),
}).meta({ id: "Run" });

export const StartTask = z
  .object({ task: text.min(1) })
  .strict()
  .meta({ id: "StartTask" });
export const StartCode = z
  .object({ code: text.min(1) })
  .strict()
  .meta({ id: "StartCode" });
export const Started = z.object({ id: text, url: text }).meta({ id: "Started" });

export const Answer = z
  .discriminatedUnion("action", [
    z
      .object({
        action: z.literal("accept"),
        content: z.record(text, z.union([text, z.number(), z.boolean(), z.array(text)])).optional(),
      })
      .strict(),
    z.object({ action: z.literal("decline") }).strict(),
    z.object({ action: z.literal("cancel") }).strict(),
  ])
  .meta({ id: "Answer" });

const Tool = z
  .object({
    server: text,
    name: text,
    description: text,
    signature: text,
    module: text,
    readOnly: z.boolean(),
    unavailable: text.optional(),
    warnings: z.array(text),
  })
  .meta({ id: "Tool" });

export const Catalog = z
  .object({
    servers: z.array(
      z.object({
        name: text,
        description: text,
        kind: z.enum(["local", "skill", "host"]),
        tools: z.array(Tool),
      }),
    ),
    problems: z.array(z.object({ server: text, message: text })),
  })
  .meta({ id: "Catalog" });

export const SearchQuery = z.object({
  query: text.min(1).max(MAX_QUERY_CHARACTERS),
  limit: z.coerce.number().int().min(1).max(MAX_SEARCH_RESULTS).default(10),
});
export const Found = z
  .object({
    tools: z.array(z.object({ tool: Tool, score: z.number(), reason: text })),
    notes: z.array(text),
  })
  .meta({ id: "Found" });

export const StateQuery = z.object({
  file: text.optional().meta({ description: "A file in /workspace. Default: state.json." }),
});
export const State = z.object({ exists: z.boolean(), data: anything, version: text }).meta({ id: "State" });
export const SaveState = z
  .object({ data: z.record(text, z.unknown()), file: text.optional(), version: text.optional() })
  .strict()
  .meta({ id: "SaveState" });
export const SavedState = z
  .object({ file: text, version: text, merged: z.boolean().optional() })
  .meta({ id: "SavedState" });

const SkillFields = {
  name: text,
  description: text,
  status: z.enum(["active", "proposal"]),
  version: count,
  tools: z.array(text),
  changedTools: z.array(text),
};
export const SkillList = z
  .object({ skills: z.array(z.object(SkillFields).meta({ id: "SkillSummary" })) })
  .meta({ id: "SkillList" });
export const SkillDetails = z
  .object({ ...SkillFields, instructions: text, code: text, test: text })
  .meta({ id: "Skill" });

export const RunQuery = z.object({
  status: RunStatus.optional(),
  since: z.iso.datetime({ offset: true }).optional().meta({ description: "Those that began then or later." }),
  text: text.min(1).max(MAX_QUERY_CHARACTERS).optional().meta({ description: "A text in the task or code." }),
  limit: z.coerce.number().int().min(1).max(MAX_LISTED_RUNS).default(DEFAULT_LISTED_RUNS),
});
export const ActivityAnswer = z
  .object({
    minutes: z.array(
      z.object({
        at: z.iso.datetime(),
        runs: count.meta({ description: "Runs that ended." }),
        unsuccessful: count.meta({ description: "Those of them that did not succeed." }),
        tokensSaved: count,
        p50Ms: ms.optional(),
        p95Ms: ms.optional(),
        memoryMb: count.optional().meta({ description: "The most of the server's process." }),
      }),
    ),
  })
  .meta({ id: "Activity" });
export const RunList = z.object({ runs: z.array(RunSummary) }).meta({ id: "RunList" });
export const Done = z.object({ done: z.literal(true) }).meta({ id: "Done" });

export type RunSummary = z.infer<typeof RunSummary>;
export type ActivityAnswer = z.infer<typeof ActivityAnswer>;
export type RunDetails = z.infer<typeof RunDetails>;
export type Tool = z.infer<typeof Tool>;
export type Catalog = z.infer<typeof Catalog>;
export type Found = z.infer<typeof Found>;
export type State = z.infer<typeof State>;
export type SkillList = z.infer<typeof SkillList>;
export type SkillDetails = z.infer<typeof SkillDetails>;
