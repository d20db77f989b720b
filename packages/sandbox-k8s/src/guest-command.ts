import { basename } from "node:path";
import type { SandboxSpec } from "@cem/core";
import {
  GUEST_RUNNER,
  GUEST_WORKSPACE,
  guestBootFile,
  guestEnvironment,
  namespacedDenoArguments,
} from "@cem/sandbox/provider-kit";

const BYTES_PER_MIB = 1024 * 1024;
const BLOCK_BYTES = 512;
/** Sets limits of the process, then replaces the shell and its environment: `BLOCKS CWD NAME=VALUE … FILE ARG …`. */
const START = `ulimit -c 0; ulimit -f "$1"; cd "$2" || exit 1; shift 2; exec env -i "$@"`;

/** The command that starts the guest runner in a pod whose image has it in `/cem`. */
export function guestCommand(
  { mounts = [], hidden = [], network = "none" }: SandboxSpec,
  { memoryMb, writeMb }: { memoryMb: number; writeMb: number },
): string[] {
  const variables = Object.entries(guestEnvironment("/tmp/deno")).map(([name, value]) => `${name}=${value}`);
  const boot = `${GUEST_RUNNER}/guest/${basename(guestBootFile)}`;
  const blocks = Math.ceil((Math.ceil(writeMb) * BYTES_PER_MIB) / BLOCK_BYTES);
  return [
    "sh",
    "-c",
    START,
    "cem",
    String(blocks),
    GUEST_WORKSPACE,
    ...variables,
    `${GUEST_RUNNER}/deno`,
    ...namespacedDenoArguments({ mounts, network, memoryMb, denyRead: hidden }, boot),
  ];
}
