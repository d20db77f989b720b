// Finds the Node that runs the project: the pinned one from the registry where there is one for this
// platform, else the one that runs this script if it is new enough. Must itself run on Node 20.
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

const NEEDED = [22, 19];

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

/** The path of a Node that is new enough, or undefined. */
export function findNode() {
  const pinned = path.join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(pinned)) return pinned;
  return isNewEnough(process.versions.node) ? process.execPath : undefined;
}

export const nodeMissing = `Node ${NEEDED.join(".")} or newer is needed, and the registry has none for ${process.platform}-${process.arch}. Install it from https://nodejs.org, then run this again.`;
