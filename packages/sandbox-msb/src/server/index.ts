export { createMicrosandboxServerProvider } from "./server-provider.ts";
export type { MicrosandboxServerSettings } from "./server-provider.ts";
export type { ServerAddress } from "./server-rpc.ts";
