import { CemError, toErrorInfo } from "@cem/core";
import type {
  AgentEvent,
  CatalogSnapshot,
  ExecuteOptions,
  RankedTool,
  RunOutcome,
  RunRequest,
  Sandbox,
  SelectedTool,
  Selection,
  Stage,
  TaskResult,
  ToolDefinition,
} from "@cem/core";
import type { AgentSettings } from "./agent.ts";
import { contextTokens } from "./context-tokens.ts";
import type { DefinitionTokens, TokenCounter } from "./context-tokens.ts";
import { endingOf } from "./outcome.ts";
import type { Ending } from "./outcome.ts";
import { refusedGeneration, refusedReview } from "./refusals.ts";

interface TaskRunContext {
  stages: AgentSettings;
  sandbox: () => Promise<Sandbox>;
  countTokens: () => Promise<TokenCounter>;
  definitionTokens: DefinitionTokens;
  options: ExecuteOptions;
  signal: AbortSignal;
}

/** One task or program on its way through the stages. Used once. */
export class TaskRun {
  readonly #context: TaskRunContext;
  readonly #started = performance.now();
  readonly #timings: TaskResult["timings"] = {};
  #catalog: CatalogSnapshot = { servers: [], problems: [], version: "" };
  #selected: SelectedTool[] = [];
  #code = "";
  #origin: TaskResult["origin"] = "rules";
  #outcome: RunOutcome | undefined;

  constructor(context: TaskRunContext) {
    this.#context = context;
  }

  async task(task: string): Promise<TaskResult> {
    return this.#finish(async () => {
      this.#warmUp();
      const tools = await this.#discover();
      const selection = await this.#select(task, tools);
      const refusal = await this.#generate(task, selection);
      return refusal ?? (await this.#reviewAndRun(tools));
    });
  }

  async code(code: string): Promise<TaskResult> {
    this.#code = code;
    this.#origin = "given";
    return this.#finish(async () => {
      this.#warmUp();
      const tools = await this.#discover();
      return this.#reviewAndRun(tools);
    });
  }

  /** The sandbox starts while the code is being written; if that fails, the stage that needs it says so. */
  #warmUp(): void {
    this.#context.sandbox().catch(() => {});
    this.#context.countTokens().catch(() => {});
  }

  async #discover(): Promise<ToolDefinition[]> {
    const { signal, stages } = this.#context;
    this.#catalog = await this.#stage("discover", () => stages.catalog.list({ signal }));
    const { servers, problems } = this.#catalog;
    const tools = servers.flatMap((server) => server.tools);
    const skills = servers.filter(({ kind }) => kind === "skill").length;
    this.#emit({
      type: "discovered",
      servers: servers.length - skills,
      tools: tools.filter(({ kind }) => kind !== "skill").length,
      skills,
      problems: problems.length,
      ms: this.#ms("discover"),
    });
    return tools;
  }

  async #select(task: string, tools: ToolDefinition[]): Promise<Selection> {
    const { signal, stages } = this.#context;
    const selection = await this.#stage("select", () => stages.selector.select({ task, tools, signal }));
    this.#selected = selection.selected.map(asSelectedTool);
    this.#emit({ type: "selected", tools: this.#selected, available: tools.length, ms: this.#ms("select") });
    return selection;
  }

  async #generate(task: string, selection: Selection): Promise<Ending | undefined> {
    const { signal, stages } = this.#context;
    const tools = selection.selected.map(({ tool }) => tool);
    const generated = await this.#stage("generate", () => stages.generator.generate({ task, tools, signal }));
    if (generated.status === "refused") {
      const nearest = [...selection.selected, ...selection.nearest];
      this.#emit({
        type: "generation-refused",
        steps: generated.steps,
        nearest: nearest.map(asSelectedTool),
        ms: this.#ms("generate"),
      });
      return refusedGeneration(generated, nearest);
    }
    this.#code = generated.code;
    this.#origin = generated.origin;
    this.#emit({
      type: "generated",
      code: generated.code,
      origin: generated.origin,
      ms: this.#ms("generate"),
    });
    return undefined;
  }

  async #reviewAndRun(tools: ToolDefinition[]): Promise<Ending> {
    const { signal, stages } = this.#context;
    const verdict = await this.#stage("review", () =>
      stages.guard.review({ code: this.#code, tools, signal }),
    );
    this.#emit({
      type: "reviewed",
      allowed: verdict.allowed,
      findings: verdict.findings,
      ms: this.#ms("review"),
    });
    if (!verdict.allowed) return refusedReview(verdict);
    const outcome = await this.#stage("run", () => this.#run());
    this.#outcome = outcome;
    this.#emit({
      type: "ran",
      toolCalls: outcome.toolCalls.length,
      isolation: outcome.isolation,
      ms: this.#ms("run"),
    });
    return endingOf(outcome);
  }

  async #run(): Promise<RunOutcome> {
    const { options, signal, stages } = this.#context;
    const request: RunRequest = {
      code: this.#code,
      signal,
      onOutput: (chunk) => this.#emit({ type: "output", chunk }),
      onToolCall: (call) => this.#emit({ type: "tool-called", call }),
    };
    if (stages.invoker !== undefined) request.invoker = stages.invoker;
    if (options.limits !== undefined) request.limits = options.limits;
    if (options.session !== undefined) request.session = options.session;
    const sandbox = await this.#context.sandbox();
    return sandbox.run(request);
  }

  /** A cancelled task is a result; a broken set-up is thrown as it is. */
  async #finish(work: () => Promise<Ending>): Promise<TaskResult> {
    let ending: Ending;
    try {
      ending = await work();
    } catch (error) {
      if (!this.#context.signal.aborted) throw error;
      ending = { status: "error", value: null, error: abortError(this.#context.signal) };
    }
    const result = await this.#result(ending);
    this.#emit({ type: "finished", result });
    return result;
  }

  async #result(ending: Ending): Promise<TaskResult> {
    const outcome = this.#outcome;
    const tools = this.#catalog.servers.flatMap((server) => server.tools);
    const output = outcome?.output ?? "";
    const count = await this.#context.countTokens();
    const cameBack = [JSON.stringify(ending.value), output, ending.error?.message ?? ""].join("");
    this.#timings.total = this.#elapsed(this.#started);
    return {
      ...ending,
      output,
      outputDroppedBytes: outcome?.outputDroppedBytes ?? 0,
      code: this.#code,
      origin: this.#origin,
      selectedTools: this.#selected,
      availableTools: tools.length,
      toolCalls: outcome?.toolCalls ?? [],
      isolation: outcome?.isolation ?? null,
      timings: this.#timings,
      contextTokens: contextTokens(
        this.#context.definitionTokens.total(tools, count),
        outcome?.toolResults ?? [],
        cameBack,
        count,
      ),
    };
  }

  async #stage<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    this.#context.signal.throwIfAborted();
    this.#emit({ type: "stage-started", stage });
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#timings[stage] = this.#elapsed(started);
    }
  }

  #ms(stage: Stage): number {
    return this.#timings[stage] ?? 0;
  }

  #elapsed(started: number): number {
    return Math.round((performance.now() - started) * 100) / 100;
  }

  #emit(event: AgentEvent): void {
    try {
      this.#context.options.onEvent?.(event);
    } catch (error) {
      // A listener's mistake must not end the run it listens to.
      process.emitWarning(`onEvent threw at ${event.type}: ${toErrorInfo(error).message}`, "CemWarning");
    }
  }
}

function asSelectedTool({ tool, score, reason }: RankedTool): SelectedTool {
  return { server: tool.server, tool: tool.name, score, reason };
}

function abortError(signal: AbortSignal): ReturnType<typeof toErrorInfo> {
  if (CemError.isInstance(signal.reason)) return toErrorInfo(signal.reason);
  return { code: "ABORTED", message: "The task was cancelled.", details: {} };
}
