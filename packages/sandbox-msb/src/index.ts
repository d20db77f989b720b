export { createMicrosandboxProvider } from "./provider.ts";
export type { MicrosandboxProvider, MicrosandboxSettings } from "./provider.ts";
