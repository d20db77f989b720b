import { CemError, Lazy } from "@cem/core";
import type {
  AgentEvent,
  AuditLog,
  CodeGenerator,
  Guard,
  RecordRun,
  Redactor,
  ResultStore,
  RunMeter,
  Sandbox,
  SaveSkillOptions,
  SessionLog,
  Skill,
  SkillDraft,
  ToolCatalog,
  ToolDefinition,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
  TypeCheckMode,
  WorkspaceSync,
  ExecuteOptions,
} from "@cem/core";
import { observeSandbox } from "@cem/core/telemetry";
import { loadTokenCounter, type TokenCounter } from "@cem/core/tokens";
import { createDefinitionTokens } from "./context-tokens.ts";
import type { RunProgress } from "./run-progress.ts";

/** The stages of one pipeline. Those given as functions are created on first use. */
export type Stages = ReturnType<typeof createStages>;

export function createStages(settings: OwnedPipelineSettings) {
  const { audit, countTokens, invoker, redactor, sandbox: given } = settings;
  let stopObserving: (() => void) | undefined;
  const sandbox = new Lazy(async () => {
    if (typeof given !== "function") return given;
    const created = await given();
    stopObserving = observeSandbox(() => created.stats?.());
    return created;
  });
  /** `undefined` if types are not checked. */
  const typeChecker = settings.typeChecker && port("typeChecker", settings.typeChecker, ["check"]);
  return {
    settings,
    catalog: port("catalog", settings.catalog, ["list"]),
    selector: port("selector", settings.selector, ["select", "search"]),
    generator: port("generator", settings.generator, ["generate"]),
    guard: port("guard", settings.guard, ["review"]),
    sandbox,
    typeChecker,
    /** `undefined` if no tool runs on the host. */
    invoker: invoker && port("invoker", invoker, ["invoke"]),
    /** `undefined` if values are not redacted. */
    redactor: redactor && new Lazy(async () => (typeof redactor === "function" ? redactor() : redactor)),
    /** `undefined` if nothing is recorded. */
    audit: audit && new Lazy(async () => (typeof audit === "function" ? audit() : audit)),
    tokenCounter: new Lazy(async () => countTokens ?? (await loadTokenCounter())),
    definitionTokens: createDefinitionTokens(),
    workspace: settings.workspaceSync ?? LOCAL_WORKSPACE,
    /** Disposes what was created here, then what the settings hold. */
    async dispose(): Promise<void> {
      try {
        await Promise.all([
          typeof given === "function" && disposeCreated(sandbox),
          typeof settings.typeChecker === "function" && disposeCreated(typeChecker),
        ]);
      } finally {
        stopObserving?.();
        await settings.dispose?.();
      }
    },
  };
}

const LOCAL_WORKSPACE: Pick<WorkspaceSync, "during"> = {
  during: async (work) => ({ result: await work(), remarks: [] }),
};

/** A stage whose methods are checked on first use, for callers without a type check. */
function port<T extends object>(
  name: keyof PipelineSettings,
  given: OnDemand<T>,
  methods: readonly (keyof T & string)[],
): Lazy<T> {
  return new Lazy(async () => {
    const stage = typeof given === "function" ? await given() : given;
    const { specificationVersion } = stage as { specificationVersion?: unknown };
    if (specificationVersion === "v1" && methods.every((method) => typeof stage[method] === "function"))
      return stage;
    const message = `The ${name} has to be an object with specificationVersion: "v1" and ${methods.join("(), ")}().`;
    throw new CemError("OPTION_INVALID", message, { details: { option: name } });
  });
}

async function disposeCreated(part: Lazy<{ dispose(): Promise<void> }> | undefined): Promise<void> {
  const created = await part?.settled();
  await created?.dispose();
}

/** A value, or a function that creates it on first use and is retried after a failure. */
export type OnDemand<T extends object> = T | (() => Promise<T>);

/** The stages of a pipeline. Each is a port of `@cem/core`, so each can be replaced by your own. */
export interface PipelineSettings {
  /** Lists the available tools. */
  catalog: OnDemand<ToolCatalog>;
  /** Picks the tools that a task needs. */
  selector: OnDemand<ToolSelector>;
  /** Writes the code for a task. */
  generator: OnDemand<CodeGenerator>;
  /** Reviews code before it runs. */
  guard: OnDemand<Guard>;
  /** Runs the code. A sandbox is disposed by the caller; one that a function creates, by the pipeline. */
  sandbox: OnDemand<Sandbox>;
  /** Answers calls to tools that run on the host. Without one every such call fails. */
  invoker?: OnDemand<ToolInvoker> | undefined;
  /** Called with code as soon as it is known, to start what its calls will need. A failure is reported by the call. */
  onCode?: ((code: string) => Promise<void>) | undefined;
  /** Records runs, verdicts and calls. Without one nothing is recorded. */
  audit?: AuditLog | (() => Promise<AuditLog | undefined>) | undefined;
  /**
   * Checks the types of code before it runs. A type checker is disposed by the caller; one that a function creates, by
   * the pipeline. Without one no types are checked.
   */
  typeChecker?: OnDemand<TypeChecker> | undefined;
  /** Redacts personal data and secrets in events and results. Absent: they are passed on as they are. */
  redactor?: Redactor | (() => Promise<Redactor | undefined>) | undefined;
  /**
   * Whether tokens without a known value are kept as text in code. The code of a recorded run may contain them, and its
   * calls are answered from the record.
   *
   * @defaultValue false
   */
  keepsTokens?: boolean | undefined;
  /**
   * Whether types are checked. Code written by rules is checked only when a call asks for it.
   *
   * @defaultValue `before`
   */
  typeCheck?: TypeCheckMode | undefined;
  /**
   * How often a model may repair code that was refused or failed.
   *
   * @defaultValue 2
   */
  maxRepairs?: number | undefined;
  /**
   * Whether the prompt includes facts about data: the columns of tables, and the beginning of each workspace file that
   * the task names.
   *
   * @defaultValue false
   */
  dataFacts?: boolean | undefined;
  /**
   * Checks and saves skills, with the tools that there are.
   *
   * @defaultValue `saveSkill` rejects with `SKILLS_DISABLED`
   */
  saveSkill?:
    | ((
        draft: SkillDraft,
        options: SaveSkillOptions & { tools: readonly ToolDefinition[] },
      ) => Promise<Skill>)
    | undefined;
  /** Meters the runs of the sandbox. No code is generated for a task while no run may begin. */
  meter?: RunMeter | undefined;
  /** Receives the events of every request, as its own listener does. Must not throw. */
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Returns problems outside the runs so far, to be added to results. */
  warnings?: (() => readonly string[]) | undefined;
  /** Stores the images, files and large values of results. Closed by the caller. Without one, nothing is stored. */
  results?: OnDemand<ResultStore> | undefined;
  /** Synchronizes the workspace with other machines. Closed by the caller. Without one, it is local to this machine. */
  workspaceSync?: WorkspaceSync | undefined;
  /** Logs what the runs did. Closed by the caller. Without one, nothing is logged. */
  sessionLog?: SessionLog | undefined;
  /** Called with each completed run, for its record. Absent: no records are kept. */
  recordRun?: RecordRun | undefined;
  /**
   * Counts the tokens of a text.
   *
   * @defaultValue a counter for o200k_base
   */
  countTokens?: TokenCounter | undefined;
}

/** Pipeline settings that hold resources, which the pipeline frees when it is disposed. */
export interface OwnedPipelineSettings extends PipelineSettings {
  /** Frees what the settings hold. Called once, after the last request has ended and the sandbox is disposed. */
  dispose?(): Promise<void>;
}

/** Context shared by the stages of one run. */
export interface RunContext {
  stages: Stages;
  options: ExecuteOptions;
  /** Aborts when the caller cancels the run or the pipeline is disposed. */
  signal: AbortSignal;
  progress: RunProgress;
  id: string;
}

/** Code on its way through review and sandbox. */
export interface Program {
  code: string;
  origin: "rules" | "llm" | "given";
  /** Whether its types need no check, since it only consists of calls that satisfy the schemas. */
  isChecked?: boolean | undefined;
}
