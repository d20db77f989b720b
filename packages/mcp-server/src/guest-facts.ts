import type { Mount, NetworkPolicy } from "@cem/core";

/** What code can reach in the sandbox, as its model is told. */
export interface GuestFacts {
  /** The hosts that code may connect to. Absent: nothing is said of them. */
  network?: NetworkPolicy | undefined;
  /** The most time that the code of a run may take, in milliseconds. Absent: no limit is named. */
  timeoutMs?: number | undefined;
  /** Whether there are MCP servers, whose resources and prompts code can read. */
  hasMcpServers?: boolean | undefined;
  /** Folders beside those of `/workspace`. */
  mounts?: readonly Pick<Mount, "guestPath" | "readOnly">[] | undefined;
}

const MAX_NAMED_HOSTS = 5;
const MAX_NAMED_MOUNTS = 5;
const MS_PER_SECOND = 1_000;

/** The network of the sandbox, as a sentence: `No network.` Empty where it is not known. */
export function networkSentence({ network }: GuestFacts): string {
  if (network === undefined) return "";
  if (network === "none") return "No network.";
  if (network === "all") return "fetch reaches public hosts.";
  return `fetch reaches only ${listed(network.hosts, MAX_NAMED_HOSTS)}.`;
}

/** The folders of the sandbox, as a sentence. */
export function filesSentence({ mounts = [] }: GuestFacts): string {
  const others = mounts.map(({ guestPath, readOnly }) => `${guestPath}${readOnly ? " (read-only)" : ""}`);
  const more = others.length === 0 ? "" : `, ${listed(others, MAX_NAMED_MOUNTS)}`;
  return `Files: only /workspace${more}; /workspace/servers is read-only.`;
}

/** A time in seconds, with at most one decimal. */
export function seconds(ms: number): string {
  return `${Math.round(ms / (MS_PER_SECOND / 10)) / 10} s`;
}

function listed(names: readonly string[], limit: number): string {
  const more = names.length > limit ? [`${names.length - limit} more`] : [];
  return [...names.slice(0, limit), ...more].join(", ");
}
