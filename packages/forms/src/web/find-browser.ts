import { constants } from "node:fs";
import { access } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";

/** The environment's variable that names a browser. */
const VARIABLE = "CHROMIUM_PATH";
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC_FILES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/**
 * Finds the system's Chromium or Chrome.
 *
 * @throws CemError `BROWSER_NOT_FOUND`
 */
export async function findBrowser(executable: string | undefined): Promise<string> {
  const named = executable ?? process.env[VARIABLE];
  if (named !== undefined && named !== "") {
    if (await isExecutable(named)) return named;
    throw notFound(`There is no browser at ${named}.`);
  }
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  for (const file of [
    ...folders.flatMap((folder) => NAMES.map((name) => path.join(folder, name))),
    ...MAC_FILES,
  ]) {
    if (await isExecutable(file)) return file;
  }
  throw notFound(`No browser is on the PATH: looked for ${NAMES.join(", ")}.`);
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function notFound(what: string): CemError {
  return new CemError(
    "BROWSER_NOT_FOUND",
    `${what} Install one (apt-get install chromium), or name its file with ${VARIABLE}.`,
    { details: { names: NAMES, variable: VARIABLE } },
  );
}
