import {
  CemError,
  forClients,
  runTitle,
  statusOfCall,
  statusOfRun,
  toErrorInfo,
  tokenizeInTurns,
  type ElicitAnswer,
  type ErrorInfo,
  type Finding,
  type RedactionStream,
  type TaskResult,
  type ToolCallRecord,
} from "@cem/core";
import { faultOf } from "../runs/questions.ts";
import { describeWait, type Run, type RunFacts, type RunWatcher } from "../runs/run.ts";
import { RunSummary, type RunDetails } from "./schemas.ts";

/** Limit for the task or code, and for printed output. The rest is truncated, and the answer says so. */
const MAX_TEXT_CHARACTERS = 64 * 1024;
/** Limit for a run's value as JSON. A larger one is left out. */
const MAX_VALUE_CHARACTERS = 64 * 1024;
const MAX_KEPT_CALLS = 500;
/** A token that replaces personal data or a secret. */
const TOKEN =
  /\[\[([A-Z][A-Z\d_]{0,31}):[a-z2-7]{16}\]\]|(user)\.[a-z2-7]{16}@redacted\.invalid|(https):\/\/redacted\.invalid\/[a-z2-7]{16}/g;

/** A run without its derived counts. */
type Uncounted = Omit<RunDetails, "title" | "printed" | "questions" | "redacted" | "redactions">;

/** A run as shown in the console. All kept data is redacted in the same way as in the answers to the run's client. */
export interface RecordedRun extends RunWatcher {
  readonly id: string;
  readonly audience: string;
  readonly hasEnded: boolean;
  readonly summary: RunSummary;
  readonly details: RunDetails;
  /** @throws CemError `RUN_NOT_FOUND` if the run has no such question, `OPTION_INVALID` for an answer that does not fit it. */
  answer(question: string, answer: ElicitAnswer): Promise<void>;
  /** Cancels the run, unless it has ended. */
  end(): void;
}

/**
 * Begins to record a run.
 *
 * @param onChange - Called after the visible state of the run changed.
 * @param onEnded - Called once, when the run has ended.
 */
export function recordRun(
  run: Run,
  { input, audience, session, redactor }: RunFacts,
  onChange: (run: RecordedRun) => void,
  onEnded: (run: RecordedRun) => void,
): RecordedRun {
  const scope = { session };
  /** Cleared at the end, so that an ended run keeps no values of its session and no reference to its client. */
  let underWay: { run: Run; stream: RedactionStream | undefined } | undefined = {
    run,
    stream: redactor?.openStream(scope),
  };
  const begun = run.since.getTime();
  const seen: Uncounted = {
    id: run.id,
    kind: run.kind,
    startedAt: run.since.toISOString(),
    status: "running",
    input: "",
    inputIsCut: isCut(input),
    codeIsCut: false,
    stages: [],
    calls: 0,
    toolCalls: [],
    toolCallsLeftOut: 0,
    findings: [],
    output: "",
    outputIsCut: false,
    valueIsLeftOut: false,
    notes: [],
    openQuestions: [],
  };

  /** Replaces values by tokens, after names were recognized by a model if there is one. */
  async function hide<Data>(data: Data, how: { isCut?: boolean; isLate?: boolean } = {}): Promise<Data> {
    try {
      return redactor === undefined ? data : await tokenizeInTurns(redactor, data, { ...scope, ...how });
    } catch {
      // Data that can't be redacted is not shown.
      return (typeof data === "string" ? "" : Array.isArray(data) ? [] : {}) as Data;
    }
  }

  function time(ms: number): void {
    const stage = seen.stages.at(-1);
    if (stage !== undefined) stage.ms = ms;
  }

  function print(text: string): void {
    // Output that a model has to process is shown when the run has ended.
    if (underWay === undefined || redactor?.recognize !== undefined) return;
    if (seen.output.length >= MAX_TEXT_CHARACTERS) seen.outputIsCut = true;
    else seen.output = cut(seen.output + (underWay.stream?.push(text) ?? text));
  }

  function asked(): RunDetails["openQuestions"] {
    return [...(underWay?.run.questions.all ?? [])].flatMap(([id, question]) => {
      if (question.mode === "sample") return [];
      const { server, message, mode } = question;
      const more = mode === "url" ? { url: question.url } : { schema: question.requestedSchema };
      return [{ id, server, message, mode, ...more }];
    });
  }

  async function finish(result: TaskResult | undefined, thrown: unknown): Promise<void> {
    const last = underWay?.stream?.end() ?? "";
    underWay = undefined;
    const error = result === undefined ? toErrorInfo(thrown) : result.error;
    const value = result?.value ?? undefined;
    const output = result?.output ?? `${seen.output}${last}`;
    const code = result?.code ?? "";
    const isLarge = (JSON.stringify(value) ?? "").length > MAX_VALUE_CHARACTERS;
    const shown = await hide(
      {
        output: cut(output),
        notes: [...(result?.notes ?? []), ...(result?.warnings ?? [])],
        ...(value !== undefined && !isLarge && { value }),
        ...(result === undefined
          ? shownError(error)
          : endOf({ ...result, code: cut(code), codeIsWhole: !isCut(code) })),
      },
      { isLate: true, isCut: isCut(output) || isCut(code) },
    );
    Object.assign(seen, shown);
    seen.valueIsLeftOut = isLarge;
    seen.ms = Date.now() - begun;
    seen.status = statusOfRun(result, error);
    if (result !== undefined) {
      seen.outputIsCut = result.outputDroppedBytes > 0 || isCut(result.output);
      // Refused code and tools that ran in the guest have no events.
      seen.calls = result.toolCalls.length;
      seen.toolCalls = result.toolCalls.slice(0, MAX_KEPT_CALLS).map(callOf);
    }
    onEnded(recorded);
    onChange(recorded);
  }

  const recorded: RecordedRun = {
    id: run.id,
    audience,
    get hasEnded() {
      return seen.ms !== undefined;
    },
    get summary() {
      return RunSummary.parse(recorded.details);
    },
    get details() {
      const { calls, toolCalls, stages } = seen;
      const stage = recorded.hasEnded ? undefined : stages.at(-1)?.stage;
      const open = asked();
      return withCounts({
        ...seen,
        ...(stage !== undefined && { stage }),
        toolCallsLeftOut: calls - toolCalls.length,
        // For an ended session, this would begin a new one.
        openQuestions: (open.length > 0 ? redactor?.tokenize(open, scope) : undefined) ?? open,
      });
    },
    onEvent(event) {
      switch (event.type) {
        case "waiting":
          seen.status = "waiting";
          seen.stages.push({ stage: describeWait(event) });
          break;
        case "stage-started":
          if (seen.status === "waiting") {
            seen.status = "running";
            seen.stages.shift();
          }
          seen.stages.push({ stage: event.stage });
          break;
        case "generated":
          time(event.ms);
          seen.origin = event.origin;
          void hide(cut(event.code), { isCut: isCut(event.code) }).then((code) => {
            if (!recorded.hasEnded) Object.assign(seen, { code, codeIsCut: isCut(event.code) });
            return onChange(recorded);
          });
          break;
        case "discovered":
        case "selected":
        case "ran":
          time(event.ms);
          break;
        case "reviewed":
          time(event.ms);
          void hide(event.findings).then((findings) => {
            seen.findings = findings.map(findingOf);
            return onChange(recorded);
          });
          break;
        case "tool-called":
          seen.calls += 1;
          if (seen.toolCalls.length < MAX_KEPT_CALLS) seen.toolCalls.push(callOf(event.call));
          break;
        case "output":
          print(event.chunk.text);
          break;
        default:
          return;
      }
      onChange(recorded);
    },
    onQuestions() {
      if (underWay !== undefined) seen.status = underWay.run.questions.size > 0 ? "asking" : "running";
      onChange(recorded);
    },
    // Figures may be unavailable, such as memory if too many files are open.
    onEnd: (result, thrown) => void finish(result, thrown).catch(() => {}),
    async answer(id, answer) {
      const questions = underWay?.run.questions;
      const question = questions?.all.get(id);
      if (question === undefined || question.mode === "sample")
        throw new CemError("RUN_NOT_FOUND", "The run does not ask this question, or no longer.", {
          details: { run: seen.id, question: id },
        });
      const fault = await faultOf(answer, question);
      if (fault !== undefined)
        throw new CemError("OPTION_INVALID", `The answer does not fit its question: ${fault}.`);
      questions?.answer(new Map([[id, answer]]));
    },
    end: () => underWay?.run.end(new CemError("ABORTED", "The run was ended in the console.")),
  };
  void hide(cut(input), { isCut: isCut(input) }).then((shown) => {
    seen.input = shown;
    return onChange(recorded);
  });
  return recorded;
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS);
}

function isCut(text: string): boolean {
  return text.length > MAX_TEXT_CHARACTERS;
}

/** A call as shown in the console. */
export function callOf(call: Omit<ToolCallRecord, "args" | "result">): RunDetails["toolCalls"][number] {
  const { server, tool, startMs, ms } = call;
  return { server, tool, ms, status: statusOfCall(call), ...(startMs !== undefined && { startMs }) };
}

function findingOf({ rule, severity, message, line }: Finding): RunDetails["findings"][number] {
  return { rule, severity, message, ...(line !== undefined && { line }) };
}

/** Counts the distinct redacted values of each type. */
export function countRedactions(data: unknown): { type: string; values: number }[] {
  const tokens = new Map<string, string>();
  for (const [token, type, email] of (JSON.stringify(data) ?? "").matchAll(TOKEN))
    tokens.set(token, type ?? (email === undefined ? "URL" : "EMAIL"));
  const byType = Map.groupBy(tokens.values(), (type) => type);
  return [...byType]
    .map(([type, all]) => ({ type, values: all.length }))
    .toSorted((one, other) => one.type.localeCompare(other.type));
}

export function withCounts(run: Uncounted): RunDetails {
  const redactions = countRedactions(run);
  return {
    ...run,
    title: runTitle(run),
    printed: run.output.length,
    questions: run.openQuestions.length,
    redactions,
    redacted: redactions.reduce((sum, { values }) => sum + values, 0),
  };
}

type Ended = Pick<TaskResult, "code" | "origin" | "isolation" | "timings" | "contextTokens"> & {
  codeIsWhole: boolean;
  error: ShownError;
};
type ShownError = Pick<ErrorInfo, "code" | "message"> | null;

/** The end of a run as the API reports it, from its result or its record. */
export function endOf({ code, codeIsWhole, origin, error, isolation, timings, contextTokens }: Ended) {
  const { direct, used, saved, spent } = contextTokens;
  return {
    origin,
    ...(code !== "" && { code, codeIsCut: !codeIsWhole }),
    ...shownError(error),
    stages: Object.entries(timings)
      .filter(([stage]) => stage !== "total")
      .map(([stage, ms]) => ({ stage, ms })),
    tokensSaved: saved,
    context: { direct, used, saved, ...(spent !== undefined && { spent }) },
    ...(isolation !== null && {
      isolation: isolation.level,
      sandbox: { name: isolation.sandbox, level: isolation.level, mechanisms: [...isolation.mechanisms] },
    }),
  };
}

function shownError(error: ShownError) {
  return error === null ? {} : { error: forClients({ code: error.code, message: error.message }) };
}
