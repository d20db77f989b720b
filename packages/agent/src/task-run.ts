import { CemError, toErrorInfo } from "@cem/core";
import type {
  AgentEvent,
  CatalogSnapshot,
  ExecuteOptions,
  Finding,
  GeneratedCode,
  GenerateRequest,
  GenerationRefused,
  RankedTool,
  RunOutcome,
  RunRequest,
  Sandbox,
  SelectedTool,
  Selection,
  Stage,
  TaskResult,
  ToolCallRecord,
  ToolDefinition,
  TypeChecker,
  Verdict,
} from "@cem/core";
import type { TokenCounter } from "@cem/tokens";
import type { PipelineSettings } from "./agent.ts";
import { AnsweredCalls } from "./answered-calls.ts";
import { contextTokens, countText } from "./context-tokens.ts";
import type { DefinitionTokens } from "./context-tokens.ts";
import { endingOf } from "./outcome.ts";
import type { Ending } from "./outcome.ts";
import { forRun } from "./run-invoker.ts";
import { refusedGeneration, refusedReview, refusedTypes, withUnavailable } from "./refusals.ts";
import { StageTimes } from "./stage-times.ts";
import { RepairHistory } from "./repair-history.ts";

/** How often a model may mend its code. */
const DEFAULT_MAX_REPAIRS = 2;

interface TaskRunContext {
  stages: PipelineSettings;
  sandbox: () => Promise<Sandbox>;
  /** Absent: there is none. */
  typeChecker?: (() => Promise<TypeChecker>) | undefined;
  countTokens: () => Promise<TokenCounter>;
  definitionTokens: DefinitionTokens;
  options: ExecuteOptions;
  signal: AbortSignal;
}

/** One task or program on its way through the stages. Used once. */
export class TaskRun {
  readonly #context: TaskRunContext;
  readonly #times = new StageTimes();
  #catalog: CatalogSnapshot = { servers: [], problems: [], version: "" };
  #selected: SelectedTool[] = [];
  #selectionNotes: readonly string[] = [];
  #code = "";
  #origin: TaskResult["origin"] = "rules";
  #outcome: RunOutcome | undefined;
  /** Of the last review. */
  #findings: readonly Finding[] = [];
  readonly #notes: string[] = [];
  readonly #history: RepairHistory;
  #answered: AnsweredCalls | undefined;

  constructor(context: TaskRunContext) {
    this.#context = context;
    this.#history = new RepairHistory(context.stages.maxRepairs ?? DEFAULT_MAX_REPAIRS);
  }

  async task(task: string): Promise<TaskResult> {
    return this.#finish(async () => {
      this.#warmUp();
      const tools = await this.#discover();
      const selection = await this.#select(task, tools);
      this.#answered = new AnsweredCalls(tools);
      const refusal = await this.#generate(task, selection);
      if (refusal !== undefined) return refusal;
      return this.#repair(task, selection, tools, await this.#reviewAndRun(tools));
    });
  }

  /** Lets a model mend its code until it works, or nothing new comes of it. Rules would write the same again. */
  async #repair(task: string, selection: Selection, tools: ToolDefinition[], first: Ending): Promise<Ending> {
    for (let ending = first; ;) {
      if (this.#origin !== "llm") return ending;
      const reason = this.#history.next(this.#code, ending, this.#findings, this.#outcome);
      if (reason === undefined) return ending;
      this.#emit({ type: "repairing", attempt: this.#history.count + 1, reason });
      try {
        const refusal = await this.#generate(task, selection);
        if (refusal !== undefined) return this.#history.ran ? ending : refusal;
      } catch (error) {
        this.#context.signal.throwIfAborted();
        if (!CemError.isInstance(error)) throw error;
        this.#notes.push(error.message);
        return ending;
      }
      ending = await this.#reviewAndRun(tools);
    }
  }

  async code(code: string): Promise<TaskResult> {
    this.#code = code;
    this.#origin = "given";
    return this.#finish(async () => {
      this.#warmUp();
      this.#obtainTypes()?.catch(() => {});
      const tools = await this.#discover();
      return this.#reviewAndRun(tools);
    });
  }

  /** The sandbox starts while the code is being written; if that fails, the stage that needs it says so. */
  #warmUp(): void {
    this.#context.sandbox().catch(() => {});
    this.#context.countTokens().catch(() => {});
  }

  #warmUpTypes(): void {
    this.#obtainTypes()
      ?.then((checker) => checker.prepare?.())
      .catch(() => {});
  }

  #obtainTypes(): Promise<TypeChecker> | undefined {
    const { options, stages, typeChecker } = this.#context;
    return (options.typeCheck ?? stages.typeCheck) === "off" ? undefined : typeChecker?.();
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
      ms: this.#times.last("discover"),
    });
    return tools;
  }

  async #select(task: string, tools: ToolDefinition[]): Promise<Selection> {
    const { signal, stages } = this.#context;
    const usable = tools.filter(({ unavailable }) => unavailable === undefined);
    const selection = await this.#stage("select", () =>
      stages.selector.select({ task, tools: usable, signal }),
    );
    const { notes = [] } = selection;
    this.#selected = selection.selected.map(asSelectedTool);
    this.#selectionNotes = notes;
    this.#emit({
      type: "selected",
      tools: this.#selected,
      available: tools.length,
      ms: this.#times.last("select"),
      ...(notes.length > 0 && { notes }),
    });
    return selection;
  }

  async #generate(task: string, selection: Selection): Promise<Ending | undefined> {
    const tools = selection.selected.map(({ tool }) => tool);
    const generated = await this.#stage("generate", () => this.#ask(task, tools));
    this.#history.spend(generated.usage);
    this.#notes.push(...(generated.notes ?? []));
    if (generated.status === "refused") {
      const refusal = withUnavailable(generated, task, await this.#selectUnavailable(task));
      const nearest = [...selection.selected, ...selection.nearest];
      this.#emit({
        type: "generation-refused",
        steps: refusal.steps,
        nearest: nearest.map(asSelectedTool),
        ms: this.#times.last("generate"),
      });
      return refusedGeneration(refusal, nearest);
    }
    this.#history.count += 1;
    const { code, notes, origin } = generated;
    this.#code = code;
    this.#origin = origin;
    this.#emit({
      type: "generated",
      code,
      origin,
      ms: this.#times.last("generate"),
      ...(notes && { notes }),
    });
    return undefined;
  }

  /** The tools that the task would need if they could be called. */
  async #selectUnavailable(task: string): Promise<RankedTool[]> {
    const { signal, stages } = this.#context;
    const all = this.#catalog.servers.flatMap((server) => server.tools);
    const tools = all.filter(({ unavailable }) => unavailable !== undefined);
    if (tools.length === 0) return [];
    return (await stages.selector.select({ task, tools, signal })).selected;
  }

  #ask(task: string, tools: readonly ToolDefinition[]): Promise<GeneratedCode | GenerationRefused> {
    const { options, signal, stages } = this.#context;
    const { feedback, usage } = this.#history;
    const request: GenerateRequest = {
      task,
      tools,
      signal,
      onProgress: (progress) => {
        // A model is at work, and its code will be checked: the checker can load meanwhile.
        this.#warmUpTypes();
        this.#emit({ type: "generating", ...progress });
      },
    };
    if (feedback.length > 0) request.feedback = feedback;
    if (usage !== undefined) request.spent = usage;
    if (options.mode !== undefined) request.mode = options.mode;
    if (options.context !== undefined) request.context = options.context;
    return stages.generator.generate(request);
  }

  async #reviewAndRun(tools: ToolDefinition[]): Promise<Ending> {
    this.#outcome = undefined;
    const { allowed, findings, refusal } = await this.#stage("review", () => this.#review(tools));
    this.#findings = findings;
    this.#emit({ type: "reviewed", allowed, findings, ms: this.#times.last("review") });
    if (refusal !== undefined) return refusal;
    const outcome = await this.#stage("run", () => this.#run());
    this.#outcome = outcome;
    this.#history.calls.push(...outcome.toolCalls);
    this.#emit({
      type: "ran",
      toolCalls: outcome.toolCalls.length,
      isolation: outcome.isolation,
      ms: this.#times.last("run"),
    });
    return endingOf(outcome);
  }

  /** The guard reads first: what it refuses need not be understood. */
  async #review(tools: ToolDefinition[]): Promise<Verdict & { refusal?: Ending | undefined }> {
    const { signal, stages, typeChecker } = this.#context;
    const request = { code: this.#code, tools, signal };
    const ranBefore = this.#history.ran;
    const verdict = await stages.guard.review(request);
    if (!verdict.allowed) return { ...verdict, refusal: refusedReview(verdict, { ranBefore }) };
    if (typeChecker === undefined || !this.#checksTypes()) return verdict;
    const checker = await typeChecker();
    const mistakes = await checker.check(request);
    const findings = [...verdict.findings, ...mistakes];
    const wrong = mistakes.some(({ severity }) => severity === "error");
    return wrong
      ? { allowed: false, findings, refusal: refusedTypes(mistakes, { ranBefore }) }
      : { allowed: true, findings };
  }

  /** Code by rules takes its types from the definitions themselves. */
  #checksTypes(): boolean {
    const { options, stages } = this.#context;
    if (options.typeCheck !== undefined) return options.typeCheck === "before";
    return this.#origin !== "rules" && (stages.typeCheck ?? "before") === "before";
  }

  async #run(): Promise<RunOutcome> {
    const { options, signal, stages } = this.#context;
    const request: RunRequest = {
      code: this.#code,
      signal,
      onOutput: (chunk) => this.#emit({ type: "output", chunk }),
      onToolCall: (call) => {
        this.#answered?.called(call.server, call.tool);
        this.#emit({ type: "tool-called", call: this.#named(withoutContent(call)) });
      },
    };
    if (stages.invoker !== undefined) {
      const invoker = forRun(stages.invoker, options);
      const again = this.#history.ran;
      request.invoker =
        this.#origin === "llm" ? (this.#answered?.wrap(invoker, { answer: again }) ?? invoker) : invoker;
    }
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
    return {
      ...ending,
      output,
      outputDroppedBytes: outcome?.outputDroppedBytes ?? 0,
      code: this.#code,
      origin: this.#origin,
      selectedTools: this.#selected,
      ...(this.#selectionNotes.length > 0 && { selectionNotes: this.#selectionNotes }),
      availableTools: tools.length,
      toolCalls: this.#history.calls.map((call) => this.#named(withoutContent(call))),
      isolation: outcome?.isolation ?? null,
      timings: this.#times.all(),
      contextTokens: {
        ...contextTokens(
          this.#context.definitionTokens.total(tools, count),
          outcome?.toolResults ?? [],
          cameBack,
          count,
        ),
        ...this.#spent(count),
      },
      ...(this.#history.usage && { usage: this.#history.usage }),
      ...(this.#origin !== "given" && { attempts: this.#history.count }),
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    };
  }

  /** A call by the name that code has for the tool, not the one its server has. */
  #named(call: ToolCallRecord): ToolCallRecord {
    const server = this.#catalog.servers.find(({ name }) => name === call.server);
    const tool = server?.tools.find(({ originalName }) => originalName === call.tool);
    return tool === undefined ? call : { ...call, tool: tool.name };
  }

  /** What a model read and wrote to get the code. */
  #spent(count: TokenCounter): { spent?: number | undefined } {
    const { usage } = this.#history;
    if (usage !== undefined) return { spent: usage.inputTokens + usage.outputTokens };
    return this.#origin === "given" ? { spent: countText(this.#code, count) } : {};
  }

  async #stage<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    this.#context.signal.throwIfAborted();
    this.#emit({ type: "stage-started", stage });
    return this.#times.during(stage, work);
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

/** A record without what the call carried, which may be large, or nobody's business. */
function withoutContent({ server, tool, ms, ok }: ToolCallRecord): ToolCallRecord {
  return { server, tool, ms, ok };
}

function asSelectedTool({ tool, score, reason }: RankedTool): SelectedTool {
  return { server: tool.server, tool: tool.name, score, reason };
}

function abortError(signal: AbortSignal): ReturnType<typeof toErrorInfo> {
  if (CemError.isInstance(signal.reason)) return toErrorInfo(signal.reason);
  return { code: "ABORTED", message: "The task was cancelled.", details: {} };
}
