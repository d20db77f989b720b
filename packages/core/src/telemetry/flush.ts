import { registeredApi } from "./api.ts";

/** How long a collector that does not answer may hold up the end of a process. */
const FLUSH_MS = 3_000;

interface Flushable {
  forceFlush?: () => Promise<void>;
  getDelegate?: () => Flushable;
}

/** Has the SDK export what it holds, before the process or its thread ends. Resolves where there is no SDK. */
export async function flushTelemetry(): Promise<void> {
  const api = registeredApi();
  if (api === undefined) return;
  const providers: Flushable[] = [
    api.trace.getTracerProvider() as object,
    api.metrics.getMeterProvider() as object,
  ];
  const flushes = providers
    .map((provider) => (provider.getDelegate?.() ?? provider).forceFlush?.())
    .filter((flush) => flush !== undefined);
  if (flushes.length === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, FLUSH_MS);
  await Promise.race([Promise.allSettled(flushes), promise]);
  clearTimeout(timer);
}
