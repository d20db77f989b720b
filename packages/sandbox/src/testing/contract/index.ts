import type { SandboxProvider } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failuresContract } from "./failures.ts";
import { filesContract } from "./files.ts";
import { Harness, TOOL_FILES, type ContractOptions } from "./harness.ts";
import { HOST_TOOL_FILES, HOST_TOOLS, hostToolsContract } from "./host-tools.ts";
import { hostPathsContract } from "./host-paths.ts";
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

export { fuzzRealm } from "./reachable.ts";
export type { ContractGroup, ContractOptions } from "./harness.ts";

/**
 * Registers the vitest tests that every sandbox provider must pass. Call it at the top of a test file:
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
  const { groups = ["programs", "guest", "realms"] } = options;
  describe(`sandbox contract: ${name}`, () => {
    if (groups.includes("programs")) describePrograms(makeProvider, options);
    if (groups.includes("guest")) describeGuest(makeProvider, options);
    if (groups.includes("realms")) describeRealms(makeProvider);
  });
}

/** One sandbox for all tests of a group that don't need their own. */
function useHarness(makeProvider: () => SandboxProvider): () => Harness {
  let harness: Harness;
  beforeAll(async () => {
    harness = await Harness.make(
      makeProvider(),
      { ...TOOL_FILES, ...ODD_FILES, ...HOST_TOOL_FILES, ...RUNTIME_FILES },
      { hostTools: HOST_TOOLS },
    );
  });
  afterAll(() => harness?.dispose());
  return () => harness;
}

function describePrograms(makeProvider: () => SandboxProvider, { level }: ContractOptions): void {
  const current = useHarness(makeProvider);
  it("says what holds the guest", async () => {
    const probe = await makeProvider().probe();
    expect(probe).toMatchObject({ available: true, isolation: { level } });
    expect(current().sandbox.isolation.level).toBe(level);
    expect(current().sandbox.isolation.mechanisms.length).toBeGreaterThan(0);
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
  describe("tools", () => {
    toolsContract(current);
  });
  describe("tools on the host without a file", () => {
    hostToolsContract(current);
  });
  describe("kept results", () => {
    resultsContract(current);
  });
  describe("the host", () => {
    hostPathsContract(current);
  });
  describe("work that nobody awaited", () => {
    unawaitedContract(makeProvider);
  });
}

function describeGuest(makeProvider: () => SandboxProvider, options: ContractOptions): void {
  const current = useHarness(makeProvider);
  describe("limits", () => {
    limitsContract(current, makeProvider);
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
  describe("life of a sandbox", () => {
    lifecycleContract(makeProvider);
  });
}

function describeRealms(makeProvider: () => SandboxProvider): void {
  describe("runs of a session", () => {
    realmsContract(makeProvider);
  });
}
