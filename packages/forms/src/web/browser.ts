import { CemError } from "@cem/core";
import type { BrowserContext } from "playwright-core";
import { importOptional } from "../optional-package.ts";
import type { BrowserSettings } from "./browser-settings.ts";
import { findBrowser } from "./find-browser.ts";

const LAUNCH_TIMEOUT_MS = 60_000;
/** How long one action on a page may take. */
const ACTION_TIMEOUT_MS = 10_000;
const NAVIGATION_TIMEOUT_MS = 30_000;
const VIEWPORT = { width: 1_280, height: 1_024 };

/** A browser with one profile, which is forgotten with it. */
export interface OpenBrowser {
  context: BrowserContext;
  close(): Promise<void>;
}

/**
 * Starts the system's browser, which reaches the network through a proxy only.
 *
 * @throws CemError `PACKAGE_MISSING`, `BROWSER_NOT_FOUND`, `BROWSER_FAILED`.
 */
export async function openBrowser(
  { executable, headless = true, sandbox = process.getuid?.() !== 0 }: BrowserSettings,
  proxy: string,
): Promise<OpenBrowser> {
  const { chromium } = await importOptional("playwright-core", () => import("playwright-core"));
  const file = await findBrowser(executable);
  try {
    const browser = await chromium.launch({
      executablePath: file,
      headless,
      chromiumSandbox: sandbox,
      timeout: LAUNCH_TIMEOUT_MS,
      // Without the last, Chromium goes around the proxy for addresses of this machine.
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
    throw new CemError("BROWSER_FAILED", `The browser ${file} did not start.${advice}`, {
      details: { executable: file, sandbox },
      cause,
    });
  }
}
