import * as z from "zod/mini";
import { posix } from "node:path";
import { choice, described, fail, limit, number, setting, text, unique, withDefault } from "./setting.ts";

const MAX_SECONDS = 3_600;

/** Settings of the pods that `execution.sandbox_type: kubernetes` runs code in. */
export const kubernetesSettings = {
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
    withDefault(number(1, MAX_SECONDS), 120),
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
  guest: described(
    z.optional(text),
    `Absolute path in the guest. Default: ${GUEST_MOUNTS}/<name of the folder>.`,
  ),
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

export const mounts = z.array(mount).check(
  unique(
    ({ guest }: MountSetting) => guest,
    (guest) => `is a second mount on ${guest}; give each its own guest path`,
  ),
);
