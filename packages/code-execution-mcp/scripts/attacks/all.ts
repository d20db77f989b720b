import type { Attack } from "./attack.ts";
import { BRIDGE_ATTACKS } from "./bridge.ts";
import { ESCAPE_ATTACKS } from "./escape.ts";
import { EXHAUSTION_ATTACKS } from "./exhaustion.ts";
import { FILE_ATTACKS } from "./files.ts";
import { HONEST_PROGRAMS } from "./honest.ts";
import { NETWORK_ATTACKS } from "./network.ts";

/** All attacks, by kind. */
export const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  honest: HONEST_PROGRAMS,
  files: FILE_ATTACKS,
  network: NETWORK_ATTACKS,
  bridge: BRIDGE_ATTACKS,
  escape: ESCAPE_ATTACKS,
  exhaustion: EXHAUSTION_ATTACKS,
};
