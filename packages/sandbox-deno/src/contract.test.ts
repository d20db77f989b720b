import { describeSandboxContract } from "@cem/sandbox/contract";
import { createDenoSandboxProvider } from "./index.ts";
import { availableBackends } from "./testing.ts";

// What a host can't give is named by the tests of detection; here each one that works has to keep the contract.
for (const { isolation, level } of await availableBackends()) {
  describeSandboxContract(`deno, ${isolation}`, () => createDenoSandboxProvider({ isolation }), { level });
}
