import { CemError } from "@cem/core";
import type {
  Agent,
  CatalogSnapshot,
  CodeGenerator,
  ExecuteOptions,
  Guard,
  RankedTool,
  Sandbox,
  SandboxStats,
  SearchOptions,
  TaskResult,
  ToolCatalog,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
  TypeCheckMode,
} from "@cem/core";
import { loadTokenCounter } from "@cem/tokens";
import type { TokenCounter } from "@cem/tokens";
import { TaskRun } from "./task-run.ts";
import { DefinitionTokens } from "./context-tokens.ts";

/** The stages of an agent. Each is a port, so each can be your own. */
export interface PipelineSettings {
  catalog: ToolCatalog;
  selector: ToolSelector;
  generator: CodeGenerator;
  guard: Guard;
  /** A sandbox of your own, which you dispose; or how to make one, and the agent disposes it. */
  sandbox: Sandbox | (() => Promise<Sandbox>);
  /** Answers calls to tools that run on the host. Absent: there are none. */
  invoker?: ToolInvoker | undefined;
  /** Checks given code, and a model's, before it runs. One of your own, which you dispose; or how to make one. */
  typeChecker?: TypeChecker | (() => Promise<TypeChecker>) | undefined;
  /** Default: `before`, where there is a type checker. */
  typeCheck?: TypeCheckMode | undefined;
  /** How often a model may mend code that was refused or failed. Default: 2. */
  maxRepairs?: number | undefined;
  /** How tokens are counted. Default: o200k_base. */
  countTokens?: TokenCounter | undefined;
}

/** Wires the stages into the one way from a task to its result. */
export function createPipeline(settings: PipelineSettings): Agent {
  return new PipelineAgent(settings);
}

class PipelineAgent implements Agent {
  readonly specificationVersion = "v1";
  readonly #settings: PipelineSettings;
  readonly #definitionTokens = new DefinitionTokens();
  readonly #disposal = new AbortController();
  readonly #runs = new Set<Promise<TaskResult>>();
  #sandbox: Promise<Sandbox> | undefined;
  /** Once it is there. */
  #live: Sandbox | undefined;
  #typeChecker: Promise<TypeChecker> | undefined;
  #tokenCounter: Promise<TokenCounter> | undefined;

  constructor(settings: PipelineSettings) {
    this.#settings = settings;
  }

  async executeTask(task: string, options: ExecuteOptions = {}): Promise<TaskResult> {
    requireText(task, "TASK_EMPTY", "The task is empty: say what should be done.");
    return this.#track((run) => run.task(task), options);
  }

  async executeCode(code: string, options: ExecuteOptions = {}): Promise<TaskResult> {
    requireText(code, "CODE_EMPTY", "The code is empty: there is nothing to run.");
    return this.#track((run) => run.code(code), options);
  }

  discoverTools(options: { signal?: AbortSignal | undefined } = {}): Promise<CatalogSnapshot> {
    return this.#settings.catalog.list(options);
  }

  async searchTools(query: string, options: SearchOptions = {}): Promise<RankedTool[]> {
    requireText(query, "QUERY_EMPTY", "The query is empty: say what the tool should do.");
    const { servers } = await this.#settings.catalog.list(options);
    const tools = servers.flatMap((server) => server.tools);
    return this.#settings.selector.search({ task: query, tools, ...options });
  }

  sandboxStats(): SandboxStats | undefined {
    return this.#live?.stats?.();
  }

  async dispose(): Promise<void> {
    this.#disposal.abort(new CemError("AGENT_DISPOSED", "The agent was disposed."));
    await Promise.allSettled(this.#runs);
    const { sandbox, typeChecker } = this.#settings;
    const made = [
      typeof sandbox === "function" ? this.#sandbox : undefined,
      typeof typeChecker === "function" ? this.#typeChecker : undefined,
    ];
    await Promise.all(
      made.map(async (part) => {
        const one = await part?.catch(() => undefined);
        await one?.dispose();
      }),
    );
  }

  async #track(start: (run: TaskRun) => Promise<TaskResult>, options: ExecuteOptions): Promise<TaskResult> {
    if (this.#disposal.signal.aborted) {
      throw new CemError(
        "AGENT_DISPOSED",
        "The agent was disposed and can't run anything more. Create another.",
      );
    }
    const signals = [this.#disposal.signal];
    if (options.signal !== undefined) signals.push(options.signal);
    const run = new TaskRun({
      stages: this.#settings,
      sandbox: () => this.#obtainSandbox(),
      ...(this.#settings.typeChecker !== undefined && { typeChecker: () => this.#obtainTypeChecker() }),
      countTokens: () => this.#obtainTokenCounter(),
      definitionTokens: this.#definitionTokens,
      options,
      signal: AbortSignal.any(signals),
    });
    const result = start(run);
    this.#runs.add(result);
    try {
      return await result;
    } finally {
      this.#runs.delete(result);
    }
  }

  #obtainSandbox(): Promise<Sandbox> {
    this.#sandbox ??= this.#makeSandbox().catch((error: unknown) => {
      // The next run tries again: what was missing may have been installed by then.
      this.#sandbox = undefined;
      throw error;
    });
    return this.#sandbox;
  }

  async #makeSandbox(): Promise<Sandbox> {
    const { sandbox } = this.#settings;
    return (this.#live = typeof sandbox === "function" ? await sandbox() : sandbox);
  }

  #obtainTypeChecker(): Promise<TypeChecker> {
    const { typeChecker } = this.#settings;
    if (typeof typeChecker !== "function") return Promise.resolve(typeChecker as TypeChecker);
    this.#typeChecker ??= typeChecker().catch((error: unknown) => {
      this.#typeChecker = undefined;
      throw error;
    });
    return this.#typeChecker;
  }

  #obtainTokenCounter(): Promise<TokenCounter> {
    const own = this.#settings.countTokens;
    this.#tokenCounter ??= own === undefined ? loadTokenCounter() : Promise.resolve(own);
    return this.#tokenCounter;
  }
}

function requireText(text: unknown, code: string, message: string): void {
  if (typeof text !== "string") {
    throw new CemError(code, `${message} A string is needed, not ${typeof text}.`);
  }
  if (text.trim() === "") throw new CemError(code, message);
}
