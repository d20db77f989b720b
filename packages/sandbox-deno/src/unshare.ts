import { accessSync, constants, existsSync, lstatSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { basename, dirname } from "node:path/posix";
import { GUEST_WORKSPACE } from "@cem/core";
import { deathSignalPrefix, findProgram } from "@cem/core/files";
import { shellWord as quote } from "@cem/core/text";
import {
  GUEST_RUNNER,
  guestEnvironment,
  namespacedDenoArguments,
  NETWORK_FILES,
} from "@cem/sandbox/provider-kit";
import { hiddenPlaces, namespacedPermissions, placedInitOf, placeMounts } from "./guest-plan.ts";
import type { BackendProbe, GuestPlan, IsolationBackend, SpawnPlan } from "./guest-plan.ts";
import { resourceLimitPrefix } from "./command-prefixes.ts";

const PROGRAMS = ["sh", "unshare", "setpriv", "mount", "umount", "mkdir", "pivot_root"] as const;
const TEMPORARY_SIZE = "64m";
const READ_ONLY = "bind,ro,nosuid,nodev";
const SYSTEM_FOLDERS = ["/usr", "/lib", "/lib64", "/bin", "/sbin"];

/** Probes for util-linux's `unshare`: namespaces with a root of its own, rlimits and Deno's permissions, without seccomp. */
export function findUnshare(): BackendProbe {
  if (process.platform !== "linux") return { ok: false, reason: "unshare is for Linux only" };
  const missing = PROGRAMS.filter((name) => findProgram(name) === undefined);
  if (missing.length > 0)
    return { ok: false, reason: `${missing.join(", ")} of util-linux are not installed` };
  const rlimits = findProgram("prlimit") === undefined ? [] : ["rlimits"];
  const backend: IsolationBackend = {
    name: "unshare",
    level: "namespaces",
    mechanisms: ["unshare", ...rlimits, "deno permissions"],
    plan: planUnshare,
  };
  return { ok: true, backend };
}

/** Shell lines that bind-mount a file or folder of the host under the new root. */
function bind(source: string, target: string, readOnly: boolean): string[] {
  const place = quote(`.${target}`);
  const isFolder = statSync(source).isDirectory();
  const make = isFolder ? `mkdir -p ${place}` : `mkdir -p ${quote(`.${dirname(target)}`)}; : >> ${place}`;
  // The kernel does not allow a user namespace to make it writable.
  const options = readOnly || isReadOnlyDisk(source) ? READ_ONLY : "bind,nosuid,nodev";
  const mounts = isFolder ? findNestedMounts(source) : [];
  // A tree that contains other mounts can only be bound as a whole, and each of these has its own options.
  return [
    make,
    `mount -o ${mounts.length > 0 ? "r" : ""}${options} -- ${quote(source)} ${place}`,
    ...mounts.map((nested) => {
      const flags = `${readOnly || nested.readOnly ? "ro," : ""}${nested.noExec ? "noexec," : ""}nosuid,nodev`;
      return `mount -o remount,bind,${flags} ${quote(`.${target}${nested.path.slice(source.length)}`)}`;
    }),
  ];
}

function isReadOnlyDisk(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EROFS";
  }
}

function systemFolders(): string[] {
  return SYSTEM_FOLDERS.filter((path) => existsSync(path)).flatMap((path) => {
    if (!lstatSync(path).isSymbolicLink()) return bind(path, path, true);
    return [`ln -s ${quote(readlinkSync(path))} ${quote(`.${path}`)}`];
  });
}

function planUnshare(plan: GuestPlan): SpawnPlan {
  const { workspaceDir, network, denoFile, bootFile, privateDir } = plan;
  const guestBoot = `${GUEST_RUNNER}/guest/${basename(bootFile)}`;
  const mounts = placeMounts(plan);
  const files = network === "none" ? [] : NETWORK_FILES.filter((path) => existsSync(path));
  const script = [
    "set -e",
    `mount -t tmpfs -o mode=755,size=${TEMPORARY_SIZE} tmpfs ${quote(join(privateDir, "root"))}`,
    `cd ${quote(join(privateDir, "root"))}`,
    "mkdir old proc dev tmp",
    // A guest that runs as root owns /proc/sys and the like, with or without capabilities.
    "mount -t proc -o ro,nosuid,nodev,noexec proc proc",
    ...["/dev/null", "/dev/urandom"].flatMap((device) => [
      `: > .${device}`,
      `mount -o bind ${device} .${device}`,
    ]),
    ...systemFolders(),
    ...files.flatMap((path) => bind(path, path, true)),
    ...bind(denoFile, `${GUEST_RUNNER}/deno`, true),
    ...bind(dirname(bootFile), `${GUEST_RUNNER}/guest`, true),
    ...bind(workspaceDir, GUEST_WORKSPACE, false),
    ...mounts.flatMap(({ hostPath, place, readOnly }) => bind(hostPath, place, readOnly)),
    ...hiddenPlaces(plan).map((place) => `mount -o ${READ_ONLY} -- /dev/null ${quote(`.${place}`)}`),
    "mkdir -p old",
    "pivot_root . old",
    `cd ${GUEST_WORKSPACE}`,
    "umount -l /old",
    'exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"',
  ].join("\n");
  const shared = network === "none" ? ["--net"] : [];
  const [file = "unshare", ...args] = [
    ...resourceLimitPrefix(plan),
    findProgram("unshare") ?? "unshare",
    "--user",
    "--map-root-user",
    "--",
    // Set after the change of user, which would clear it.
    ...(deathSignalPrefix() ?? []),
    findProgram("unshare") ?? "unshare",
    "--mount",
    "--pid",
    "--ipc",
    "--uts",
    "--cgroup",
    ...shared,
    "--fork",
    "--kill-child=KILL",
    "--",
    findProgram("sh") ?? "sh",
    "-c",
    script,
    "sh",
    `${GUEST_RUNNER}/deno`,
    ...namespacedDenoArguments(namespacedPermissions(plan), guestBoot),
  ];
  const path = "/usr/sbin:/usr/bin:/sbin:/bin";
  return {
    file,
    args,
    env: { ...guestEnvironment("/tmp/deno"), PATH: path },
    cwd: "/",
    init: placedInitOf(plan),
  };
}

/** Finds mounts below a folder of this host, such as drivers and secrets that containers mount below `/usr`. */
function findNestedMounts(folder: string) {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, , , , place = "", options = ""] = line.split(" ");
    const path = place.replaceAll(/\\(\d{3})/g, (_, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 8)),
    );
    if (!path.startsWith(`${folder}/`)) return [];
    const set = new Set(options.split(","));
    // The kernel does not allow a user namespace to remove these options.
    return [{ path, readOnly: set.has("ro"), noExec: set.has("noexec") }];
  });
}
