import { basename } from "node:path";
import type { SandboxSpec } from "@cem/core";
import { GUEST_RUNNER, guestBootFile, machineCommand } from "@cem/sandbox/provider-kit";

const BLOCK_BYTES = 512;
/** Sets limits of the process, then replaces the shell and its environment: `BLOCKS CWD NAME=VALUE … FILE ARG …`. */
const START = `ulimit -c 0; ulimit -f "$1"; cd "$2" || exit 1; shift 2; exec env -i "$@"`;

/** The command that starts the guest runner in a pod whose image has it in `/cem`. */
export function guestCommand(spec: SandboxSpec): string[] {
  const boot = `${GUEST_RUNNER}/guest/${basename(guestBootFile)}`;
  const { file, args, cwd, env, fileBytes } = machineCommand(spec, `${GUEST_RUNNER}/deno`, boot);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [
    "sh",
    "-c",
    START,
    "cem",
    String(Math.ceil(fileBytes / BLOCK_BYTES)),
    cwd,
    ...variables,
    file,
    ...args,
  ];
}
