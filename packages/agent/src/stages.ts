import type { Sandbox, TypeChecker } from "@cem/core";
import { loadTokenCounter } from "@cem/tokens";
import type { TokenCounter } from "@cem/tokens";
import { DefinitionTokens } from "./context-tokens.ts";
import { Lazy } from "./lazy.ts";
import type { OwnedPipelineSettings } from "./pipeline-settings.ts";

/** The stages of one pipeline, with those that are created when they are first needed. */
export class Stages {
  readonly settings: OwnedPipelineSettings;
  readonly sandbox: Lazy<Sandbox>;
  /** `undefined` when no types are checked. */
  readonly typeChecker: Lazy<TypeChecker> | undefined;
  readonly tokenCounter: Lazy<TokenCounter>;
  readonly definitionTokens = new DefinitionTokens();

  constructor(settings: OwnedPipelineSettings) {
    const { countTokens, sandbox, typeChecker } = settings;
    this.settings = settings;
    this.sandbox = lazy(sandbox);
    this.typeChecker = typeChecker && lazy(typeChecker);
    this.tokenCounter = new Lazy(async () => countTokens ?? (await loadTokenCounter()));
  }

  /** Starts to create the sandbox and the token counter. A failure shows when they are needed. */
  warmUp(): void {
    this.sandbox.get().catch(() => {});
    this.tokenCounter.get().catch(() => {});
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

function lazy<T extends object>(given: T | (() => Promise<T>)): Lazy<T> {
  return new Lazy(async () => (typeof given === "function" ? given() : given));
}

async function disposeCreated(part: Lazy<{ dispose(): Promise<void> }> | undefined): Promise<void> {
  const created = await part?.settled();
  await created?.dispose();
}
