import { execFileSync, spawnSync } from "node:child_process";

const NAMES = { space: "cem-test-host", inside: "cem-test-in", outside: "cem-test-out" };
/** This machine's address as a host in a network namespace sees it. */
export const OUTSIDE = "198.18.77.1";
const INSIDE = "198.18.77.2";

/** A host of its own on a cable to this machine: a network namespace. */
export interface NetworkHost {
  /** The words before a command that is to run there. */
  readonly command: readonly string[];
  /** Pulls the cable: packets are lost, and nobody is told. */
  cut(): void;
  heal(): void;
  remove(): void;
}

/** A host in a network namespace. `undefined` where this process may make none. */
export function addNetworkHost(): NetworkHost | undefined {
  const { space, inside, outside } = NAMES;
  const ip = (...args: string[]): void => void execFileSync("ip", args, { stdio: "pipe" });
  const remove = (): void => {
    spawnSync("ip", ["link", "delete", outside]);
    spawnSync("ip", ["netns", "delete", space]);
  };
  const within = (...args: string[]): void => ip("-n", space, ...args);
  try {
    remove();
    ip("netns", "add", space);
    ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space);
    ip("address", "add", `${OUTSIDE}/30`, "dev", outside);
    ip("link", "set", outside, "up");
    within("address", "add", `${INSIDE}/30`, "dev", inside);
    within("link", "set", inside, "up");
    within("link", "set", "lo", "up");
  } catch {
    remove();
    return undefined;
  }
  return {
    command: ["ip", "netns", "exec", space],
    cut: () => within("link", "set", inside, "down"),
    heal: () => within("link", "set", inside, "up"),
    remove,
  };
}
