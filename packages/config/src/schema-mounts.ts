import { posix } from "node:path";
import * as z from "zod/mini";
import { choice, described, fail, setting, text, unique } from "./setting.ts";

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
  if (parts?.["host"] === undefined || parts["host"] === "") {
    return fail(payload, 'is not "host", "host:guest" or "host:guest:rw"');
  }
  const host = parts["host"];
  const name = host
    .replaceAll("\\", "/")
    .split("/")
    .findLast((part) => part !== "" && part !== "." && part !== "..");
  if (parts["guest"] === undefined && name === undefined) {
    return fail(payload, 'has no name to mount it by; write "host:guest"');
  }
  const guest = posix.normalize(parts["guest"] ?? `${GUEST_MOUNTS}/${name}`).replace(/(?<=.)\/$/, "");
  if (!guest.startsWith("/") || guest === "/" || guest === "/workspace") {
    return fail(payload, `can't be mounted on ${JSON.stringify(guest)}; name an absolute folder below /`);
  }
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
