import * as z from "zod/mini";
import { posix } from "node:path";
import { BYTES_PER_MB, DEFAULT_RUN_LIMITS, ISOLATION_LEVELS } from "@cem/core";
import { oneOf, orderedBy } from "./risk.ts";
import {
  choice,
  count,
  described,
  fail,
  flag,
  harmless,
  isPathByForm,
  limit,
  number,
  optional,
  secretText,
  section,
  setting,
  text,
  unique,
  whole,
  withDefault,
} from "./setting.ts";

/** The sandboxes that need no plugin. */
export const SANDBOX_TYPES: readonly string[] = ["auto", "deno", "microsandbox", "kubernetes"];
const BYTES_PER_KB = 1024;

const MAX_START_SECONDS = 3_600;

/** Settings of the pods that `execution.sandbox_type: kubernetes` runs code in. */
const kubernetesSettings = {
  template: setting(
    withDefault(text, "cem-guest"),
    "Name of the SandboxTemplate of agent-sandbox whose pod the guests get.",
  ),
  namespace: setting(
    z.optional(text),
    "Namespace of the template and the guests. Default: that of the kubeconfig's context, or of this process's pod.",
  ),
  volumeClaim: setting(
    z.optional(text),
    "Name of the PersistentVolumeClaim that this process and the guests share. Required.",
  ),
  volumeRoot: setting(
    withDefault(text, "/files"),
    "Absolute path at which this process has that volume mounted. The workspace, tools and skills have to be below.",
  ),
  startTimeout: limit(
    withDefault(number(1, MAX_START_SECONDS), 120),
    "Seconds in which a guest's pod has to be ready, the pull of its image included.",
  ),
};

/** A host folder that guest code sees. */
export interface MountSetting {
  /** Path on the host, absolute in a loaded configuration. */
  host: string;
  /** Absolute path in the guest. */
  guest: string;
  mode: "ro" | "rw";
}

const GUEST_MOUNTS = "/workspace/mounts";
const WRITTEN = /^(?<host>(?:[A-Za-z]:[\\/])?[^:]*)(?::(?<guest>\/[^:]*))?(?::(?<mode>ro|rw))?$/;

const mountObject = z.strictObject({
  host: setting(text, "Folder on the host.", { path: true }),
  guest: optional(text, `Absolute path in the guest. Default: ${GUEST_MOUNTS}/<name of the folder>.`),
  mode: described(choice(["ro", "rw"], "ro"), "ro: read only. rw: the guest may write."),
});

function toMount(value: string | z.output<typeof mountObject>, payload: z.core.ParsePayload): MountSetting {
  const parts = typeof value === "string" ? WRITTEN.exec(value)?.groups : value;
  if (parts?.["host"] === undefined || parts["host"] === "")
    return fail(payload, 'is not "host", "host:guest" or "host:guest:rw"');
  const host = parts["host"];
  const name = host
    .replaceAll("\\", "/")
    .split("/")
    .findLast((part) => part !== "" && part !== "." && part !== "..");
  if (parts["guest"] === undefined && name === undefined)
    return fail(payload, 'has no name to mount it by; write "host:guest"');
  const guest = posix.normalize(parts["guest"] ?? `${GUEST_MOUNTS}/${name}`).replace(/(?<=.)\/$/, "");
  if (!guest.startsWith("/") || guest === "/" || guest === "/workspace")
    return fail(payload, `can't be mounted on ${JSON.stringify(guest)}; name an absolute folder below /`);
  return { host, guest, mode: parts["mode"] === "rw" ? "rw" : "ro" };
}

/** `path`, `host:guest`, `host:guest:rw`, `host:rw` or an object. Read-only unless it says `rw`. */
const mount = z.pipe(z.union([text, mountObject]), z.transform(toMount));

const mounts = z.array(mount).check(
  unique(
    ({ guest }: MountSetting) => guest,
    (guest) => `is a second mount on ${guest}; give each its own guest path`,
  ),
);

const state = section("State that persists between runs.", {
  enabled: harmless(flag(true), "Whether state is kept.", ["STATE_ENABLED"]),
  workspaceDir: setting(z.optional(text), "Folder of the state. Default: execution.workspace_dir.", {
    variables: ["STATE_WORKSPACE_DIR"],
    path: true,
  }),
  stateFile: harmless(
    withDefault(text, "state.json"),
    "Name of the state file in that folder. Its ending is that of state_format.",
    ["STATE_FILE"],
  ),
  autoSave: harmless(
    flag(true),
    "Save each run in the log of its session, sessions/session_001.json and so on in the workspace.",
    ["STATE_AUTO_SAVE"],
  ),
  stateFormat: harmless(
    withDefault(
      z.pipe(
        z.enum(["json", "yaml", "binary", "pickle"]),
        z.transform((format) => (format === "pickle" ? "binary" : format)),
      ),
      "json",
    ),
    "How state is written, with the file's ending: json, yaml, or binary (MessagePack, .msgpack). pickle stands for binary.",
    ["STATE_FORMAT"],
  ),
});

const limits = section(
  "Limits of a run and of the workspace, besides guardrails.max_execution_time and max_memory_mb.",
  {
    maxOutputKb: limit(
      count(1_048_576, DEFAULT_RUN_LIMITS.outputBytes / BYTES_PER_KB),
      "Output kept of one run, in KiB. Output beyond it is counted and dropped.",
    ),
    maxToolCalls: limit(
      withDefault(whole(0, 10_000_000), DEFAULT_RUN_LIMITS.calls),
      "Maximum tool calls in one run.",
    ),
    maxPayloadMb: limit(
      withDefault(number(0.001, 1_024), DEFAULT_RUN_LIMITS.payloadBytes / BYTES_PER_MB),
      "Maximum size of arguments, a result or a value, in MiB.",
    ),
    maxWriteMb: limit(
      count(1_048_576, DEFAULT_RUN_LIMITS.writeMb),
      "Maximum that one run may write to the workspace, in MiB.",
    ),
    maxWorkspaceMb: limit(
      count(1_073_741_824, 10_240),
      "Maximum that the workspace may hold, in MiB. A run that takes it above is ended.",
    ),
    maxWorkspaceEntries: limit(
      count(1_000_000_000, 250_000),
      "Maximum number of files and folders in the workspace. A run that takes it above is ended.",
    ),
  },
);

export const executionSettings = {
  workspaceDir: setting(withDefault(text, "./workspace"), "Folder that the code sees as /workspace.", {
    variables: ["EXECUTION_WORKSPACE_DIR", "WORKSPACE_DIR", "AGENTKERNEL_WORKSPACE"],
    path: true,
  }),
  serversDir: setting(withDefault(text, "./servers"), "Folder with the tools, one folder per server.", {
    variables: ["EXECUTION_SERVERS_DIR", "SERVERS_DIR"],
    path: true,
  }),
  skillsDir: setting(withDefault(text, "./skills"), "Folder with the skills.", {
    variables: ["EXECUTION_SKILLS_DIR", "SKILLS_DIR"],
    path: true,
  }),
  workflowRunsDir: setting(
    withDefault(text, ".cem/workflows"),
    "Folder in which runs of workflows are kept, to go on with. Code in the sandbox must not reach it.",
    { path: true },
  ),
  sandboxType: setting(
    withDefault(text, "auto"),
    "Sandbox that runs the code. auto: the one of deno and microsandbox with the strongest isolation that works on this host. kubernetes: pods of agent-sandbox.",
    {
      variables: ["SANDBOX_TYPE", "AGENT_SANDBOX_TYPE"],
      allowed: `${SANDBOX_TYPES.join(", ")}, or the name of a plugin's sandbox`,
    },
  ),
  sandboxImage: setting(
    withDefault(text, "auto"),
    "Image of the microVM: an OCI reference, or a path (./image.tar, or an absolute one) of an archive, a folder or a disk image, with glibc. auto: one of this host's own C library.",
    { path: isPathByForm },
  ),
  minIsolation: setting(
    choice(ISOLATION_LEVELS, "permissions"),
    "Refuse to run below this level. microvm: its own kernel. namespaces: kernel namespaces around the guest. permissions: the runtime's own permissions.",
    { isStricter: orderedBy(ISOLATION_LEVELS) },
  ),
  typeCheck: setting(
    choice(["before", "off"], "before"),
    "before: code from a caller or a model is checked against the types of its tools before it runs. off: it is not.",
    { isStricter: oneOf("before") },
  ),
  allowNetworkAccess: setting(flag(false), "Whether the guest may use the network.", {
    variables: ["ALLOW_NETWORK_ACCESS"],
    isStricter: oneOf(false),
  }),
  mountDirectories: setting(
    withDefault(mounts, []),
    "Additional folders that the guest sees: path, host:guest, host:guest:rw, or {host, guest, mode}. Read-only unless marked rw; under /workspace/mounts by default.",
    { askedAs: "mount" },
  ),
  msbServerUrl: setting(
    z.optional(text),
    "URL of a microsandbox server of 0.2 or older (msb server start). With sandbox_type microsandbox, code runs there.",
    { variables: ["MSB_SERVER_URL", "MICROSANDBOX_URL"] },
  ),
  msbApiKey: setting(z.optional(secretText), "API key of that server.", { variables: ["MSB_API_KEY"] }),
  kubernetes: section("Pods for sandbox_type kubernetes.", kubernetesSettings),
  state,
  limits,
};
