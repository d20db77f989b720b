export { createDenoSandboxProvider } from "./provider.ts";
export type { DenoSandboxSettings } from "./provider.ts";
