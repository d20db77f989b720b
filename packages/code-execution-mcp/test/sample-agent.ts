import path from "node:path";
import { createAgent } from "../src/index.ts";
import type { Agent } from "../src/index.ts";

const root = path.resolve(import.meta.dirname, "../../..");

/** An agent with the sample servers and skills, as a new process would have it: nothing is remembered. */
export function sampleAgent(workspaceDir: string): Agent {
  return createAgent({
    configFile: false,
    config: {
      execution: {
        workspaceDir,
        serversDir: path.join(root, "servers"),
        skillsDir: path.join(root, "skills"),
      },
      optimizations: { toolCache: false },
    },
  });
}
