import { createHash } from "node:crypto";
import {
  CemError,
  fromErrorInfo,
  Lazy,
  nobodyAsked,
  toErrorInfo,
  tokenizeInTurns,
  isRepeatable,
} from "@cem/core";
import type {
  Agent,
  Approve,
  Elicit,
  ExecuteOptions,
  JsonObject,
  JsonValue,
  Redactor,
  TaskResult,
  ToolCallRecord,
  WorkflowStepKind,
} from "@cem/core";
import type { Workflow } from "../definition/workflow.ts";
import type { Journal } from "../runs/journal.ts";
import type { Outcomes, WorkflowEvent } from "../runs/outcomes.ts";
import type { ToolNames } from "./call-code.ts";
import { RunInterrupted, toolErrorOf } from "./failures.ts";

/** Decisions of the user about steps that may have been executed, by their paths. */
export interface Decisions {
  repeat: ReadonlySet<string>;
  /** With their results. */
  done: ReadonlyMap<string, JsonValue>;
}

/** The parts that runs share. */
export interface RunParts {
  /** Gives the agent whose guardrails are as tight as all of these want it. */
  agentFor: (guardrails: readonly JsonObject[]) => Promise<Agent>;
  redactor: Redactor | undefined;
  kinds: ReadonlyMap<string, WorkflowStepKind>;
  toolNames: ToolNames;
}

/** Settings that all steps of a run share. */
export interface ExecutionSettings extends RunParts {
  id: string;
  /** The session of its calls, whose tokens are its own. */
  session: string;
  folder: string;
  startedAt: string;
  parts: ReadonlyMap<string, Workflow>;
  journal: Journal;
  outcomes: Outcomes;
  decisions: Decisions;
  /** Aborts when the run is cancelled or its time is over. */
  signal: AbortSignal;
  emit: (event: WorkflowEvent) => void;
  onElicit: Elicit | undefined;
  onApprove: Approve | undefined;
}

/** The step that is being executed, with its time and its guardrails. */
export interface StepAtWork {
  path: string;
  signal: AbortSignal;
  guardrails: readonly JsonObject[];
  /** Stops the clocks of the step and of all around it while a person is asked. */
  setWaiting: (waiting: boolean) => void;
}

/** One run under way: how its steps reach the agent, the user and the journal. */
export type Execution = ReturnType<typeof createExecution>;

export function createExecution(settings: ExecutionSettings) {
  const { id, session, redactor, agentFor, emit, onElicit, onApprove, signal } = settings;
  const catalog = new Lazy(async () => (await agentFor([])).discoverTools({ signal }));

  /** Asks the user of the run, whose time does not count. */
  function asker(step: StepAtWork): Elicit {
    if (onElicit === undefined) return async () => nobodyAsked("the run has no user");
    return (request) => waiting(step, () => onElicit(request));
  }

  /** @throws CemError why a program did not succeed, and whether it may have done what is not to be done twice. */
  async function valueOf({ status, error, value, toolCalls }: TaskResult): Promise<JsonValue> {
    if (status === "success") return value;
    if (error === null) throw new CemError("UNEXPECTED", `The code ended with the status ${status}.`);
    const isUncertain = await hasActed(toolCalls, toolErrorOf(error) !== undefined);
    throw fromErrorInfo(isUncertain ? { ...error, details: { ...error.details, isUncertain } } : error);
  }

  /** @param isOfTool - Whether the program failed by the error of a call, which tells whether that call did its work. */
  async function hasActed(calls: readonly ToolCallRecord[], isOfTool: boolean): Promise<boolean> {
    const onHost = calls.filter(({ place }) => place !== "guest");
    if (onHost.length === 0) return false;
    // Without what the authors of the tools say, none can be called again without harm.
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
    /** Runs a program with an agent. @throws CemError why it did not succeed. */
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
    /**
     * Puts tokens in the place of personal values.
     *
     * @throws RunInterrupted where the values can't be kept: nothing is written down that nobody could open.
     */
    async tokenize<Data>(data: Data): Promise<Data> {
      return tokenizeFor(redactor, data, session).catch((error: unknown) => {
        throw new RunInterrupted(toErrorInfo(error));
      });
    },
    async detokenize(data: JsonValue, target: { server: string; tool: string }, step: StepAtWork) {
      if (redactor === undefined) return data;
      return redactor.detokenize(data, { ...target, session, elicit: asker(step), signal: step.signal });
    },
    /** The same for each attempt of a step, of the run and of nothing else. */
    idempotencyKey(path: string): string {
      return createHash("sha256").update(`${id}\n${path}`).digest("hex").slice(0, 32);
    },
  };
}

/** Puts tokens in the place of personal values, where there is a redactor. These are kept before the tokens are written down. */
export async function tokenizeFor<Data>(redactor: Redactor | undefined, data: Data, session: string) {
  if (redactor === undefined) return data;
  const shown = await tokenizeInTurns(redactor, data, { session });
  await redactor.persist?.(session);
  return shown;
}
