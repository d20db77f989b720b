export { createAgent } from "./agent.ts";
export type { AgentSettings } from "./agent.ts";
export type { TokenCounter } from "./context-tokens.ts";
