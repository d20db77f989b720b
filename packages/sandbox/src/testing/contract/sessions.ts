import type { JsonValue, RunOutcome, SandboxProvider, SandboxSpec, SandboxStats } from "@cem/core";
import { Harness, until, type RunOptions } from "./harness.ts";

/** A sandbox for runs of one session, for the contract's tests. */
export class SessionHarness {
  readonly #harness: Harness;

  private constructor(harness: Harness) {
    this.#harness = harness;
  }

  static async make(
    makeProvider: () => SandboxProvider,
    files: Record<string, string> = {},
    spec: Partial<SandboxSpec> = {},
  ): Promise<SessionHarness> {
    const own = { defaultSession: "contract", ...spec };
    return new SessionHarness(await Harness.make(makeProvider(), files, own));
  }

  /** Creates a test with its own sandbox, and therefore its own guest. */
  static with(
    makeProvider: () => SandboxProvider,
    files: Record<string, string>,
    use: (session: SessionHarness) => Promise<void>,
  ): () => Promise<void> {
    return async () => {
      const session = await SessionHarness.make(makeProvider, files);
      try {
        await use(session);
      } finally {
        await session.dispose();
      }
    };
  }

  get workspace(): string {
    return this.#harness.workspace;
  }

  get mechanisms(): readonly string[] {
    return this.#harness.sandbox.isolation.mechanisms;
  }

  stats(): SandboxStats {
    const stats = this.#harness.sandbox.stats?.();
    if (stats === undefined) throw new Error("A sandbox with sessions has to tell its stats.");
    return stats;
  }

  /** Resolves when the guest has been checked after the run: it is kept, or has ended. */
  async run(code: string, options: RunOptions = {}): Promise<RunOutcome> {
    const outcome = await this.#harness.run(code, options);
    await until(() => this.stats().taken === 0);
    return outcome;
  }

  async value(code: string, options: RunOptions = {}): Promise<JsonValue | undefined> {
    const value = await this.#harness.value(code, options);
    await until(() => this.stats().taken === 0);
    return value;
  }

  /** Guests kept for the next run: 1, or 0 when the guest of the last run was replaced. */
  get kept(): number {
    return this.stats().kept;
  }

  dispose(): Promise<void> {
    return this.#harness.dispose();
  }
}
