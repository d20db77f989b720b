import type { SandboxProvider } from "@cem/core";
import { describeSandboxContract } from "@cem/sandbox/contract";
import { isWhole, makeProvider } from "./provider.ts";

/** Each machine serves the runs of one sandbox: booting one for each takes too long where all is emulated. */
function inSessions(): SandboxProvider {
  const provider = makeProvider({ reuse: "session" });
  return {
    specificationVersion: "v1",
    name: provider.name,
    probe: (options) => provider.probe(options),
    create: (spec, options) => provider.create({ ...spec, defaultSession: "contract" }, options),
  };
}

// A machine reaches its host by no address, so the contract's own servers can't be allowed.
const options = { level: "microvm", network: false };
if (isWhole) describeSandboxContract("microsandbox", () => makeProvider(), options);
describeSandboxContract("microsandbox, in sessions", inSessions, options);
