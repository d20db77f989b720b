import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What guest code imports to call tools on the host. */
export const GUEST_CLIENT_SPECIFIER = "cem:client";

/** The same module as a file of the workspace: what `servers/<server>/<tool>.ts` imports as `../../client/index.ts`. */
export const GUEST_CLIENT_FILE = "/workspace/client/index.ts";

/** What `cem:client` exports, for a type checker. */
export const GUEST_CLIENT_TYPES = `declare module "${GUEST_CLIENT_SPECIFIER}" {
  /** Calls a tool that runs on the host. Rejects with a ToolError when it fails. */
  export function callTool(server: string, tool: string, args?: unknown): Promise<unknown>;
  /** A tool on the host answered with an error. */
  export class ToolError extends Error {
    readonly code: string;
    readonly details: unknown;
  }
}
`;

const built = fileURLToPath(new URL("./guest/boot.js", import.meta.url));
const source = fileURLToPath(new URL("./guest/boot.ts", import.meta.url));

/** The guest runner's file, on the host. Its folder holds all it needs. */
export const guestBootFile: string = existsSync(built) ? built : source;
