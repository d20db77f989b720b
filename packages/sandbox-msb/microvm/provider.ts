import { readFileSync } from "node:fs";
import {
  createMicrosandboxProvider,
  type GuestSandboxProvider,
  type MicrosandboxSettings,
} from "@cem/sandbox-msb";

const { home, denoPath } = JSON.parse(readFileSync(new URL("./settings.json", import.meta.url), "utf8")) as {
  home: string;
  denoPath: string;
};

/** A machine boots in two seconds of an emulated machine's own clock; one that hangs is tried once more. */
const BOOT_TIMEOUT_MS = 8_000;

/** Whether all is tried, or what an emulated processor has time for. */
export const isWhole: boolean = process.env["CEM_MICROVM_SCOPE"] === "whole";

/** The Deno that the machines run. */
export const denoFile: string = denoPath;

/** Where the machines keep their files. */
export const machinesHome: string = home;

export function makeProvider(settings: MicrosandboxSettings = {}): GuestSandboxProvider {
  return createMicrosandboxProvider({
    home,
    denoPath,
    bootTimeoutMs: BOOT_TIMEOUT_MS,
    standby: 0,
    ...settings,
  });
}
