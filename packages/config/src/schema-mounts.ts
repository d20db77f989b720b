import { posix } from "node:path";
import * as z from "zod";
import { text } from "./setting.ts";

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
  host: text.describe("Folder on the host."),
  guest: text
    .optional()
    .describe(`Absolute path in the guest. Default: ${GUEST_MOUNTS}/<name of the folder>.`),
  mode: z.enum(["ro", "rw"]).default("ro").describe("ro: read only. rw: the guest may write."),
});

/** `path`, `host:guest`, `host:guest:rw`, `host:rw` or an object. Read-only unless it says `rw`. */
const mount = z.union([text, mountObject]).transform((value, context): MountSetting => {
  const parts = typeof value === "string" ? WRITTEN.exec(value)?.groups : value;
  if (parts?.["host"] === undefined || parts["host"] === "") {
    context.addIssue({ code: "custom", message: 'is not "host", "host:guest" or "host:guest:rw"' });
    return z.NEVER;
  }
  const host = parts["host"];
  const name = host
    .replaceAll("\\", "/")
    .split("/")
    .findLast((part) => part !== "" && part !== "." && part !== "..");
  if (parts["guest"] === undefined && name === undefined) {
    context.addIssue({ code: "custom", message: 'has no name to mount it by; write "host:guest"' });
    return z.NEVER;
  }
  const guest = posix.normalize(parts["guest"] ?? `${GUEST_MOUNTS}/${name}`).replace(/(?<=.)\/$/, "");
  if (!guest.startsWith("/") || guest === "/" || guest === "/workspace") {
    context.addIssue({
      code: "custom",
      message: `can't be mounted on ${JSON.stringify(guest)}; name an absolute folder below /`,
    });
    return z.NEVER;
  }
  return { host, guest, mode: parts["mode"] === "rw" ? "rw" : "ro" };
});

export const mounts = z.array(mount).superRefine((list, context) => {
  const seen = new Set<string>();
  for (const [index, { guest }] of list.entries()) {
    if (seen.has(guest)) {
      context.addIssue({
        code: "custom",
        path: [index],
        message: `is a second mount on ${guest}; give each its own guest path`,
      });
    }
    seen.add(guest);
  }
});
