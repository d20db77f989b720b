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
  CatalogSnapshot,
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

/** Settings that all steps of a run share. */
export interface ExecutionSettings {
  id: string;
  /** The session of its calls, whose tokens are its own. */
  session: string;
  folder: string;
  startedAt: string;
  /** Gives the agent whose guardrails are as tight as all of these want it. */
  agentFor: (guardrails: readonly JsonObject[]) => Promise<Agent>;
  redactor: Redactor | undefined;
  kinds: ReadonlyMap<string, WorkflowStepKind>;
  parts: ReadonlyMap<string, Workflow>;
  toolNames: ToolNames;
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
export class Execution {
  readonly settings: ExecutionSettings;
  readonly #catalog: Lazy<CatalogSnapshot>;

  constructor(settings: ExecutionSettings) {
    this.settings = settings;
    this.#catalog = new Lazy(async () => {
      const agent = await settings.agentFor([]);
      return agent.discoverTools({ signal: settings.signal });
    });
  }

  catalog(): Promise<CatalogSnapshot> {
    return this.#catalog.get();
  }

  /** Runs a program with an agent. @throws CemError why it did not succeed. */
  async run(code: string, step: StepAtWork, typeCheck?: ExecuteOptions["typeCheck"]): Promise<JsonValue> {
    const agent = await this.settings.agentFor(step.guardrails);
    const { onApprove, emit } = this.settings;
    const result = await agent.executeCode(code, {
      signal: step.signal,
      session: this.settings.session,
      typeCheck,
      onElicit: this.asker(step),
      onApprove: onApprove && ((request) => this.#waiting(step, () => onApprove(request))),
      onEvent: (event) => {
        if (event.type === "tool-progressed")
          emit({ type: "step-progressed", step: step.path, progress: event.progress });
      },
    });
    return this.#valueOf(result);
  }

  /** Asks the user of the run, whose time does not count. */
  asker(step: StepAtWork): Elicit {
    const { onElicit } = this.settings;
    if (onElicit === undefined) return async () => nobodyAsked("the run has no user");
    return (request) => this.#waiting(step, () => onElicit(request));
  }

  /**
   * Puts tokens in the place of personal values.
   *
   * @throws RunInterrupted where the values can't be kept: nothing is written down that nobody could open.
   */
  async tokenize<Data>(data: Data): Promise<Data> {
    return tokenizeFor(this.settings.redactor, data, this.settings.session).catch((error: unknown) => {
      throw new RunInterrupted(toErrorInfo(error));
    });
  }

  async detokenize(
    data: JsonValue,
    target: { server: string; tool: string },
    step: StepAtWork,
  ): Promise<JsonValue> {
    const { redactor, session } = this.settings;
    if (redactor === undefined) return data;
    return redactor.detokenize(data, { ...target, session, elicit: this.asker(step), signal: step.signal });
  }

  /** The same for each attempt of a step, of the run and of nothing else. */
  idempotencyKey(path: string): string {
    return createHash("sha256").update(`${this.settings.id}\n${path}`).digest("hex").slice(0, 32);
  }

  /** @throws CemError why a program did not succeed, and whether it may have done what is not to be done twice. */
  async #valueOf({ status, error, value, toolCalls }: TaskResult): Promise<JsonValue> {
    if (status === "success") return value;
    if (error === null) throw new CemError("UNEXPECTED", `The code ended with the status ${status}.`);
    const isUncertain = await this.#hasActed(toolCalls, toolErrorOf(error) !== undefined);
    throw fromErrorInfo(isUncertain ? { ...error, details: { ...error.details, isUncertain } } : error);
  }

  /** @param isOfTool - Whether the program failed by the error of a call, which tells whether that call did its work. */
  async #hasActed(calls: readonly ToolCallRecord[], isOfTool: boolean): Promise<boolean> {
    const onHost = calls.filter(({ place }) => place !== "guest");
    if (onHost.length === 0) return false;
    // Without what the authors of the tools say, none can be called again without harm.
    const found = await this.catalog().catch(() => undefined);
    const acting = onHost.filter(({ server, tool }) => {
      const tools = found?.servers.find(({ name }) => name === server)?.tools;
      return !isRepeatable(tools?.find(({ name }) => name === tool)?.annotations);
    });
    const failed = onHost.filter(({ ok }) => !ok);
    const isToldByError = isOfTool && failed.length === 1;
    return acting.some((call) => call.ok || !isToldByError);
  }

  async #waiting<Answer>(step: StepAtWork, ask: () => Promise<Answer>): Promise<Answer> {
    step.setWaiting(true);
    try {
      return await ask();
    } finally {
      step.setWaiting(false);
    }
  }
}

/** Puts tokens in the place of personal values, where there is a redactor. These are kept before the tokens are written down. */
export async function tokenizeFor<Data>(
  redactor: Redactor | undefined,
  data: Data,
  session: string,
): Promise<Data> {
  if (redactor === undefined) return data;
  const shown = await tokenizeInTurns(redactor, data, { session });
  await redactor.persist?.(session);
  return shown;
}
