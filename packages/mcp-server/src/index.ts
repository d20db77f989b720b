export { createAgentServer } from "./create-server.ts";
export type { AgentServer, AgentServerSettings } from "./create-server.ts";
export { customTool } from "./custom-tool.ts";
export type { CustomTool, CustomToolContext } from "./custom-tool.ts";
export { PROFILES } from "./profiles.ts";
export type { Profile } from "./profiles.ts";
export type { RunRegistry } from "./run-registry.ts";
export { serveStdio } from "./stdio.ts";
export type { Serving, StdioOptions } from "./stdio.ts";
