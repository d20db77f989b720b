import type { McpTransportProvider } from "@cem/core";
import type { PluginUse } from "./plugin-use.ts";

const CONNECT_TIMEOUT_MS = 60_000;

/** A transport provider with a time limit, whose connections are such. */
export function guardTransport(provider: McpTransportProvider, use: PluginUse): McpTransportProvider {
  const { scheme } = provider;
  const part = `transport ${scheme}`;
  return {
    specificationVersion: "v1",
    scheme,
    async connect(request) {
      const limits = { timeoutMs: CONNECT_TIMEOUT_MS, signal: request.signal };
      const made = await use.call(part, limits, () => provider.connect(request));
      if (["start", "send", "close"].every((name) => typeof (made as never)?.[name] === "function"))
        return made;
      throw use.unusable(part, "connect() has to return { start, send, close }");
    },
  };
}
