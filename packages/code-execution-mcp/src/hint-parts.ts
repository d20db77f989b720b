import type { ErrorDetails, ErrorInfo } from "@cem/core";
import { shellWord } from "./shell-word.ts";

/** What helps where the workspace is full. */
export const MORE_ROOM =
  "Delete what is not needed, or allow more with execution.limits.max_workspace_mb and max_workspace_entries.";

/** What to do about a run that was killed, by the `reason` in its details. */
export const LIMITS: Readonly<Record<string, string>> = {
  "call-limit": "Allow more with execution.limits.max_tool_calls.",
  "payload-limit": "Allow more with execution.limits.max_payload_mb.",
  "workspace-quota": MORE_ROOM,
  "write-limit": "Allow more with execution.limits.max_write_mb.",
};

/** What the system says, by Node's and by Deno's functions, where its user has no right to write. */
const NOT_WRITABLE = /^(?:EACCES|EPERM|EROFS|Permission denied|Read-only file system)\b/u;

/** The setting that allows what the sandbox or the system denied. */
export function hintOfDenied(name: string, message: string): string | undefined {
  if (NOT_WRITABLE.test(message)) {
    return "The workspace, or a file in it, is not this user's to write: cem doctor tells. Work in another folder with execution.workspace_dir (--workspace).";
  }
  if (name !== "NotCapable") return undefined;
  if (message.startsWith("The sandbox has no network access"))
    return "Allow it with execution.allow_network_access: true, and name the hosts in guardrails.allowed_networks.";
  return /^The sandbox can't (?:read|write) (?!"\/workspace\/)/u.test(message)
    ? "Let code see a folder of this machine with execution.mount_directories."
    : undefined;
}

/** Whether a detail is an error of its own. */
export function isErrorInfo(value: unknown): value is ErrorInfo {
  if (typeof value !== "object" || value === null) return false;
  const { code, details } = value as Partial<ErrorInfo>;
  return typeof code === "string" && typeof details === "object" && details !== null;
}

/** A hint that names the server in a command. */
export function withName({ server }: ErrorDetails, hint: (word: string) => string): string | undefined {
  return typeof server === "string" && server !== "" ? hint(shellWord(server)) : undefined;
}

/** A detail that is text, or what stands for one that is missing. */
export function text(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}
