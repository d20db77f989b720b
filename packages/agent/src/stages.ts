import { Lazy } from "@cem/core";
import type {
  AuditLog,
  CodeGenerator,
  Guard,
  Redactor,
  Sandbox,
  ToolCatalog,
  ToolInvoker,
  ToolSelector,
  TypeChecker,
} from "@cem/core";
import { loadTokenCounter } from "@cem/core/tokens";
import type { TokenCounter } from "@cem/core/tokens";
import { DefinitionTokens } from "./context-tokens.ts";
import type { OnDemand, OwnedPipelineSettings } from "./pipeline-settings.ts";

/** The stages of one pipeline. Those that are given as functions are created when they are first needed. */
export class Stages {
  readonly settings: OwnedPipelineSettings;
  readonly catalog: Lazy<ToolCatalog>;
  readonly selector: Lazy<ToolSelector>;
  readonly generator: Lazy<CodeGenerator>;
  readonly guard: Lazy<Guard>;
  readonly sandbox: Lazy<Sandbox>;
  /** `undefined` when no tool runs on the host. */
  readonly invoker: Lazy<ToolInvoker> | undefined;
  /** `undefined` when values are passed on. */
  readonly redactor: Lazy<Redactor | undefined> | undefined;
  /** `undefined` when no types are checked. */
  readonly typeChecker: Lazy<TypeChecker> | undefined;
  /** `undefined` when nothing is recorded. */
  readonly audit: Lazy<AuditLog | undefined> | undefined;
  readonly tokenCounter: Lazy<TokenCounter>;
  readonly definitionTokens = new DefinitionTokens();

  constructor(settings: OwnedPipelineSettings) {
    const { audit, countTokens, invoker, redactor, typeChecker } = settings;
    this.audit = audit && new Lazy(async () => (typeof audit === "function" ? audit() : audit));
    this.settings = settings;
    this.catalog = lazy(settings.catalog);
    this.selector = lazy(settings.selector);
    this.generator = lazy(settings.generator);
    this.guard = lazy(settings.guard);
    this.sandbox = lazy(settings.sandbox);
    this.invoker = invoker && lazy(invoker);
    this.redactor =
      redactor && new Lazy(async () => (typeof redactor === "function" ? redactor() : redactor));
    this.typeChecker = typeChecker && lazy(typeChecker);
    this.tokenCounter = new Lazy(async () => countTokens ?? (await loadTokenCounter()));
  }

  /** Disposes what was created here, then what the settings hold. */
  async dispose(): Promise<void> {
    const { sandbox, typeChecker } = this.settings;
    try {
      await Promise.all([
        typeof sandbox === "function" && disposeCreated(this.sandbox),
        typeof typeChecker === "function" && disposeCreated(this.typeChecker),
      ]);
    } finally {
      await this.settings.dispose?.();
    }
  }
}

function lazy<T extends object>(given: OnDemand<T>): Lazy<T> {
  return new Lazy(async () => (typeof given === "function" ? given() : given));
}

async function disposeCreated(part: Lazy<{ dispose(): Promise<void> }> | undefined): Promise<void> {
  const created = await part?.settled();
  await created?.dispose();
}
