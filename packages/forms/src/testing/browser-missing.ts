import { findBrowser } from "../web/find-browser.ts";

/** Whether no browser is here, so that tests that need one are skipped. */
export const browserMissing = await findBrowser(undefined).then(
  () => false,
  () => true,
);
