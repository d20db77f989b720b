import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The text of the client module's declaration file (`.d.ts`), for a type checker. */
export const GUEST_CLIENT_DECLARATIONS = `/** Calls a tool that runs on the host. Rejects with a ToolError when it fails. */
export declare function callTool<Result = unknown>(server: string, tool: string, args?: unknown): Promise<Result>;
/** A tool on the host answered with an error. Its message names the tool. */
export declare class ToolError extends Error {
  readonly code: string;
  readonly server: string;
  readonly tool: string;
  readonly details: unknown;
}
/** In a tool's result, the place of bytes or of a value that is too large. As JSON it is its plain fields. */
export interface ResultHandle {
  readonly type: "image" | "audio" | "resource" | "text" | "json";
  readonly mimeType: string;
  /** In bytes. */
  readonly size: number;
  /** The file that holds it: /workspace/results/… */
  readonly path: string;
  /** The beginning, of text. */
  readonly preview?: string;
  readonly uri?: string;
  /** A piece of a text: limit bytes (default 65,536) from offset on. next is the following offset, null at the end. */
  page(offset?: number, limit?: number): Promise<{ text: string; offset: number; next: number | null; size: number }>;
  /** The items of a list, one at a time; of an object, of the list under these names: items("data", "rows"). */
  items<Item = any>(...names: string[]): Generator<Item>;
  text(): Promise<string>;
  json<Value = any>(): Promise<Value>;
  bytes(offset?: number, limit?: number): Promise<Uint8Array>;
}
/** The resources and prompts of an MCP server. */
export declare function listResources(server: string): Promise<any[]>;
export declare function listResourceTemplates(server: string): Promise<any[]>;
/** The contents of a resource: texts and handles. */
export declare function readResource(server: string, uri: string): Promise<any[]>;
export declare function listPrompts(server: string): Promise<any[]>;
export declare function getPrompt(server: string, name: string, args?: Record<string, string>): Promise<{ description?: string; messages: any[] }>;
/** Proposes a skill: code that exports functions, and a program that imports "./skills/<name>/index.ts" and throws where they are wrong. A person promotes it. */
export declare function saveSkill(draft: { name: string; description: string; code: string; test: string; instructions?: string }): Promise<{ name: string; status: "proposal"; version: number }>;
`;

/** The same declarations as an ambient module `cem:client`, by which code in the guest imports them. */
export const GUEST_CLIENT_TYPES = `declare module "cem:client" {
${GUEST_CLIENT_DECLARATIONS.replaceAll("export declare ", "export ")}}
`;

const built = fileURLToPath(new URL("./guest/boot.js", import.meta.url));
const source = fileURLToPath(new URL("../guest/boot.ts", import.meta.url));

/** Absolute path of the guest runner's entry file on the host. Its folder holds every file the runner needs. */
export const guestBootFile: string = existsSync(built) ? built : source;
