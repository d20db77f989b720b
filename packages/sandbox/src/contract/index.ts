import type { SandboxProvider } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failuresContract } from "./failures.ts";
import { filesContract } from "./files.ts";
import { Harness, TOOL_FILES, type ContractOptions } from "./harness.ts";
import { HOST_TOOL_FILES, HOST_TOOLS, hostToolsContract } from "./host-tools.ts";
import { hostileContract } from "./hostile.ts";
import { lifecycleContract } from "./lifecycle.ts";
import { limitsContract } from "./limits.ts";
import { networkContract } from "./network.ts";
import { realmsContract } from "./realms.ts";
import { printingContract } from "./printing.ts";
import { resultsContract } from "./results.ts";
import { RUNTIME_FILES, runtimeContract } from "./runtime.ts";
import { ODD_FILES, toolsContract } from "./tools.ts";
import { unawaitedContract } from "./unawaited.ts";
import { valuesContract } from "./values.ts";

export type { ContractOptions } from "./harness.ts";

/**
 * What every sandbox has to do, as vitest tests. Call it at the top of a test file:
 *
 * ```ts
 * describeSandboxContract("deno", () => createDenoSandboxProvider(), { level: "namespaces" });
 * ```
 */
export function describeSandboxContract(
  name: string,
  makeProvider: () => SandboxProvider,
  options: ContractOptions,
): void {
  describe(`sandbox contract: ${name}`, () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await Harness.make(
        makeProvider(),
        { ...TOOL_FILES, ...ODD_FILES, ...HOST_TOOL_FILES, ...RUNTIME_FILES },
        { hostTools: HOST_TOOLS },
      );
    });
    afterAll(() => harness?.dispose());
    const current = () => harness;

    it("says what holds the guest", async () => {
      const probe = await makeProvider().probe();
      expect(probe).toMatchObject({ available: true, isolation: { level: options.level } });
      expect(harness.sandbox.isolation.level).toBe(options.level);
      expect(harness.sandbox.isolation.mechanisms.length).toBeGreaterThan(0);
    });
    it("refuses a workspace that is not there", async () => {
      const made = makeProvider().create({ workspaceDir: "/nowhere/at/all" });
      await expect(made).rejects.toMatchObject({ code: "SANDBOX_SPEC_INVALID" });
    });
    describe("values", () => {
      valuesContract(current);
    });
    describe("runtime", () => {
      runtimeContract(current);
    });
    describe("printing", () => {
      printingContract(current);
    });
    describe("failures", () => {
      failuresContract(current);
    });
    describe("limits", () => {
      limitsContract(current);
    });
    describe("tools", () => {
      toolsContract(current);
    });
    describe("tools on the host without a file", () => {
      hostToolsContract(current);
    });
    describe("kept results", () => {
      resultsContract(current);
    });
    describe("files", () => {
      filesContract(makeProvider, options);
    });
    describe("network", () => {
      networkContract(makeProvider, options);
    });
    describe("hostile programs", () => {
      hostileContract(current);
    });
    describe("runs of a session", () => {
      realmsContract(makeProvider);
    });
    describe("work that nobody awaited", () => {
      unawaitedContract(makeProvider);
    });
    describe("life of a sandbox", () => {
      lifecycleContract(makeProvider);
    });
  });
}
