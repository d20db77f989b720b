export { createMicrosandboxServerProvider } from "./server-provider.ts";
export type { MicrosandboxServerProvider, MicrosandboxServerSettings } from "./server-provider.ts";
export type { ServerAddress } from "./server-rpc.ts";
