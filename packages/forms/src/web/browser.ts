import { constants } from "node:fs";
import { access } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import type * as playwright from "playwright-core";
import { fromProject } from "../targets/target.ts";

const LAUNCH_TIMEOUT_MS = 60_000;
const ACTION_TIMEOUT_MS = 10_000;
const NAVIGATION_TIMEOUT_MS = 30_000;
const VIEWPORT = { width: 1_280, height: 1_024 };

/** Starts the system's browser with a temporary profile, which reaches the network only through a proxy. */
export async function openBrowser(
  { executable, headless = true, sandbox = process.getuid?.() !== 0 }: BrowserSettings,
  proxy: string,
) {
  const { chromium } = await import("playwright-core").catch(
    fromProject<typeof playwright>("playwright-core"),
  );
  const file = await findBrowser(executable);
  try {
    const browser = await chromium.launch({
      executablePath: file,
      headless,
      chromiumSandbox: sandbox,
      timeout: LAUNCH_TIMEOUT_MS,
      // Without the bypass rule, Chromium bypasses the proxy for addresses of this machine.
      proxy: { server: proxy, bypass: "<-loopback>" },
      args: ["--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic"],
    });
    const context = await browser.newContext({
      acceptDownloads: false,
      serviceWorkers: "block",
      viewport: VIEWPORT,
      locale: "en-US",
    });
    context.setDefaultTimeout(ACTION_TIMEOUT_MS);
    context.setDefaultNavigationTimeout(NAVIGATION_TIMEOUT_MS);
    return { context, close: () => browser.close() };
  } catch (cause) {
    const isSandbox = sandbox && String(cause).includes("sandbox");
    const advice = isSandbox
      ? " Its sandbox is not possible here: allow user namespaces, or switch it off with browser.sandbox where every page is trusted."
      : "";
    const details = { executable: file, sandbox };
    throw new CemError("BROWSER_FAILED", `The browser ${file} did not start.${advice}`, { details, cause });
  }
}

const VARIABLE = "CHROMIUM_PATH";
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC_FILES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Finds the system's Chromium or Chrome. @throws CemError `BROWSER_NOT_FOUND` */
async function findBrowser(executable: string | undefined): Promise<string> {
  const named = executable ?? process.env[VARIABLE];
  if (named !== undefined && named !== "") {
    if (await isExecutable(named)) return named;
    throw notFound(`There is no browser at ${named}.`);
  }
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const files = folders.flatMap((folder) => NAMES.map((name) => path.join(folder, name)));
  for (const file of [...files, ...MAC_FILES]) if (await isExecutable(file)) return file;
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

/** The browser that fills web pages. */
export interface BrowserSettings {
  /**
   * The file of a Chromium or Chrome.
   *
   * @defaultValue the environment's `CHROMIUM_PATH`, else the first of `chromium`, `chromium-browser`, `google-chrome` and
   *   `google-chrome-stable` on the PATH
   */
  executable?: string | undefined;
  /**
   * Maximum time for one form, in milliseconds.
   *
   * @defaultValue 120,000
   */
  timeoutMs?: number | undefined;
  /**
   * Whether the browser's own sandbox isolates its pages.
   *
   * @defaultValue true, except for root, for whom Chromium refuses it
   */
  sandbox?: boolean | undefined;
  /**
   * Whether the browser runs without a window.
   *
   * @defaultValue true
   */
  headless?: boolean | undefined;
}
