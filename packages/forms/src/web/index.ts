export { createWebTarget } from "./web-target.ts";
export type { WebTargetSettings } from "./web-target.ts";
export type { BrowserSettings } from "./browser.ts";
