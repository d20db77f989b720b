import type { Sandbox, SandboxProvider } from "@cem/core";
import { describeSandboxContract } from "@cem/sandbox/contract";
import { isWhole, makeProvider } from "./provider.ts";

/** Each machine serves the runs of one sandbox: booting one for each takes too long where all is emulated. */
function inSessions(): SandboxProvider {
  const provider = makeProvider({ reuse: "session" });
  return {
    specificationVersion: "v1",
    name: provider.name,
    probe: (options) => provider.probe(options),
    async create(spec, options): Promise<Sandbox> {
      const sandbox = await provider.create(spec, options);
      return {
        isolation: sandbox.isolation,
        run: (request) => sandbox.run({ session: "contract", ...request }),
        dispose: () => sandbox.dispose(),
      };
    },
  };
}

// A machine reaches its host by no address, so the contract's own servers can't be allowed.
const options = { level: "microvm", network: false };
if (isWhole) describeSandboxContract("microsandbox", () => makeProvider(), options);
describeSandboxContract("microsandbox, in sessions", inSessions, options);
