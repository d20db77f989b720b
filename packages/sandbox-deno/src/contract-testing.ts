import { describeSandboxContract, type ContractGroup } from "@cem/sandbox/contract";
import type { IsolationLevel } from "@cem/core";
import { createDenoSandboxProvider } from "./index.ts";
import { backendPerLevel } from "./testing.ts";

/** Describes the contract, or a group of its tests, for the backends of one level. */
export async function describeContractAt(level: IsolationLevel, groups?: ContractGroup[]): Promise<void> {
  const backends = await backendPerLevel();
  for (const { isolation } of backends.filter((backend) => backend.level === level))
    describeSandboxContract(`deno, ${isolation}`, () => createDenoSandboxProvider({ isolation }), {
      level,
      groups,
    });
}
