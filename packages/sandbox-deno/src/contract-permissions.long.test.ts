import { describeSandboxContract } from "@cem/sandbox/contract";
import { createDenoSandboxProvider } from "./index.ts";
import { backendPerLevel } from "./testing.ts";

const backends = await backendPerLevel();

for (const { isolation, level } of backends.filter((backend) => backend.level === "permissions")) {
  describeSandboxContract(`deno, ${isolation}`, () => createDenoSandboxProvider({ isolation }), { level });
}
