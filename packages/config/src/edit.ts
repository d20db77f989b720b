export { addServer, removeServer } from "./edit-servers.ts";
export type { ServerEntry } from "./edit-servers.ts";
export { findProblems } from "./find-problems.ts";
