import { hash } from "node:crypto";
import {
  CemError,
  fromErrorInfo,
  Lazy,
  nobodyAsked,
  toErrorInfo,
  tokenizeInTurns,
  isRepeatable,
  type Agent,
  type Approve,
  type Elicit,
  type ExecuteOptions,
  type JsonObject,
  type JsonValue,
  type Redactor,
  type TaskResult,
  type ToolCallRecord,
  type WorkflowStepKind,
} from "@cem/core";
import type { Workflow } from "../definition/workflow.ts";
import type { Journal } from "../runs/journal.ts";
import type { Outcomes, WorkflowEvent } from "../runs/outcomes.ts";
import type { ToolNames } from "./call-code.ts";
import { RunInterrupted, toolErrorOf } from "./failures.ts";

/** Decisions of the user about steps that may have been executed, by their paths. */
export interface Decisions {
  repeat: ReadonlySet<string>;
  /** Steps that were executed, with their results. */
  done: ReadonlyMap<string, JsonValue>;
}

export interface RunParts {
  /** Returns the agent whose guardrails satisfy all of these. */
  agentFor: (guardrails: readonly JsonObject[]) => Promise<Agent>;
  redactor: Redactor | undefined;
  kinds: ReadonlyMap<string, WorkflowStepKind>;
  toolNames: ToolNames;
}

export interface ExecutionSettings extends RunParts {
  id: string;
  /** The session of its calls, with its own tokens. */
  session: string;
  folder: string;
  startedAt: string;
  parts: ReadonlyMap<string, Workflow>;
  journal: Journal;
  outcomes: Outcomes;
  decisions: Decisions;
  /** Aborts when the run is cancelled or times out. */
  signal: AbortSignal;
  emit: (event: WorkflowEvent) => void;
  onElicit: Elicit | undefined;
  onApprove: Approve | undefined;
}

/** The step that is being executed, with its clock and its guardrails. */
export interface StepAtWork {
  path: string;
  signal: AbortSignal;
  guardrails: readonly JsonObject[];
  /** Stops the clocks of the step and of all around it while a person is asked. */
  setWaiting: (waiting: boolean) => void;
}

/** One run under way: the access of its steps to the agent, the user and the journal. */
export type Execution = ReturnType<typeof createExecution>;

export function createExecution(settings: ExecutionSettings) {
  const { id, session, redactor, agentFor, emit, onElicit, onApprove, signal } = settings;
  const catalog = new Lazy(async () => (await agentFor([])).discoverTools({ signal }));

  /** Asks the user of the run; the waiting time does not count. */
  function asker(step: StepAtWork): Elicit {
    if (onElicit === undefined) return async () => nobodyAsked("the run has no user");
    return (request) => waiting(step, () => onElicit(request));
  }

  /** @throws CemError the reason why a program did not succeed, and whether it may have had effects that must not be repeated. */
  async function valueOf({ status, error, value, toolCalls }: TaskResult): Promise<JsonValue> {
    if (status === "success") return value;
    if (error === null) throw new CemError("UNEXPECTED", `The code ended with the status ${status}.`);
    const isUncertain = await hasActed(toolCalls, toolErrorOf(error) !== undefined);
    throw fromErrorInfo(isUncertain ? { ...error, details: { ...error.details, isUncertain } } : error);
  }

  /** @param isOfTool - Whether the program failed with the error of a call, which tells whether that call took effect. */
  async function hasActed(calls: readonly ToolCallRecord[], isOfTool: boolean): Promise<boolean> {
    const onHost = calls.filter(({ place }) => place !== "guest");
    if (onHost.length === 0) return false;
    // Without the tools' annotations, no call counts as repeatable.
    const found = await catalog.get().catch(() => undefined);
    const acting = onHost.filter(({ server, tool }) => {
      const tools = found?.servers.find(({ name }) => name === server)?.tools;
      return !isRepeatable(tools?.find(({ name }) => name === tool)?.annotations);
    });
    const failed = onHost.filter(({ ok }) => !ok);
    const isToldByError = isOfTool && failed.length === 1;
    return acting.some((call) => call.ok || !isToldByError);
  }

  async function waiting<Answer>(step: StepAtWork, ask: () => Promise<Answer>): Promise<Answer> {
    step.setWaiting(true);
    try {
      return await ask();
    } finally {
      step.setWaiting(false);
    }
  }

  return {
    settings,
    catalog,
    /** Runs a program with an agent. @throws CemError the reason why it did not succeed. */
    async run(code: string, step: StepAtWork, typeCheck?: ExecuteOptions["typeCheck"]): Promise<JsonValue> {
      const agent = await agentFor(step.guardrails);
      const result = await agent.executeCode(code, {
        signal: step.signal,
        session,
        typeCheck,
        onElicit: asker(step),
        onApprove: onApprove && ((request) => waiting(step, () => onApprove(request))),
        onEvent: (event) => {
          if (event.type === "tool-progressed")
            emit({ type: "step-progressed", step: step.path, progress: event.progress });
        },
      });
      return valueOf(result);
    },
    asker,
    /** Puts tokens in place of personal values. @throws RunInterrupted if these can't be persisted: nobody could resolve the tokens. */
    async tokenize<Data>(data: Data): Promise<Data> {
      return tokenizeFor(redactor, data, session).catch((error: unknown) => {
        throw new RunInterrupted(toErrorInfo(error));
      });
    },
    async detokenize(data: JsonValue, target: { server: string; tool: string }, step: StepAtWork) {
      if (redactor === undefined) return data;
      return redactor.detokenize(data, { ...target, session, elicit: asker(step), signal: step.signal });
    },
    /** The same for each attempt of a step, and unique to the run and step. */
    idempotencyKey(path: string): string {
      return hash("sha256", `${id}\n${path}`).slice(0, 32);
    },
  };
}

/** Replaces personal values by tokens, if there is a redactor. The values are persisted before the tokens are written. */
export async function tokenizeFor<Data>(redactor: Redactor | undefined, data: Data, session: string) {
  if (redactor === undefined) return data;
  const shown = await tokenizeInTurns(redactor, data, { session });
  await redactor.persist?.(session);
  return shown;
}
