import type { SandboxProvider } from "@cem/core";
import { describe, expect, it } from "vitest";
import { Harness, recordingInvoker, until } from "./harness.ts";

const CLIENT = `import { callTool } from "cem:client";\n`;

/** Contract tests: concurrent runs and how they end. */
export function lifecycleContract(makeProvider: () => SandboxProvider): void {
  const withHarness = (use: (harness: Harness) => Promise<void>) => async () => {
    const harness = await Harness.make(makeProvider());
    try {
      await use(harness);
    } finally {
      await harness.dispose();
    }
  };

  describe("abort", () => {
    it(
      "ends a run under way",
      withHarness(async (harness) => {
        const abort = new AbortController();
        const onOutput = () => abort.abort();
        const outcome = await harness.run("console.log('go'); while (true) {}", {
          signal: abort.signal,
          onOutput,
        });
        expect(outcome).toMatchObject({ status: "killed", reason: "aborted" });
        await harness.mustStillWork();
      }),
    );

    it(
      "ends a run before it starts",
      withHarness(async (harness) => {
        const outcome = await harness.run("export default 1", { signal: AbortSignal.abort() });
        expect(outcome).toMatchObject({ status: "killed", reason: "aborted" });
      }),
    );
  });

  describe("concurrency", () => {
    it(
      "answers forty runs at once, each with its own value",
      withHarness(async (harness) => {
        const invoker = recordingInvoker(({ args }) => args);
        const runs = Array.from({ length: 40 }, (_, index) =>
          harness.value(
            `${CLIENT}globalThis.mark ??= ${index};\nreturn [globalThis.mark, await callTool("h", "echo", ${index})];`,
            { invoker },
          ),
        );
        const values = await Promise.all(runs);
        expect(values).toEqual(Array.from({ length: 40 }, (_, index) => [index, index]));
      }),
      120_000,
    );

    it(
      "lets runs that wait be aborted",
      withHarness(async (harness) => {
        const endless = new AbortController();
        const busy = Array.from({ length: 40 }, () =>
          harness.run("await new Promise((go) => setTimeout(go, 600_000))", { signal: endless.signal }),
        );
        const waiting = new AbortController();
        const late = harness.run("export default 1", { signal: waiting.signal });
        await until(() => (harness.sandbox.stats?.().waiting ?? 1) > 0);
        waiting.abort();
        expect(await late).toMatchObject({ status: "killed", reason: "aborted" });
        endless.abort();
        const outcomes = await Promise.all(busy);
        expect(outcomes.every((outcome) => outcome.status === "killed")).toBe(true);
        await harness.mustStillWork();
      }),
      60_000,
    );
  });

  describe("dispose", () => {
    it(
      "ends runs under way and refuses new ones, and may be called twice",
      withHarness(async (harness) => {
        let isUp = false;
        const running = harness.run("console.log('up'); await new Promise((go) => setTimeout(go, 600_000))", {
          onOutput: () => {
            isUp = true;
          },
        });
        await until(() => isUp);
        await Promise.all([harness.sandbox.dispose(), harness.sandbox.dispose()]);
        expect(await running).toMatchObject({ status: "killed", reason: "disposed" });
        expect(await harness.run("1")).toMatchObject({ status: "killed", reason: "disposed" });
      }),
    );
  });

  describe("memory of the host", () => {
    it(
      "stays flat over messages that are too large or too deep",
      withHarness(async (harness) => {
        const before = process.memoryUsage().rss;
        const invoker = recordingInvoker(() => 1);
        const large = `${CLIENT}await callTool("h", "t", { text: "x".repeat(2 ** 27) });`;
        const outcome = await harness.run(large, { invoker, limits: { memoryMb: 1_024 } });
        expect(["killed", "out-of-memory", "failed"]).toContain(outcome.status);
        expect(invoker.calls).toEqual([]);
        expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
        await harness.mustStillWork();
      }),
    );
  });
}
